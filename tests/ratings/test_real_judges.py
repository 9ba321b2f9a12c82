"""Real files, dirt included: 500 conversations, ten systems, four judges and one human (MentalBench-Align)."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import polars as pl
import pytest
from tests.mental_health import DATA, MAPPING, real_ratings, write_some_cases

from medjury.intake import FileError
from medjury.store.ratings import read_ratings

NAMES = ["Guidance", "Informativeness", "Relevance", "Safety", "Empathy", "Helpfulness", "Understanding"]

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the data folder is not there")


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return real_ratings(tmp_path_factory)


def test_the_five_files_come_in_with_their_dirt_counted(imported: Path) -> None:
    frame = pl.read_parquet(imported)
    assert set(frame["score"].drop_nulls()) == {1.0, 2.0, 3.0, 4.0, 5.0}
    systems = frame["system"].unique()
    assert len(systems) == 10
    assert not any(each != each.strip() for each in systems), "headers have stray spaces"
    assert set(frame["dimension"]) == set(NAMES), "Overall was not asked for"
    by_rater = frame.filter(pl.col("reason").is_not_null()).group_by("rater", "reason").len().rows()
    assert {(rater, reason): count for rater, reason, count in by_rater} == {
        ("human", "out_of_range"): 99,
        ("gemini", "empty"): 21,
        ("gemini", "parse"): 7,
        ("claude", "parse"): 14,  # a refusal, and an object after other text
        ("o4-mini", "empty"): 7,
        ("o4-mini", "parse"): 7,
    }
    asked = 5 * 500 * 10 * len(NAMES)
    not_rated = int((imported.parent / "not_rated.txt").read_text())
    assert frame.height + not_rated == asked, "every cell is accounted for"


def test_the_human_scores_are_those_in_the_file(imported: Path) -> None:
    """A second reading, by hand."""
    expected = {}
    with (DATA / "human.csv").open(encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file):
            for column, cell in row.items():
                if column.strip().startswith("human_response_") and cell.strip():
                    system = column.strip().removeprefix("human_response_")
                    for name, value in json.loads(cell).items():
                        if value in (1, 2, 3, 4, 5):
                            expected[row["ConvID"].strip(), system, name] = float(value)
    frame = pl.read_parquet(imported).filter(pl.col("rater") == "human", pl.col("score").is_not_null())
    found = {tuple(key): score for *key, score in frame.select("item", "system", "dimension", "score").rows()}
    assert found == {key: value for key, value in expected.items() if key[2] in NAMES}


def test_by_default_they_are_refused_with_every_place(imported: Path, tmp_path: Path) -> None:
    shutil.copy(MAPPING, tmp_path)
    write_some_cases(tmp_path, range(60))
    frame = pl.read_parquet(imported).filter(pl.col("reason").is_not_null())
    dirty = frame.filter(pl.col("item").cast(pl.Int64, strict=False) < 60)
    assert dirty.height > 5
    with pytest.raises(FileError) as caught:
        read_ratings(tmp_path / MAPPING.name)
    messages = [problem.message for problem in caught.value.problems]
    assert sum("is not on the scale (1, 2, 3, 4, 5)" in each for each in messages) == (
        dirty.filter(pl.col("reason") == "out_of_range").height
    )
