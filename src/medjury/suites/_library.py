"""Finds a benchmark, one YAML file in `library/` or a site's own, and refuses a bad one with every fault."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from medjury.foundation.documents import Place, nearest, own_file, read_document, validate
from medjury.foundation.errors import MedjuryError
from medjury.suites._benchmark import METRICS, Benchmark, inputs_of
from medjury.suites._loaders._load import LOADERS
from medjury.suites._taxonomy import read_taxonomy

LIBRARY = Path(__file__).parent / "library"
OTHER = "Other"  # the category of a benchmark for which the taxonomy has no place
SAMPLES = LIBRARY / "samples"


def list_benchmarks() -> tuple[str, ...]:
    """The names of the built-in benchmarks."""
    return tuple(sorted(file.stem for file in LIBRARY.glob("*.yaml")))


def load_benchmark(name_or_path: str | os.PathLike[str]) -> Benchmark:
    """A built-in benchmark by name, or a site's own by the path of its YAML file: a text that ends in `.yaml` or
    `.yml` or holds a path separator."""
    if (file := own_file(name_or_path)) is not None:
        return _load_file(file)
    text = str(name_or_path)
    known = list_benchmarks()
    if text not in known:
        raise MedjuryError(
            f"there is no built-in benchmark {text!r}; {nearest(text, known)} "
            "Your own benchmark is given by the path of its .yaml file."
        )
    return _load_built_in(text)


def sample_file(benchmark: Benchmark) -> Path:
    """The made-up rows of a built-in benchmark, in the form of its source: a file, or a folder of files; the data
    of a site's own, where its file names them."""
    if benchmark.data:
        return Path(benchmark.data)
    found = [*sorted(SAMPLES.glob(f"{benchmark.name}.*")), SAMPLES / benchmark.name]
    if not found[0].exists():
        raise MedjuryError(f"benchmark {benchmark.name} has no sample; give its data with --data")
    return found[0]


@cache
def _load_built_in(name: str) -> Benchmark:
    return _load_file(LIBRARY / f"{name}.yaml")


def _load_file(path: Path) -> Benchmark:
    document = read_document(path)
    found = validate(document, Benchmark)
    faults = sorted((document.line(place), document.complaint(place, text)) for place, text in _faults(found))
    if faults:
        raise MedjuryError("\n".join(text for _, text in faults))
    beside = {"data": found.data} if found.data else {}
    if found.instrument and found.instrument.endswith((".yaml", ".yml")):
        beside["instrument"] = found.instrument
    # What lies beside the benchmark's own file is named from there.
    return found.model_copy(update={name: str(path.parent / each) for name, each in beside.items()})


def _faults(file: Benchmark) -> Iterator[tuple[Place, str]]:
    """What pydantic cannot see: names that must be known, and settings that must fit one another."""
    if file.loader not in LOADERS:
        yield ("loader",), f"there is no such loader; {nearest(file.loader, list(LOADERS))}"
    for number, metric in enumerate(file.metrics):
        if metric not in METRICS:
            yield ("metrics", number), f"there is no metric {metric!r}; {nearest(metric, METRICS)}"
    if len(set(file.metrics)) != len(file.metrics):
        yield ("metrics",), "a metric appears twice"
    if file.open != (file.instrument is not None):
        yield (
            ("open",),
            "a benchmark has an instrument where its answers are open, and none where they are closed",
        )
    if file.open != ("jury" in file.metrics):
        yield ("metrics",), "`jury` marks open answers, and only these"
    if not file.gold and set(file.metrics) - {"jury"}:
        yield ("gold",), "is empty; say what the gold standard is, or mark with `jury` alone"
    if not inputs_of(file.prompt):
        yield ("prompt",), "names no input; write {question} where the question belongs"
    yield from _option_faults(file.options)
    yield from _place_faults(file)
    if file.helm and (unknown := set(file.helm.shows) - set(inputs_of(file.prompt))):
        yield ("helm", "shows"), f"the prompt has no input {unknown.pop()!r}"
    names = [each.name for each in file.files]
    if len(set(names)) != len(names):
        yield ("files",), "a file appears twice"


def _place_faults(file: Benchmark) -> Iterator[tuple[Place, str]]:
    """Category, subcategory and tasks are those of the taxonomy, word for word."""
    categories = {category.name: category for category in read_taxonomy().categories}
    if file.category == OTHER:
        return
    if file.category not in categories:
        yield ("category",), f"there is no such category; {nearest(file.category, [*categories, OTHER])}"
        return
    places = {each.name: each for each in categories[file.category].subcategories}
    if file.subcategory not in places:
        yield (
            ("subcategory",),
            f"there is no such subcategory here; {nearest(file.subcategory, list(places))}",
        )
        return
    tasks = {task.name for task in places[file.subcategory].tasks}
    for number, task in enumerate(file.tasks):
        if task not in tasks:
            yield ("tasks", number), f"there is no such task in {file.subcategory}; see `medjury bench tasks`"


def _option_faults(options: dict[str, Any]) -> Iterator[tuple[Place, str]]:
    columns, choices = options.get("columns", {}), options.get("choices")
    if not isinstance(columns, dict):
        yield ("options", "columns"), "must map names to columns, like {question: Q}"
    else:
        for name, column in columns.items():
            texts = column if name == "choices" and isinstance(column, list) else [column]
            if not texts or not all(isinstance(each, str) and each for each in texts):
                yield ("options", "columns", name), "must be the name of a column"
    if choices is None:
        return
    letters = list(ascii_uppercase)[: len(choices)] if isinstance(choices, dict) else []
    if (
        len(letters) < 2
        or list(choices) != letters
        or not all(isinstance(each, str) for each in choices.values())
    ):
        yield ("options", "choices"), 'must map A, B, C … to texts in quotes, like {A: "Yes", B: "No"}'


# The library as a list to read, or as data.


SUITE = "medhelm"


def library(*, extras: bool = False) -> tuple[Benchmark, ...]:
    """The benchmarks of MedHELM, by category as in the paper; with `extras` the others too."""
    order = [category.name for category in read_taxonomy().categories]
    found = sorted(
        (load_benchmark(name) for name in list_benchmarks()), key=lambda each: order.index(each.category)
    )
    return tuple(each for each in found if each.suite == SUITE or extras)


def listing_text(benchmarks: Sequence[Benchmark]) -> str:
    """One line to a benchmark, by category; a star at those that `medjury bench fetch` brings."""
    lines: list[str] = []
    for category in dict.fromkeys(each.category for each in benchmarks):
        lines.append(category)
        for each in benchmarks:
            if each.category == category:
                kind = "open" if each.open else "closed"
                access = f"{each.access}{'*' * bool(each.fetched)}"
                lines.append(
                    f"  {each.name:22} {access:8} {each.curation:13} {kind:7} {each.metrics[0]:15} "
                    f"{each.subcategory}"
                )
    fetched = sum(bool(each.fetched) for each in benchmarks)
    lines.append(f"* medjury bench fetch NAME brings its files ({fetched} of them)")
    return "\n".join(lines)
