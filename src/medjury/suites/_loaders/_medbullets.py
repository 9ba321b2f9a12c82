"""Medbullets: questions in the style of the USMLE, four or five answers each, as the authors' CSV file.

Inputs: `question`. Choices: A to D or E. Gold: the letter. Facts: `figure`, true where the question speaks of a
figure, which the file does not hold.
"""

from __future__ import annotations

import re
from pathlib import Path

from medjury.suites._benchmark import Benchmark
from medjury.suites._item import Item, Loaded
from medjury.suites._loaders._reading.choices import lettered, right_letters
from medjury.suites._loaders._reading.files import one_file
from medjury.suites._loaders._reading.gather import Gathering, Row, RowError

_COLUMNS = ("question", "opa", "opb", "opc", "opd", "answer_idx", "answer")
_FIGURE = re.compile(r"\bFigures? [A-Z]\b")


def load_medbullets(benchmark: Benchmark, path: Path) -> Loaded:
    gathering = Gathering()
    for row in gathering.rows(one_file(path, "medbullets_op5.csv", "*.csv"), _COLUMNS):
        with gathering.row(row):
            gathering.add(_item(row), row.where)
    return gathering.loaded()


def _item(row: Row) -> Item:
    columns = ["opa", "opb", "opc", "opd", *(["ope"] if "ope" in row.values else [])]
    choices = lettered([row.text(each) for each in columns])
    gold = row.label("answer_idx", list(choices))
    if choices[gold].casefold() != row.text("answer").casefold():
        raise RowError("answer_idx and answer name different choices")
    question = row.text("question")
    facts = {"figure": bool(_FIGURE.search(question))}
    return Item(
        f"row-{row.number}", {"question": question}, right_letters(gold, choices), choices, facts=facts
    )
