"""Answers of real judges and of a person, dirt included: what is read, and why the rest is not."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from medjury.instruments import Dimension, Input, Instrument, Unscored, read_answer

FOLDER = Path(__file__).parents[3] / "shared" / "data" / "mental_health_judges"
NAMES = ("guidance", "informativeness", "relevance", "safety", "empathy", "helpfulness", "understanding")
INSTRUMENT = Instrument(
    name="support",
    version="1",
    title="Support",
    instructions="Grade.",
    inputs=(Input("candidate", "Answer"),),
    dimensions=tuple(
        Dimension(name, name, name, {grade: str(grade) for grade in range(1, 6)}) for name in NAMES
    ),
)


@pytest.mark.skipif(not FOLDER.is_dir(), reason="the shared data of the mental-health judges are not here")
@pytest.mark.parametrize(
    ("rater", "expected"),
    [
        ("gemini", {"scored": 34_972, "parse": 7, "empty": 21}),
        ("human", {"scored": 34_718, "empty": 182, "out_of_range": 99, "missing": 1}),
    ],
)
def test_each_cell_is_scored_or_has_its_reason(rater: str, expected: dict[str, int]) -> None:
    found: Counter[str] = Counter()
    with (FOLDER / f"{rater}.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file)
        next(rows)
        for row in rows:
            for cell in row[1:]:
                outcomes = read_answer(INSTRUMENT, cell).values()
                found.update(
                    each.reason.value if isinstance(each, Unscored) else "scored" for each in outcomes
                )
    assert found == expected
