"""Scores by criteria equal the formula of HealthBench's file on its rows, with missing marks too."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from medjury.analysis.calibration import calibrate
from medjury.analysis.ranking import criteria_scores
from medjury.analysis.ranking._criteria_scores import AnswerScore, CriteriaScores
from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import Case, Criterion, read_cases
from medjury.store.ratings import KnownCases
from medjury.tables import rating_table

HEALTHBENCH = Path(__file__).parents[3] / "shared" / "data" / "healthbench" / "rows.jsonl"
here = pytest.mark.skipif(not HEALTHBENCH.exists(), reason="HealthBench's rows are not here")
NOT_APPLICABLE = "not applicable"
Marks = Mapping[tuple[str, str], list[Any]]  # by case and system: 1, 0, None or not applicable


def _formula(rubrics: list[dict[str, Any]], marks: list[Any], tag: str = "") -> tuple[Any, Any, Any]:
    """Points met over positive points, as the file's README states it; what is missing at worst and at best."""
    pairs = [
        (rubric["points"], mark)
        for rubric, mark in zip(rubrics, marks, strict=True)
        if mark != NOT_APPLICABLE and (not tag or tag in rubric["tags"])
    ]
    positive = sum(points for points, _ in pairs if points > 0)
    if positive == 0:
        return None, None, None
    ends = []
    for good in (False, True):
        total = 0.0
        for points, mark in pairs:
            met = mark if mark is not None else ((points > 0) == good)
            total += points if met else 0
        ends.append(total / positive)
    return (ends[0] if all(mark is not None for _, mark in pairs) else None), ends[0], ends[1]


def _rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in HEALTHBENCH.read_text().splitlines()]


def _seeded(rows: list[dict[str, Any]], seed: int, missing: float = 0.0, skipped: float = 0.0) -> Marks:
    draw = random.Random(seed)
    made: dict[tuple[str, str], list[Any]] = {}
    for row in rows:
        for system in ("one", "two"):
            weights = [0.5, 0.5 - missing - skipped, missing, skipped]
            made[row["prompt_id"], system] = draw.choices(
                [1, 0, None, NOT_APPLICABLE], weights, k=len(row["rubrics"])
            )
    return made


def _scored(marks: Marks, **how: Any) -> CriteriaScores:
    ids = {case.id: [each.id for each in case.criteria] for case in read_cases(HEALTHBENCH)}
    rows = [
        {
            "item": item,
            "system": system,
            "rater": "one",
            "rater_kind": "judge",
            "dimension": criterion,
            "score": None if mark in (None, NOT_APPLICABLE) else mark,
            "status": "unscored"
            if mark is None
            else "not_applicable"
            if mark == NOT_APPLICABLE
            else "scored",
            "reason": "parse" if mark is None else None,
        }
        for (item, system), own in marks.items()
        for criterion, mark in zip(ids[item], own, strict=True)
    ]
    table = rating_table(pl.DataFrame(rows), instrument="criteria", cases=HEALTHBENCH)
    return criteria_scores(table, resamples=200, **how)


def _near(found: float | None, wanted: float | None) -> bool:
    return found is wanted if None in (found, wanted) else abs(found - wanted) < 1e-9  # type: ignore[operator]


@here
@pytest.mark.parametrize(("missing", "skipped"), [(0.0, 0.0), (0.1, 0.0), (0.05, 0.1)])
def test_scores_of_every_answer_and_tag_equal_the_formula(missing: float, skipped: float) -> None:
    rows = {row["prompt_id"]: row for row in _rows()}
    assert len(rows) == 40
    marks = _seeded(list(rows.values()), 7, missing, skipped)
    found = _scored(marks)
    by_key: dict[tuple[str, str, str], AnswerScore] = {(a.item, a.system, a.tag): a for a in found.answers}
    for (item, system), own in marks.items():
        rubrics = rows[item]["rubrics"]
        for tag in ("", *{tag for rubric in rubrics for tag in rubric["tags"]}):
            answer = by_key[item, system, tag]
            score, worst, best = _formula(rubrics, own, tag)
            assert _near(answer.score, score)
            assert _near(answer.worst, worst)
            assert _near(answer.best, best)
    assert len(found.answers) == len(by_key)


