"""Where cases are counted, set aside or paid for, the criteria that they are marked by are no cases."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from medjury.analysis.audits import group_differences, internal_consistency, text_effects
from medjury.analysis.calibration import (
    apply_calibrations,
    calibrate,
    load_calibrations,
    save_calibrations,
)
from medjury.analysis.ranking import rank
from medjury.foundation.errors import MedjuryError
from medjury.store.runs import GateRules
from medjury.tables import RatingTable, rating_table, with_rules
from medjury.validation import compare_runs, validate
from medjury.validation._ways import spent, together

CASES = [f"c{number:02}" for number in range(40)]


def marks(shift: int = 0, **rules: object) -> RatingTable:
    """Two clinicians and a judge mark three criteria of each of forty cases, which two systems answered; the judge
    takes a call for each."""
    rows = []
    for number, case in enumerate(CASES):
        for place, (criterion, points) in enumerate((("asks", 4.0), ("tells", 2.0), ("harm done", -3.0))):
            mark = float((number * (place + 2)) % 3 > 0)
            for rater, kind in (("anna", "clinician"), ("ben", "clinician"), ("juror", "judge")):
                off = rater != "anna" and (number + place + shift) % 7 == 0
                calls, cost = (1, 0.5) if kind == "judge" else (None, None)
                own = rater, kind, criterion, abs(mark - off), points, calls, cost
                rows += [(case, system, *own) for system in ("s", "t")]
    names = ("item", "system", "rater", "rater_kind", "dimension", "score", "points", "calls", "cost")
    return with_rules(rating_table(pl.DataFrame(rows, schema=names, orient="row")), GateRules(**rules))  # type: ignore[arg-type]


def test_cases_are_resampled_and_called_so() -> None:
    assert not marks().by_patient
    assert "resampled: cases" in rank(marks(), resamples=60).text()


def test_cases_that_served_development_are_counted_as_cases() -> None:
    assert marks(development_cases=("c01", "c05")).left_aside == 2


def test_no_mark_of_a_development_case_is_in_a_change_between_two_runs() -> None:
    found = compare_runs(marks(development_cases=("c01", "c05")), marks(3), resamples=60)
    assert found.warnings[0].startswith("2 cases that served development")
    scored = {row.dimension: row.difference.n for row in found.rows if row.what == "mean score"}
    assert scored == {"Criteria with positive points": 152, "Criteria with negative points": 76}


def test_what_judging_took_is_counted_by_answer() -> None:
    took = together(spent(marks(), aside=("c00",)))
    assert (took.height, took["calls"].to_list(), took["cost"].to_list()) == (78, [3.0] * 78, [1.5] * 78)
    changes = {row.what: row.first for row in compare_runs(marks(), marks(3), resamples=60).rows}
    assert (changes["calls per answer"].value, changes["calls per answer"].n) == (3.0, 80)


def test_an_audit_takes_what_cases_state_for_each_of_their_marks() -> None:
    table = marks()
    words = [(case, system, float(20 + number + 7 * (system == "t"))) for number, case in enumerate(CASES)
             for system in ("s", "t")]  # fmt: skip
    features = pl.DataFrame(words, schema=["item", "system", "length"], orient="row")
    assert text_effects(table, features=features, resamples=60).n == 240
    wards = {case: "north" if number % 2 else "south" for number, case in enumerate(CASES)}
    found = group_differences(table, {"ward": wards})
    assert not any("have no ward" in line for line in found.warnings)
    with pytest.raises(MedjuryError, match="no criterion has two dimensions"):
        internal_consistency(table)


def test_a_score_that_follows_from_marks_is_no_unscored_rating() -> None:
    rows = [("a", "x", "", 5.0), ("a", "y", "1", 2.0)]
    frame = pl.DataFrame(rows, schema=["item", "dimension", "score", "points"], orient="row")
    assert rating_table(frame.with_columns(rater=pl.lit("anna"))).unscored == {"anna": {"missing": 1}}


def test_a_verdict_counts_marks_as_marks() -> None:
    said = validate(marks(), resamples=60).text()
    assert "marks" in said and "answer" not in said


def test_without_a_mark_of_clinicians_no_part_is_said_to_fail() -> None:
    table = marks()
    own = pl.col("rater_kind") == "clinician"
    rows = table.rows.filter(pl.col("criterion").is_not_null()).select(
        "case", "system", "rater", "rater_kind", pl.col("criterion").alias("dimension"), "points",
        pl.when(own).then(None).otherwise("score").alias("score"),
    )  # fmt: skip
    said = validate(rating_table(rows.rename({"case": "item"})), resamples=60).text()
    assert "There is no mark of which a part could be looked at." in said and "fails for" not in said


def test_calibrated_marks_are_marks_of_their_cases(tmp_path: Path) -> None:
    save_calibrations(calibrate(marks(), resamples=60), tmp_path / "map.json")
    made = apply_calibrations(marks(), load_calibrations(tmp_path / "map.json"))
    assert {each.dimension for each in made.ratings} == {"criterion", "harm"}
    file = str(tmp_path / "both.csv")
    made.save(file, with_originals=True)
    again = rating_table(file)
    assert again.rows.filter(rater="juror:calibrated").height == 240
    assert again.grid("criterion").clusters.tolist()[:2] == ["patient case c00"] * 2
    assert again.rows["cluster"].n_unique() == 40


def test_two_criteria_that_would_get_one_name_are_refused() -> None:
    names = ("item", "rater", "rater_kind", "dimension", "score", "points")
    rows = [
        (case, "anna", "clinician", criterion, 1.0, 2.0)
        for case, criterion in (("a", "b › c"), ("a › b", "c"))
    ]
    with pytest.raises(MedjuryError, match="both called 'a › b › c' here; rename one of them"):
        rating_table(pl.DataFrame(rows, schema=names, orient="row"))
    assert rating_table(pl.DataFrame(rows[:1], schema=names, orient="row")).criteria["a"][0].id == "b › c"
