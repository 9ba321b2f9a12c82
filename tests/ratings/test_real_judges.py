"""Real files, dirt included: 500 conversations, ten systems, four judges and one human (MentalBench-Align)."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from medjury.instruments import Reason
from medjury.intake import FileError
from medjury.store.ratings import ImportedRatings, read_ratings

DATA = Path(__file__).parents[3] / "shared" / "data" / "mental_health_judges"
NAMES = ["Guidance", "Informativeness", "Relevance", "Safety", "Empathy", "Helpfulness", "Understanding"]
JUDGES = ["claude", "gemini", "gpt-4o", "o4-mini"]

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the data folder is not there")


@pytest.fixture(scope="module")
def mapping(tmp_path_factory: pytest.TempPathFactory) -> Path:
    judges = [
        {"file": str(DATA / f"{name}.csv"), "fixed": {"rater": name}, "rater_kind": "judge",
         "columns": "judge_response_{system}"} for name in JUDGES
    ]  # fmt: skip
    human = {
        "file": str(DATA / "human.csv"),
        "fixed": {"rater": "human"},
        "columns": "human_response_{system}",
    }
    path = tmp_path_factory.mktemp("mapping") / "judges.yaml"
    shared = {
        "item": "ConvID",
        "cells": "json",
        "dimensions": NAMES,
        "scale": [1, 5],
        "explanation": "Explanation",
    }
    path.write_text(json.dumps({**shared, "files": [*judges, human]}))
    return path


@pytest.fixture(scope="module")
def imported(mapping: Path) -> ImportedRatings:
    return read_ratings(mapping, on_bad="unscored")


def test_the_five_files_come_in_with_their_dirt_counted(imported: ImportedRatings) -> None:
    scored = [each for each in imported.ratings if each.score is not None]
    assert {each.score for each in scored} == {1.0, 2.0, 3.0, 4.0, 5.0}
    assert len({each.system for each in scored}) == 10
    assert not any(each.system != each.system.strip() for each in scored), "headers have stray spaces"
    assert {each.dimension for each in scored} == set(NAMES), "Overall was not asked for"
    by_rater = Counter((each.rater, each.reason) for each in imported.ratings if each.reason)
    assert by_rater == {
        ("human", Reason.OUT_OF_RANGE): 99,
        ("gemini", Reason.EMPTY): 21,
        ("gemini", Reason.PARSE): 7,
        ("claude", Reason.PARSE): 14,  # a refusal, and an object after other text
        ("o4-mini", Reason.EMPTY): 7,
        ("o4-mini", Reason.PARSE): 7,
    }
    asked = 5 * 500 * 10 * len(NAMES)
    assert len(imported.ratings) + imported.report.not_rated == asked, "every cell is accounted for"


def test_the_human_scores_are_those_in_the_file(imported: ImportedRatings) -> None:
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
    found = {
        (each.item, each.system, each.dimension): each.score
        for each in imported.ratings
        if each.rater == "human" and each.score is not None
    }
    assert found == {key: value for key, value in expected.items() if key[2] in NAMES}


def test_by_default_they_are_refused_with_every_place(mapping: Path, tmp_path: Path) -> None:
    settings = json.loads(mapping.read_text())
    settings["files"] = settings["files"][-1:]
    (tmp_path / "human.yaml").write_text(json.dumps(settings))
    with pytest.raises(FileError) as caught:
        read_ratings(tmp_path / "human.yaml")
    assert len(caught.value.problems) == 99
    assert all("is not on the scale (1, 2, 3, 4, 5)" in problem.message for problem in caught.value.problems)
