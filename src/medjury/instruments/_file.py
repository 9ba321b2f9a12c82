"""An instrument's YAML file: its shape, checked by pydantic before it becomes an `Instrument`, and what a file of
that shape can still get wrong: names that point nowhere, weights, examples."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, StrictBool

from medjury.foundation.fields import Name, Optional, Part, Text
from medjury.instruments._answer import apply_skips, read_grade
from medjury.instruments._instrument import (
    Composite,
    Dimension,
    DimensionWords,
    Example,
    Input,
    Instrument,
    Reversed,
    SkipRule,
    Translation,
)
from medjury.instruments._outcome import Unscored


def _whole_number(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("must be a whole number, without quotes")
    return value


def _scale(value: object) -> object:
    if not isinstance(value, dict) or len(value) < 2:
        raise ValueError("must map two or more grades to what each means")
    if any(isinstance(grade, bool) or not isinstance(grade, int) for grade in value):
        raise ValueError("must have whole numbers without quotes on the left")
    return value


def _weights(value: object) -> object:
    """A list of names means equal weights."""
    if isinstance(value, list):
        if len(set(map(str, value))) != len(value):
            raise ValueError("a name appears twice")
        return {str(name): 1 / len(value) for name in value}
    if not isinstance(value, dict) or not value:
        raise ValueError("must be a list of names (equal weights) or map names to weights")
    if any(isinstance(weight, bool) or not isinstance(weight, int | float) for weight in value.values()):
        raise ValueError("every weight must be a number")
    return value


def _storable(value: dict[str, Any]) -> dict[str, Any]:
    """What can be hashed: the fingerprint must be the same on every machine."""
    try:
        json.dumps(value, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError):
        raise ValueError("must hold texts, numbers, lists and mappings only; put dates in quotes") from None
    return value


def _language(value: str) -> str:
    if not re.fullmatch("[a-z]{2}", value):
        raise ValueError("must be a language by its two letters, such as de, es or fr")
    return value


Language = Annotated[Optional, AfterValidator(_language)]
Grade = Annotated[int, BeforeValidator(_whole_number)]
GradeAnchors = Annotated[dict[int, Text], BeforeValidator(_scale)]
Weights = Annotated[dict[str, float], BeforeValidator(_weights)]


class InputPart(Part):
    name: Name
    label: Text
    description: Optional = ""
    required: StrictBool = True


class SkipPart(Part):
    dimension: Name
    equals: Grade


class DimensionPart(Part):
    name: Name
    label: Text
    definition: Text
    grades: GradeAnchors
    higher_is_better: StrictBool = True
    may_be_not_applicable: StrictBool = False
    skip: SkipPart | None = None
    safety: StrictBool = False


class ReversedPart(Part):
    name: Name
    of: Name
    label: Optional = ""


class CompositePart(Part):
    name: Name
    weights: Weights
    label: Optional = ""
    needs_every_part: StrictBool = False


class ExamplePart(Part):
    inputs: dict[Name, Text] = Field(min_length=1)
    scores: dict[Name, Grade | None] = Field(min_length=1)
    explanation: Optional = ""


class DimensionWordsPart(Part):
    label: Optional = ""
    definition: Optional = ""
    grades: dict[Grade, Text] = {}


class TranslationPart(Part):
    instructions: Optional = ""
    inputs: dict[Name, Text] = {}
    dimensions: dict[Name, DimensionWordsPart] = {}


class InstrumentFile(Part):
    name: Name
    version: Text
    title: Text
    instructions: Text
    inputs: list[InputPart] = Field(min_length=1)
    dimensions: list[DimensionPart] = Field(min_length=1)
    reversed: list[ReversedPart] = []
    composites: list[CompositePart] = []
    examples: list[ExamplePart] = []
    licence: Optional = ""
    citation: Optional = ""
    notes: Optional = ""
    parameters: Annotated[dict[str, Any], AfterValidator(_storable)] = {}
    translations: dict[Language, TranslationPart] = {}


class ExamplesFile(Part):
    examples: list[ExamplePart]


def to_instrument(file: InstrumentFile, more_examples: list[ExamplePart]) -> Instrument:
    """The checked file as the frozen data the rest of the program uses."""
    parts = dict(file) | {
        "inputs": tuple(Input(**dict(each)) for each in file.inputs),
        "dimensions": tuple(_dimension(each) for each in file.dimensions),
        "reversed": tuple(Reversed(**dict(each)) for each in file.reversed),
        "composites": tuple(_composite(each) for each in file.composites),
        "examples": tuple(Example(**dict(each)) for each in [*file.examples, *more_examples]),
        "translations": {language: _translation(words) for language, words in file.translations.items()},
    }
    return Instrument(**parts)


def _dimension(part: DimensionPart) -> Dimension:
    skip = None if part.skip is None else SkipRule(**dict(part.skip))
    changed = {
        "grades": dict(sorted(part.grades.items())),
        "may_be_not_applicable": part.may_be_not_applicable or skip is not None,
        "skip": skip,
    }
    return Dimension(**dict(part) | changed)


def _composite(part: CompositePart) -> Composite:
    """Rounding in written weights (0.333) is taken out here, so that they sum to one."""
    total = sum(part.weights.values())
    return Composite(
        **dict(part) | {"weights": {name: weight / total for name, weight in part.weights.items()}}
    )


def _translation(part: TranslationPart) -> Translation:
    words = {name: DimensionWords(**dict(each)) for name, each in part.dimensions.items()}
    return Translation(part.instructions, part.inputs, words)


Place = tuple[str | int, ...]


def check_file(file: InstrumentFile) -> Iterator[tuple[Place, str]]:
    """Every problem as (place in the file, what is wrong and what to do)."""
    for sections in (("inputs",), ("dimensions", "reversed", "composites")):
        names: list[str] = []
        for section in sections:
            for position, each in enumerate(getattr(file, section)):
                if each.name in names:
                    yield (section, position, "name"), f"the name {each.name!r} is used twice; choose another"
                names.append(each.name)
    yield from _check_skips(file)
    yield from _check_derived(file)
    yield from _check_translations(file)


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


def _check_translations(file: InstrumentFile) -> Iterator[tuple[Place, str]]:
    inputs = [each.name for each in file.inputs]
    dimensions = {each.name: each for each in file.dimensions}
    for language, words in file.translations.items():
        at = ("translations", language)
        for name in words.inputs:
            if name not in inputs:
                yield (*at, "inputs", name), f"{name!r} is not an input; {_one_of(inputs)}"
        for name, own in words.dimensions.items():
            if name not in dimensions:
                yield (*at, "dimensions", name), f"{name!r} is not a dimension; {_one_of(dimensions)}"
                continue
            known = dimensions[name].grades
            for grade in own.grades:
                if grade not in known:
                    place = (*at, "dimensions", name, "grades", grade)
                    yield place, f"{grade} is not a grade of {name!r}; {_one_of(map(str, sorted(known)))}"


def _one_of(names: Iterable[str]) -> str:
    listed = ", ".join(names)
    return f"use one of {listed}" if listed else "there is none"