@here
@pytest.mark.parametrize("missing", [0.0, 0.02])
def test_means_equal_the_formula_over_all_and_by_tag(missing: float) -> None:
    rows = {row["prompt_id"]: row for row in _rows()}
    marks = _seeded(list(rows.values()), 11, missing)
    found = _scored(marks)
    values: dict[tuple[str, str], list[tuple[Any, Any, Any]]] = defaultdict(list)
    for (item, system), own in marks.items():
        row = rows[item]
        for tag in ("", *sorted({tag for rubric in row["rubrics"] for tag in rubric["tags"]})):
            values[system, tag].append(_formula(row["rubrics"], own, tag))
        for tag in row["example_tags"]:
            values[system, tag].append(_formula(row["rubrics"], own))
    for (system, tag), own_scores in values.items():
        line = found.find(system=system, tag=tag)
        known = [score for score, _, _ in own_scores if score is not None]
        assert line.answers == len(known)
        if known:
            assert _near(line.raw, sum(known) / len(known))
            assert _near(line.score.value, min(1.0, max(0.0, sum(known) / len(known))))
        bounded = [(worst, best) for _, worst, best in own_scores if worst is not None]
        if bounded:
            assert _near(line.worst, sum(worst for worst, _ in bounded) / len(bounded))
            assert _near(line.best, sum(best for _, best in bounded) / len(bounded))
    assert {(row.system, row.tag) for row in found.rows} == set(values)


@here
def test_a_rater_who_leaves_a_criterion_out_has_an_interval_too() -> None:
    """What nobody marked has no row, and is no "not met"."""
    marks = dict(_seeded(_rows(), 3))
    full = _scored(marks)
    ids = {case.id: [each.id for each in case.criteria] for case in read_cases(HEALTHBENCH)}
    item = next(iter(ids))
    rows = pl.DataFrame(
        [
            {"item": item, "system": "one", "rater": "one", "dimension": each, "score": 1}
            for each in ids[item][1:]
        ]
    )
    part = criteria_scores(rating_table(rows, instrument="criteria", cases=HEALTHBENCH))
    (answer,) = [each for each in part.answers if not each.tag]
    assert (answer.score, answer.unmarked, answer.criteria) == (None, 1, len(ids[item]))
    assert answer.worst is not None and answer.best is not None and answer.worst < answer.best
    assert part.over_all().rows[0].score.value is None
    assert part.over_all().rows[0].partly == 1
    assert any("not marked" in line for line in part.warnings)
    assert full.warnings == ()


def test_an_answer_whose_positive_criteria_have_no_row_is_unscored() -> None:
    """Not "not applicable", as one is whose positive criteria do not apply."""
    criteria = (Criterion("good", "Asks.", 5), Criterion("bad", "Recommends aspirin.", -2))
    cases = [Case(name, "x", system="s", criteria=criteria) for name in "ab"]
    marks: list[tuple[str, str, float | None, str]] = [
        ("a", "bad", 0.0, "scored"), ("b", "bad", 0.0, "scored"), ("b", "good", None, "not_applicable"),
    ]  # fmt: skip
    rows = pl.DataFrame(marks, schema=["item", "dimension", "score", "status"], orient="row")
    rows = rows.with_columns(system=pl.lit("s"), rater=pl.lit("r"))
    table = rating_table(rows, instrument="criteria", cases=cases)
    totals = table.rows.filter(pl.col("dimension") == "criteria").select("item", "status", "reason").rows()
    assert sorted(totals) == [("a", "unscored", "missing"), ("b", "not_applicable", None)]


