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
from medjury.suites._loaders._med_dialog import load_med_dialog
from medjury.suites._loaders._medbullets import load_medbullets
from medjury.suites._loaders._medcalc_bench import load_medcalc_bench
from medjury.suites._loaders._medec import load_medec
from medjury.suites._loaders._medhallu import load_medhallu
from medjury.suites._loaders._medication_qa import load_medication_qa
from medjury.suites._loaders._mediqa_qa import load_mediqa_qa
from medjury.suites._loaders._medmcqa import load_medmcqa
from medjury.suites._loaders._medqa import load_medqa
from medjury.suites._loaders._mtsamples import load_mtsamples
from medjury.suites._loaders._pubmedqa import load_pubmedqa
from medjury.suites._loaders._race_bias import load_race_bias
from medjury.suites._loaders._table import load_table

LOADERS: Mapping[str, Callable[[Benchmark, Path], Loaded]] = {
    "aci_bench": load_aci_bench,
    "ehrsql": load_ehrsql,
    "head_qa": load_head_qa,
    "med_dialog": load_med_dialog,
    "medbullets": load_medbullets,
    "medcalc_bench": load_medcalc_bench,
    "medec": load_medec,
    "medhallu": load_medhallu,
    "medication_qa": load_medication_qa,
    "mediqa_qa": load_mediqa_qa,
    "medmcqa": load_medmcqa,
    "medqa": load_medqa,
    "mtsamples": load_mtsamples,
    "pubmedqa": load_pubmedqa,
    "race_bias": load_race_bias,
    "table": load_table,
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
