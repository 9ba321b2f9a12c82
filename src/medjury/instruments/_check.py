"""What a well-formed instrument file can still get wrong: names that point nowhere, weights, examples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from medjury.instruments._answer import read_grade
from medjury.instruments._file import ExamplePart, InstrumentFile
from medjury.instruments._instrument import Instrument
from medjury.instruments._outcome import Unscored
from medjury.instruments._skip import apply_skips

Place = tuple[str | int, ...]


def check_file(file: InstrumentFile) -> Iterator[tuple[Place, str]]:
    """Every problem as (place in the file, what is wrong and what to do)."""
    yield from _repeated("inputs", [each.name for each in file.inputs])
    names: list[str] = []
    for section in ("dimensions", "reversed", "composites"):
        for position, each in enumerate(getattr(file, section)):
            if each.name in names:
                yield (section, position, "name"), f"the name {each.name!r} is used twice; choose another"
            names.append(each.name)
    yield from _check_skips(file)
    yield from _check_derived(file)


def check_examples(instrument: Instrument, examples: list[ExamplePart]) -> Iterator[tuple[Place, str]]:
    """An example must be an answer that the instrument itself would accept."""
    inputs = [each.name for each in instrument.inputs]
    dimensions = {each.name: each for each in instrument.dimensions}
    for position, example in enumerate(examples):
        for name in example.inputs:
            if name not in inputs:
                yield ("examples", position, "inputs", name), f"{name!r} is not an input; {_one_of(inputs)}"
        for name in example.scores:
            if name not in dimensions:
                known = _one_of(dimensions)
                yield ("examples", position, "scores", name), f"{name!r} is not a dimension; {known}"
        outcomes = {
            name: read_grade(dimensions[name], score)
            for name, score in example.scores.items()
            if name in dimensions
        }
        for name, outcome in apply_skips(instrument, outcomes).items():
            if isinstance(outcome, Unscored):
                yield ("examples", position, "scores", name), f"{name}: {outcome.message}"
            elif outcome != outcomes[name]:
                yield ("examples", position, "scores", name), f"{name}: the skip rule makes it null"


def _check_skips(file: InstrumentFile) -> Iterator[tuple[Place, str]]:
    earlier: dict[str, set[int]] = {}
    for position, dimension in enumerate(file.dimensions):
        rule = dimension.skip
        if rule is not None:
            place = ("dimensions", position, "skip")
            if rule.dimension not in earlier:
                yield place, f"{rule.dimension!r} is not a dimension above this one; {_one_of(earlier)}"
            elif rule.equals not in earlier[rule.dimension]:
                yield place, f"{rule.equals} is not a grade of {rule.dimension!r}"
        earlier[dimension.name] = set(dimension.grades)


def _check_derived(file: InstrumentFile) -> Iterator[tuple[Place, str]]:
    dimensions = {each.name: each for each in file.dimensions}
    reversed_names = set()
    for position, item in enumerate(file.reversed):
        reversed_names.add(item.name)
        if item.of not in dimensions:
            yield ("reversed", position, "of"), f"{item.of!r} is not a dimension; {_one_of(dimensions)}"
    for position, composite in enumerate(file.composites):
        place = ("composites", position, "weights")
        for name in composite.weights:
            if name not in dimensions and name not in reversed_names:
                yield place, f"{name!r} is neither a dimension nor a reversed one"
            elif name in dimensions and not dimensions[name].higher_is_better:
                yield place, f"{name!r} is better when lower: add it under `reversed` and weigh that instead"
        weights = composite.weights.values()
        if any(not 0 <= weight <= 1 for weight in weights):
            yield place, "a weight is not between 0 and 1"
        elif abs(sum(weights) - 1) > 0.002:
            yield place, f"the weights sum to {sum(weights):g}, not to 1"


def _repeated(section: str, names: list[str]) -> Iterator[tuple[Place, str]]:
    for position, name in enumerate(names):
        if name in names[:position]:
            yield (section, position, "name"), f"the name {name!r} is used twice; choose another"


def _one_of(names: Iterable[str]) -> str:
    listed = ", ".join(names)
    return f"use one of {listed}" if listed else "there is none"