def _table(rows: list[tuple[str, str, str, str, float | None, float]]) -> Any:
    names = ("item", "system", "rater", "dimension", "score", "points")
    return rating_table(pl.DataFrame(rows, schema=names, orient="row"))


def test_a_table_of_marks_that_states_its_points_needs_no_cases() -> None:
    table = _table(
        [
            ("a", "s", "r", "good", 1.0, 4.0),
            ("a", "s", "r", "bad", 1.0, -1.0),
            ("b", "s", "r", "good", 0.0, 2.0),
            ("b", "s", "r", "bad", 1.0, -3.0),
        ]
    )
    found = criteria_scores(table)
    (line,) = found.rows
    assert {each.item: each.score for each in found.answers} == {"a": 0.75, "b": -1.5}
    assert (line.raw, line.score.value) == (-0.375, 0.0)  # clipped as a whole, not answer by answer


def test_marks_are_pooled_by_sign_and_clustered_by_case() -> None:
    table = _table(
        [
            ("a", "s", "r", "x", 1.0, 4.0),
            ("a", "s", "r", "y", 0.0, -1.0),
            ("a", "s", "r", "z", 1.0, 1.0),
            ("b", "s", "r", "x", 0.0, 2.0),
        ]
    )
    assert [each.name for each in table.counted] == ["criterion", "harm"]
    assert [each.safety for each in table.counted] == [False, True]
    grid = table.grid("criterion")
    assert grid.items.tolist() == ["a › x", "a › z", "b › x"]
    assert grid.clusters.tolist() == ["item a", "item a", "item b"]
    assert table.grid("harm").items.tolist() == ["a › y"]
    assert dict(zip(table.grid("criteria").items, table.grid("criteria").scores["r"], strict=True)) == {
        "a": 1.0,
        "b": 0.0,
    }
    assert not table.dimension("criteria").grades
    assert table.dimension("criteria").derived


def test_a_mark_is_of_the_criterion_with_its_id_before_one_with_its_words() -> None:
    own = (Criterion("x", "y", 5.0), Criterion("y", "x", -3.0), Criterion("z", "Z.", 5.0))
    rows = {"item": ["a"] * 3, "rater": ["r"] * 3, "dimension": ["x", "y", "Z."], "score": [1, 0, 0]}
    table = rating_table(pl.DataFrame(rows), instrument="criteria", cases=[Case("a", "A.", criteria=own)])
    assert criteria_scores(table).rows[0].raw == 0.5
    twice = (Criterion("x", "Same.", 5.0), Criterion("y", "Same.", -3.0))
    one = pl.DataFrame({"item": ["a"], "rater": ["r"], "dimension": ["Same."], "score": [1]})
    with pytest.raises(MedjuryError, match=r"'Same\.' is not a criterion of case 'a', or the words of two"):
        rating_table(one, instrument="criteria", cases=[Case("a", "A.", criteria=twice)])
    assert KnownCases([Case("a", "A.", criteria=own)]).criterion("a", "y") == "y"
    with pytest.raises(LookupError, match="or the words of two"):
        KnownCases([Case("a", "A.", criteria=twice)]).criterion("a", "Same.")


def test_a_mark_that_has_the_words_as_the_file_has_them_is_found_with_blanks_around_them() -> None:
    """HealthBench has criteria that begin and end with an empty line."""
    cases = [Case("a", "A.", criteria=(Criterion("x", "Step 1: asks.", 5.0),))]
    frame = pl.DataFrame({"item": ["a"], "rater": ["r"], "dimension": ["\nStep 1: asks.\n"], "score": [1]})
    assert criteria_scores(rating_table(frame, instrument="criteria", cases=cases)).rows[0].raw == 1.0
    assert KnownCases(cases).criterion("a", "\nStep 1: asks.\n") == "x"


