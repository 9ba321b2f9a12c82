"""MedQA: questions of medical licensing examinations, as the authors' JSON Lines.

Inputs: `question`. Choices: as the source letters them. Gold: the letter.
"""

from __future__ import annotations

from pathlib import Path

from medjury.suites._benchmark import Benchmark
from medjury.suites._item import Item, Loaded
from medjury.suites._loaders._reading.choices import lettered, right_letters
from medjury.suites._loaders._reading.files import one_file
from medjury.suites._loaders._reading.gather import Gathering, Row, RowError, checked_text

_COLUMNS = ("question", "options", "answer", "answer_idx")


def load_medqa(benchmark: Benchmark, path: Path) -> Loaded:
    gathering = Gathering()
    for row in gathering.rows(one_file(path, "test.jsonl", "*.jsonl"), _COLUMNS):
        with gathering.row(row):
            gathering.add(_item(row), row.where)
    return gathering.loaded()


def _item(row: Row) -> Item:
    options = row.value("options")
    if not isinstance(options, dict) or not all(isinstance(each, str) for each in options.values()):
        raise RowError("options does not map letters to answers")
    choices = lettered([checked_text(each, "options") for each in options.values()])
    if list(choices) != list(options):
        raise RowError("options is not lettered A, B, C …")
    gold = row.label("answer_idx", list(choices))
    if choices[gold] != row.text("answer"):
        raise RowError("answer_idx and answer name different choices")
    return Item(
        f"row-{row.number}", {"question": row.text("question")}, right_letters(gold, choices), choices
    )
