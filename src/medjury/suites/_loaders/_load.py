"""Finds the loader of a benchmark's format."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from medjury.documents import nearest
from medjury.errors import MedjuryError
from medjury.suites._benchmark import Benchmark
from medjury.suites._item import Loaded
from medjury.suites._loaders._aci_bench import load_aci_bench
from medjury.suites._loaders._ehrsql import load_ehrsql
from medjury.suites._loaders._head_qa import load_head_qa
from medjury.suites._loaders._medec import load_medec
from medjury.suites._loaders._pubmedqa import load_pubmedqa

LOADERS: Mapping[str, Callable[[Benchmark, Path], Loaded]] = {
    "aci_bench": load_aci_bench,
    "ehrsql": load_ehrsql,
    "head_qa": load_head_qa,
    "medec": load_medec,
    "pubmedqa": load_pubmedqa,
}


def load_items(benchmark: Benchmark, path: str | os.PathLike[str]) -> Loaded:
    """Every item of a benchmark from its source's file or folder. Rows that cannot be items are in `problems`; a
    file that is not the source's at all raises."""
    loader = LOADERS.get(benchmark.loader)
    if loader is None:
        raise MedjuryError(
            f"there is no loader {benchmark.loader!r}; {nearest(benchmark.loader, list(LOADERS))}"
        )
    loaded = loader(benchmark, Path(path))
    if not loaded.items and not loaded.problems:
        raise MedjuryError(f"{path}: holds no item of {benchmark.name}")
    return loaded


def check_data(benchmark: Benchmark, path: str | os.PathLike[str]) -> tuple[int, tuple[str, ...]]:
    """How many items a file has, and everything that is wrong with it."""
    try:
        loaded = load_items(benchmark, path)
    except MedjuryError as error:
        return 0, tuple(str(error).splitlines())
    return len(loaded.items), loaded.problems
