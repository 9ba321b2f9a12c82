"""Laboratory values and dates: read from what files hold, and never guessed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from medjury.intake.cases import read_cases
from medjury.judging._dates import moment_of
from medjury.judging._labs import Lab, labs_of

ROWS = [
    {"name": "K", "value": 5.2, "unit": "mmol/L", "date": "2025-01-02", "flag": "H", "range": "3.5-5.1"},
    {"name": "CRP", "value": "<5"},
]


def test_a_list_in_json_a_cell_of_json_and_lines_of_json_are_the_same_values(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "1", "question": "?", "labs": ROWS}))
    cell = json.dumps(ROWS).replace('"', '""')
    (tmp_path / "b.csv").write_text(f'id,question,labs\n1,?,"{cell}"\n')
    lines = "\n".join(json.dumps(row) for row in ROWS)
    (tmp_path / "c.jsonl").write_text(json.dumps({"id": "1", "texts": {"labs": lines}}))
    found = []
    for name in ("a.jsonl", "b.csv", "c.jsonl"):
        (case,) = read_cases(tmp_path / name)
        found.append(labs_of(case)[0])
    assert found[0] == found[1] == found[2]
    assert found[0][0] == Lab("K", "5.2", "mmol/L", "2025-01-02", "H", "3.5-5.1")
    assert found[0][0].line() == "2025-01-02 K 5.2 mmol/L H (range 3.5-5.1)"
    assert found[0][1].line() == "no date CRP <5"


def test_a_mapping_may_name_the_column(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "1", "results": ROWS}))
    (case,) = read_cases(tmp_path / "a.jsonl", mapping={"texts": {"labs": "results"}})
    assert len(labs_of(case)[0]) == 2


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2025-03-04", "2025-03-04T00:00:00+00:00"),
        ("2025-03-04T10:00:00+02:00", "2025-03-04T08:00:00+00:00"),
        ("2025/3/4", "2025-03-04T00:00:00+00:00"),
        ("2025-03", "2025-03-01T00:00:00+00:00"),
        ("2025", "2025-01-01T00:00:00+00:00"),
    ],
)
def test_dates_that_can_be_read(written: str, read: str) -> None:
    moment = moment_of(written)
    assert moment is not None and moment.isoformat() == read


@pytest.mark.parametrize(
    "written", [None, "", "03/04/2025", "yesterday", "[DATE-1]", "2025-13-01", "0001-01-01T00:00+14:00"]
)
def test_dates_that_cannot(written: str | None) -> None:
    assert moment_of(written) is None
