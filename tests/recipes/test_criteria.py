"""The recipe `criteria`: every mark is the planted one, scores follow from them, planted faults are found."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.recipes.compared import read_table
from tests.recipes.offline import run_recipe

from medjury.analysis.ranking import check_criteria, criteria_scores, rank
from medjury.intake.cases import read_cases
from medjury.tables import open_run
from recipes import criteria


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_recipe(tmp_path_factory, "criteria") / "runs" / "criteria"


def test_every_mark_of_a_judge_is_the_planted_one(run: Path) -> None:
    rows = [row for row in read_table(run / "ratings.csv") if row["rater_kind"] == "judge"]
    assert len(rows) == 3 * 2 * sum(len(criteria.lines(item)) for item in criteria.CASES)
    for row in rows:
        if (row["rater"], row["item"]) == criteria.UNREADABLE:
            assert (row["score"], row["reason"]) == ("", "parse")
            continue
        place = int(row["dimension"][1:3]) - 1
        planted = criteria.mark(row["rater"], row["item"], row["system"], place)
        assert float(row["score"]) == planted, row


def test_the_scores_follow_from_the_planted_marks(run: Path) -> None:
    answers = {
        (each.rater, each.item, each.system): each
        for each in criteria_scores(open_run(run)).answers
        if not each.tag
    }
    for rater in (*criteria.JUDGES, *criteria.CLINICIANS):
        for item in criteria.CASES:
            for system in criteria.SYSTEMS:
                lines = criteria.lines(item)
                met = sum(
                    line[0] for place, line in enumerate(lines) if criteria.mark(rater, item, system, place)
                )
                found = answers[rater, item, system]
                if found.unmarked:
                    unread = (rater, item) == criteria.UNREADABLE
                    assert unread or (rater, item, system) == criteria.LEFT_OUT[:3]
                    assert found.score is None and found.worst is not None and found.best is not None
                    assert found.worst < found.best
                else:
                    assert found.score == pytest.approx(met / sum(line[0] for line in lines if line[0] > 0))


def test_the_systems_are_ranked_by_their_scores_and_not_by_counting_marks(run: Path) -> None:
    """A criterion of ten points weighs ten times one of one point, in the order of the systems too."""
    found = rank(open_run(run))
    scores = {
        each.system: each
        for each in criteria_scores(open_run(run)).rows
        if each.rater == "jury" and not each.tag
    }
    assert found.benchmarks == ("criteria",) and len(found.rows) == len(scores) == 2
    for row in found.rows:
        score = scores[row.system]
        assert row.macro_average.value == pytest.approx(score.raw)
        assert (row.n, row.n_unscored) == (score.answers, score.partly)
    shown = {row["system"]: row for row in read_table(run / "tables" / "ranking.csv")}
    for row in found.rows:
        assert shown[row.system]["mean score"].partition(" ")[0] == str(row.macro_average.value)


def test_the_planted_sign_is_found_and_no_other_is_doubted(run: Path) -> None:
    found = check_criteria(read_cases(run.parent.parent / "cases.jsonl"))
    assert [(row.item, row.text) for row in found.rows if row.check == "sign"] == [
        ("cough", criteria.WRONG_SIGN)
    ]


def test_the_judge_that_overlooks_harm_misses_the_most_danger(run: Path) -> None:
    table = open_run(run)
    grid = table.grid("harm")
    seen = (grid.scores["clinician-01"] == 1) & (grid.scores["clinician-02"] == 1)
    caught = {judge: float(grid.scores[judge][seen].mean()) for judge in ("juror-north", "juror-east")}
    assert caught["juror-east"] < 0.5 < 0.8 < caught["juror-north"]


def test_cases_count_and_not_criteria(run: Path) -> None:
    rows = {row["dimension"]: row for row in read_table(run / "tables" / "verdicts.csv")}
    assert [row["cases rated by two"] for row in rows.values()] == ["12", "12"]
