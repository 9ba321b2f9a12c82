"""MedicationQA: questions of consumers about drugs, with answers from trusted sources, as the authors' spreadsheet.

Inputs: `question`. Gold: the answer. Facts: `drug`, `question_type`. Some questions appear more than once, each
time with an answer of its own; every row is an item, named by its row.
"""

from __future__ import annotations

from pathlib import Path

from medjury.suites._benchmark import Benchmark
from medjury.suites._item import Item, Loaded
from medjury.suites._loaders._reading.files import one_file
from medjury.suites._loaders._reading.gather import Gathering

_COLUMNS = ("Question", "Answer", "Focus (Drug)", "Question Type")


def load_medication_qa(benchmark: Benchmark, path: Path) -> Loaded:
    gathering = Gathering()
    for row in gathering.rows(one_file(path, "*.xlsx", "*.csv"), _COLUMNS):
        with gathering.row(row):
            facts = {"drug": row.optional("Focus (Drug)"), "question_type": row.optional("Question Type")}
            gold = (row.text("Answer"),)
            gathering.add(
                Item(f"row-{row.number}", {"question": row.text("Question")}, gold, facts=facts), row.where
            )
    return gathering.loaded()
