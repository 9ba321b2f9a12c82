"""ACI-Bench: conversations of doctor and patient with the note that belongs to each, as five CSV files.

Inputs: `conversation`. Gold: the note. Facts: `split` (train, valid or test).
"""

from __future__ import annotations

from pathlib import Path

from medjury.suites._benchmark import Benchmark
from medjury.suites._item import Item, Loaded
from medjury.suites._loaders._reading.files import source_files
from medjury.suites._loaders._reading.gather import Gathering

_COLUMNS = ("encounter_id", "dataset", "dialogue", "note")


def load_aci_bench(benchmark: Benchmark, path: Path) -> Loaded:
    gathering = Gathering()
    for file in source_files(path, "challenge_data/*.csv", "*.csv"):
        if file.stem.endswith("_metadata"):
            continue
        for row in gathering.rows(file, _COLUMNS):
            with gathering.row(row):
                item = Item(
                    row.text("encounter_id"),
                    {"conversation": row.text("dialogue")},
                    (row.text("note"),),
                    facts={"split": _split(file.stem)},
                )
                gathering.add(item, row.where)
    return gathering.loaded()


def _split(stem: str) -> str:
    return next((name for name in ("train", "valid", "test") if name in stem), "")
