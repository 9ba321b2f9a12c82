"""MedDialog: what a patient asked and a doctor replied, with a summary in one sentence, as JSON (`src` and `tgt`).

Inputs: `conversation`. Gold: the summary. Facts: `part`, the folder of the file (healthcaremagic or icliniq).
"""

from __future__ import annotations

from pathlib import Path

from medjury.suites._benchmark import Benchmark
from medjury.suites._item import Item, Loaded
from medjury.suites._loaders._reading.files import source_files
from medjury.suites._loaders._reading.gather import Gathering


def load_med_dialog(benchmark: Benchmark, path: Path) -> Loaded:
    gathering = Gathering()
    files = source_files(path, "test.json", "*.json")
    for file in files:
        part = file.parent.name if len(files) > 1 else ""
        for row in gathering.rows(file, ("src", "tgt"), within="data[]"):
            with gathering.row(row):
                name = f"{part}-{row.number}" if part else str(row.number)
                inputs, gold = {"conversation": row.text("src")}, (row.text("tgt"),)
                gathering.add(Item(name, inputs, gold, facts={"part": part}), row.where)
    return gathering.loaded()
