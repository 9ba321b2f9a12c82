"""MedHallu: questions on PubMed abstracts, each with the true answer and one that a model made up.

A table (Parquet, JSON Lines or CSV); every row gives two items, `ROW-true` and `ROW-made-up`. Inputs: `knowledge`,
`question` and `answer`. Choices: A factual, B hallucinated. Facts: `difficulty`.
"""

from __future__ import annotations

from pathlib import Path

from medjury.suites._benchmark import Benchmark
from medjury.suites._item import Item, Loaded
from medjury.suites._loaders._reading.files import source_files
from medjury.suites._loaders._reading.gather import Gathering, Row, RowError, checked_text

_COLUMNS = ("Question", "Knowledge", "Ground Truth", "Hallucinated Answer")
_CHOICES = {"A": "Factual", "B": "Hallucinated"}


def load_medhallu(benchmark: Benchmark, path: Path) -> Loaded:
    gathering = Gathering()
    files = source_files(path, "*.parquet", "*.jsonl", "*.csv")
    for part, file in enumerate(files):
        for row in gathering.rows(file, _COLUMNS):
            with gathering.row(row):
                name = f"{part + 1}-{row.number}" if len(files) > 1 else str(row.number)
                for item in _items(row, name):
                    gathering.add(item, row.where)
    return gathering.loaded()


def _items(row: Row, name: str) -> list[Item]:
    shown = {"knowledge": _knowledge(row), "question": row.text("Question")}
    facts = {"difficulty": row.optional("Difficulty Level")}
    answers = (("true", "A", row.text("Ground Truth")), ("made-up", "B", row.text("Hallucinated Answer")))
    return [
        Item(f"{name}-{kind}", {**shown, "answer": answer}, (gold,), _CHOICES, facts=facts)
        for kind, gold, answer in answers
    ]


def _knowledge(row: Row) -> str:
    value = row.value("Knowledge")
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        return checked_text("\n".join(value), "Knowledge")
    if isinstance(value, list):
        raise RowError("Knowledge is no list of texts")
    return row.text("Knowledge")