def test_a_total_costs_nothing_beside_its_marks() -> None:
    names = ("item", "system", "rater", "dimension", "score", "points", "calls", "cost")
    rows = [("a", "s", "r", "x", 1.0, 4.0, 1, 0.5), ("a", "s", "r", "y", 0.0, -1.0, 0, 0.25)]
    table = rating_table(pl.DataFrame(rows, schema=names, orient="row"))
    assert table.rows.height == 3
    assert (table.rows["calls"].sum(), table.rows["cost"].sum()) == (1, 0.75)


def test_marks_are_calibrated_and_totals_are_not_taken_for_means_of_them() -> None:
    draw = random.Random(3)
    rows = []
    for item in range(30):
        for system in ("s", "t"):
            for name, points in (("x", 4.0), ("y", 2.0), ("z", -3.0)):
                mark = draw.randint(0, 1)
                for rater in ("dr a", "dr b", "judge"):
                    own = mark if draw.random() < 0.85 else 1 - mark
                    kind = "judge" if rater == "judge" else "clinician"
                    rows.append((f"c{item}", system, rater, kind, name, float(own), points))
    names = ("item", "system", "rater", "rater_kind", "dimension", "score", "points")
    table = rating_table(pl.DataFrame(rows, schema=names, orient="row"))
    found = calibrate(rating_table(table, instrument="criteria"), resamples=99)
    assert {each.dimension for each in found.compared} == {"criterion", "harm"}


def test_the_answers_to_a_case_have_one_list_of_criteria() -> None:
    one = Case("a", "x", system="s", criteria=(Criterion("p", "P."), Criterion("q", "Q.")))
    marks = pl.DataFrame({"item": ["a"], "rater": ["r"], "dimension": ["p"], "score": [1]})
    same = replace(one, system="t", criteria=one.criteria[::-1])
    assert criteria_scores(rating_table(marks, instrument="criteria", cases=[one, same])).rows
    for other, words in (
        ((Criterion("p", "P.", 2.0), Criterion("q", "Q.")), "case 'a' have two criteria with the id 'p'"),
        ((Criterion("p", "P."),), "case 'a' have the criterion 'q', and others have not"),
    ):
        with pytest.raises(MedjuryError, match=words):
            rating_table(marks, instrument="criteria", cases=[one, replace(one, system="t", criteria=other)])


def test_a_mark_of_a_criterion_that_the_case_does_not_have_is_refused() -> None:
    table = pl.DataFrame({"item": ["a"], "rater": ["r"], "dimension": ["x"], "score": [1], "points": [2]})
    other = {"dimension": pl.lit("q"), "points": pl.lit(None).cast(pl.Int64)}
    rows = pl.concat([table, table.with_columns(**other)])
    with pytest.raises(MedjuryError, match="'q' is not a criterion of case 'a'"):
        rating_table(rows)


THREE = (Criterion("asks", "Asks.", 5), Criterion("tells", "Tells.", 2), Criterion("dose", "Doses.", -3))


def _of_case(*marks: tuple[str, float | None], case: str = "a") -> Any:
    rows = [(case, "r", name, score) for name, score in marks]
    frame = pl.DataFrame(rows, schema=["item", "rater", "dimension", "score"], orient="row")
    return rating_table(frame, instrument="criteria", cases=[Case("a", "A.", criteria=THREE)])


def test_a_criterion_that_is_marked_by_its_id_and_by_its_words_is_marked_twice() -> None:
    """Both would count, and hide that another has no mark."""
    with pytest.raises(MedjuryError, match=r"'r' rated item 'a' on 'asks' \(repeat 0\) in rows 1, 2"):
        _of_case(("asks", 1.0), ("Asks.", 0.0), ("tells", 1.0))


def test_a_number_beside_the_two_grades_is_no_mark_and_in_no_score() -> None:
    table = _of_case(("asks", 2.0), ("tells", 1.0), ("dose", 0.0))
    (total,) = table.rows.filter(pl.col("dimension") == "criteria").select("score", "status").rows()
    assert total == (None, "unscored")
    (answer,) = criteria_scores(table).answers
    assert (answer.score, answer.worst, answer.best) == (None, pytest.approx(2 / 7), 1.0)


