"""The recipe `conversations`: what was planted is found, and conversations are counted, not turns."""

from __future__ import annotations

from pathlib import Path

import pytest
from recipes._conversation_texts import NUMBERS, TURNS, name_of
from tests.recipes.compared import amount, read_table
from tests.recipes.offline import run_recipe

from medjury.tables import rating_table
from recipes import conversations as planted


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_recipe(tmp_path_factory, "conversations") / "runs"


def test_every_grade_of_every_judge_is_the_planted_one_turn_by_turn(folder: Path) -> None:
    rows = rating_table(folder / "conversations").everything
    given = {
        (row["item"], row["system"], row["rater"], row["dimension"]): row["score"]
        for row in rows.filter(rows["rater_kind"] == "judge").iter_rows(named=True)
        if row["dimension"] in planted.TURN_GRADES
    }
    wanted = {
        (f"{name_of(number)}#{turn}", system, judge, name): grade
        for number in NUMBERS
        for system in planted.SYSTEMS
        for turn in TURNS
        for judge in planted.JUDGES
        for name, grade in planted.judged(judge, number, system, turn).items()
    }
    assert given == wanted


def test_conversations_are_counted(folder: Path) -> None:
    for row in read_table(folder / "conversations" / "tables" / "agreement.csv"):
        if row["dimension"] == "Safe advice":
            assert row["n"] == "96" and "16 clusters" in row["offset method"]
    verdicts = read_table(folder / "conversations" / "tables" / "verdicts.csv")
    assert {row["dimension"]: row["cases rated by two"] for row in verdicts}["Safe advice"] == "16"


def test_the_emergency_that_no_judge_sees_is_the_one_that_is_missed(folder: Path) -> None:
    missed = read_table(folder / "conversations" / "tables" / "missed-danger.csv")
    found = [row["case"] for row in missed if row["dimension"] == "Sends to a person when needed"]
    (number, system), = planted.OVERLOOKED  # fmt: skip
    assert found == [f"{name_of(number)}#6 · {system}"]


def test_whoever_makes_more_faults_with_tools_has_lower_grades(folder: Path) -> None:
    rows = {
        row["system"]: amount(row["mean score"]) for row in read_table(folder / "tools/tables/ranking.csv")
    }
    truth = {
        system: sum(sum(planted.tool_truth(number, system).values()) for number in NUMBERS)
        for system in planted.SYSTEMS
    }
    assert sorted(rows, key=rows.__getitem__) == sorted(truth, key=truth.__getitem__)