def test_a_score_beside_the_marks_that_it_follows_from_is_refused() -> None:
    with pytest.raises(MedjuryError, match="row 2: 'r' has a score 'criteria' on 'a' beside the marks"):
        _of_case(("asks", 1.0), ("criteria", 0.9), ("tells", 1.0), ("dose", 0.0))


def test_answers_that_were_drawn_with_unequal_probabilities_are_in_no_plain_mean() -> None:
    rows = [("a", "juror", "judge", 1.0, None), ("b", "juror", "judge", 0.0, None)]
    rows += [("a", "anna", "clinician", 1.0, 1.0), ("b", "anna", "clinician", 0.0, 0.1)]
    names = ["item", "rater", "rater_kind", "score", "probability"]
    frame = pl.DataFrame(rows, schema=names, orient="row").with_columns(dimension=pl.lit("x"), points=4.0)
    found = criteria_scores(rating_table(frame))
    assert {row.rater: row.raw for row in found.rows} == {"juror": 0.5}
    assert found.warnings[0].startswith("anna is left out: these means do not weight")
    for some in (rating_table(frame), rating_table(frame.filter(rater="anna"))):
        with pytest.raises(MedjuryError, match="drawn with unequal probabilities"):
            criteria_scores(some, raters=None if len(some.raters) == 1 else "anna")


def test_marks_of_a_case_whose_criteria_nobody_knows_are_called_that() -> None:
    found = criteria_scores(_of_case(("asks", 1.0), case="b"))
    assert found.warnings == ("1 answer without a score: the criteria of the case are not known",)


def test_ratings_that_are_no_marks_are_refused_with_what_to_do() -> None:
    plain = pl.DataFrame({"item": ["a"], "rater": ["r"], "dimension": ["accuracy"], "score": [1]})
    with pytest.raises(MedjuryError, match="--cases FILE"):
        criteria_scores(plain)


def test_length_is_taken_out_by_one_slope_within_systems(tmp_path: Path) -> None:
    """Two systems that differ in length alone: at equal length they are worth the same."""
    draw = np.random.default_rng(5)
    cases, marks = [], []
    for number in range(60):
        for system, size in (("short", 600), ("long", 2000)):
            length = int(size * draw.uniform(0.2, 5.0))
            criteria = [{"id": f"c{n}", "text": f"Says {n}.", "points": 1} for n in range(100)]
            cases.append(
                {"id": f"i{number}", "system": system, "candidate": "x" * length, "criteria": criteria}
            )
            met = round(100 * min(1.0, 0.1 * np.log(length)))
            marks += [(f"i{number}", system, "r", f"c{n}", float(n < met), 1.0) for n in range(100)]
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(json.dumps(case) + "\n" for case in cases))
    found = criteria_scores(rating_table(_table(marks), cases=path), resamples=200)
    lines = {row.system: row for row in found.over_all().rows}
    assert lines["long"].raw is not None and lines["short"].raw is not None
    assert lines["long"].raw - lines["short"].raw > 0.08
    assert lines["long"].adjusted == pytest.approx(lines["short"].adjusted, abs=0.01)
    assert found.slopes["r"] == pytest.approx(0.1, abs=0.01)


def test_nobody_is_read_off_at_a_length_at_which_none_of_its_answers_was(tmp_path: Path) -> None:
    cases, marks = [], []
    for number in range(20):
        for system, size in (("short", 100 + number), ("long", 5000 + number)):
            criteria = [{"id": "c", "text": "Says it.", "points": 1}]
            cases.append(
                {"id": f"i{number}", "system": system, "candidate": "x" * size, "criteria": criteria}
            )
            marks.append((f"i{number}", system, "r", "c", float(number % 2), 1.0))
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(json.dumps(case) + "\n" for case in cases))
    found = criteria_scores(rating_table(_table(marks), cases=path), resamples=200)
    assert [row.adjusted for row in found.over_all().rows] == [None, None]
