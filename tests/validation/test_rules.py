"""The rules of the gate at their very edges: what is asked for is enough, the least bit less is not."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.report.planted import planted_frame, rules, write_run

from medjury.tables import open_run
from medjury.validation import RuleFound, evidence_of, validate

ONE = ("accuracy",)
Found = Callable[..., dict[str, RuleFound]]


@pytest.fixture
def found(tmp_path: Path) -> Found:
    """The rules by name, on a run with these rules of the gate."""
    ratings = planted_frame(cases=40, dimensions=ONE, unscored=0.0)

    def made(frame: pl.DataFrame = ratings, **changes: Any) -> dict[str, RuleFound]:
        folder = write_run(tmp_path, frame, gate=rules(**{"minimum_cases": 10, **changes}))
        return {each.name: each for each in validate(folder).verdicts[0].rules}

    return made


def without_scores(frame: pl.DataFrame, items: list[str]) -> pl.DataFrame:
    lost = (pl.col("rater") == "jury") & pl.col("item").is_in(items)
    return frame.with_columns(
        pl.when(lost).then(None).otherwise(pl.col("score")).alias("score"),
        pl.when(lost).then(pl.lit("unscored")).otherwise(pl.col("status")).alias("status"),
        pl.when(lost).then(pl.lit("no_quorum")).otherwise(pl.col("reason")).alias("reason"),
    )


def test_the_least_number_of_cases_is_enough(found: Found) -> None:
    assert found(minimum_cases=40)["Enough held-out cases"].met
    assert not found(minimum_cases=41)["Enough held-out cases"].met


def test_the_least_number_of_clinicians_is_enough(found: Found) -> None:
    assert found(minimum_clinicians=2)["Clinicians rated the cases"].met
    lacking = found(minimum_clinicians=3)["Clinicians rated the cases"]
    assert not lacking.met and not lacking.essential and lacking.why.startswith("Only 2 of 3 clinicians")


def test_agreement_at_the_floor_reaches_it_and_so_does_its_lower_end(found: Found, tmp_path: Path) -> None:
    found()
    evidence = evidence_of(open_run(tmp_path))
    agreed = evidence.agreed(evidence.table.dimension("accuracy"))[1]
    assert agreed is not None and agreed.value is not None and agreed.low is not None
    at = found(floor=agreed.value)
    assert at["Agreement with clinicians reaches the floor"].met and not at["and does so beyond doubt"].met
    assert "could be as low as" in at["and does so beyond doubt"].why
    above = found(floor=math.nextafter(agreed.value, 1))
    assert not above["Agreement with clinicians reaches the floor"].met
    assert above["and does so beyond doubt"].why == "", "that the estimate is below the floor is said already"
    assert found(floor=agreed.low)["and does so beyond doubt"].met
    assert not found(floor=math.nextafter(agreed.low, 1))["and does so beyond doubt"].met


def test_severe_errors_at_the_limit_are_rare_enough(found: Found) -> None:
    frame = planted_frame(cases=40, dimensions=ONE, clinicians={"doctor": 0.0}, judges={"judge": 0.0})
    low = frame.filter(pl.col("rater") == "doctor", pl.col("score") <= 2)["item"].unique().sort().to_list()
    wrong = pl.col("rater").is_in(["judge", "jury"]) & pl.col("item").is_in(low[:2])
    frame = frame.with_columns(pl.when(wrong).then(4.0).otherwise(pl.col("score")).alias("score"))
    at = found(frame, severe_limit=2 / len(low))["Severe errors are rare"]
    assert at.met and at.essential and at.found.startswith(f"2 of {len(low)} ")
    below = found(frame, severe_limit=math.nextafter(2 / len(low), 0))
    assert not below["Severe errors are rare"].met and "far too kindly" in below["Severe errors are rare"].why
    assert below["and are rare beyond doubt"].why == ""


def test_the_gap_of_a_severe_error_is_two_grades_of_five_and_not_less(found: Found) -> None:
    frame = planted_frame(cases=40, dimensions=ONE, clinicians={"doctor": 0.0}, judges={"judge": 0.0})
    low = frame.filter(pl.col("rater") == "doctor", pl.col("score") == 2)["item"].unique().sort().to_list()
    for score, errors in ((3.99, 0), (4.0, 1)):
        wrong = pl.col("rater").is_in(["judge", "jury"]) & (pl.col("item") == low[0])
        changed = frame.with_columns(pl.when(wrong).then(score).otherwise(pl.col("score")).alias("score"))
        assert found(changed)["Severe errors are rare"].found.startswith(f"{errors} of ")


def test_a_dimension_that_the_rules_leave_out_has_no_rule_on_severe_errors(found: Found) -> None:
    assert "Severe errors are rare" not in found(severe_dimensions=())
    assert "Severe errors are rare" in found(severe_dimensions=("accuracy",))


def test_coverage_at_the_share_that_is_asked_for_is_enough(found: Found) -> None:
    frame = without_scores(planted_frame(cases=40, dimensions=ONE), ["case-0000", "case-0001"])
    name = "The jury scored what it was asked to"
    assert (
        found(frame, coverage=0.95)[name].met
        and found(frame, coverage=0.95)[name].found == "38 of 40 (95.0 %)"
    )
    assert not found(frame, coverage=math.nextafter(0.95, 1))[name].met


def test_coverage_leaves_development_cases_out(found: Found) -> None:
    frame = without_scores(planted_frame(cases=40, dimensions=ONE), ["case-0000", "case-0001"])
    rule = found(frame, coverage=1.0, development_cases=("case-0000", "case-0001"))
    assert rule["The jury scored what it was asked to"].found == "38 of 38 (100.0 %)"


def test_what_does_not_apply_to_anybody_is_not_asked_for(found: Found) -> None:
    frame = planted_frame(cases=40, dimensions=ONE)
    frame = frame.filter((pl.col("rater_kind") != "clinician") | (pl.col("item") >= "case-0004"))
    excused = (pl.col("rater") == "jury") & (pl.col("item") < "case-0004")
    frame = frame.with_columns(
        pl.when(excused).then(None).otherwise(pl.col("score")).alias("score"),
        pl.when(excused).then(pl.lit("not_applicable")).otherwise(pl.col("status")).alias("status"),
    )
    assert found(frame)["The jury scored what it was asked to"].found == "36 of 36 (100.0 %)"


def test_without_stored_rows_the_jury_is_formed_by_the_rule_of_the_run(tmp_path: Path) -> None:
    frame = planted_frame(cases=40, dimensions=ONE, unscored=0.2).filter(pl.col("rater") != "jury")
    lost = (
        frame.filter(pl.col("rater_kind") == "judge", pl.col("status") == "unscored").group_by("item").len()
    )
    one, two = (lost.filter(pl.col("len") == count).height for count in (1, 2))
    assert one > 0 and two > 0
    for quorum, scored in ((None, 40 - two), (2, 40 - two), (3, 40 - two - one)):
        folder = write_run(
            tmp_path, frame, jury={"name": "jury", "rule": "mean", "quorum": quorum, "repeats": 1}
        )
        row = validate(folder).find(rule="The jury scored what it was asked to")
        share = lost.filter(pl.col("len") == 3).height
        assert row.rater == "jury" and row.found.startswith(f"{scored - share} of 40 ")


def test_a_rater_that_is_named_is_judged_for_itself(tmp_path: Path) -> None:
    judges = {"sharp": 0.3, "blunt": 3.0}
    folder = write_run(tmp_path, planted_frame(cases=120, dimensions=ONE, judges=judges))
    found = validate(folder, raters=["sharp", "blunt"])
    assert {each.rater: each.word for each in found.verdicts} == {
        "sharp": "VALIDATED",
        "blunt": "NOT VALIDATED",
    }
    assert "sharp, Accuracy: VALIDATED" in found.text()
    assert validate(folder, raters="sharp").verdicts[0] == found.verdicts[0]


def test_ratings_of_no_run_folder_are_auxiliary_at_best(tmp_path: Path) -> None:
    frame = planted_frame(cases=120, dimensions=ONE)
    folder = write_run(tmp_path, frame)
    assert validate(folder).word("accuracy") == "VALIDATED"
    found = validate(frame)
    assert found.word("accuracy") == "AUXILIARY"
    states = {row.rule: row.state for row in found.rows}
    assert states["The run is finished"] == states["The run folder is as it was written"] == "not known"
    assert "come from no run folder" in found.text()


def test_only_the_dimensions_that_raters_gave_have_a_verdict_and_one_can_be_chosen(tmp_path: Path) -> None:
    folder = write_run(tmp_path, planted_frame(cases=30))
    assert [each.dimension for each in validate(folder).verdicts] == ["accuracy", "completeness", "clarity"]
    assert [each.dimension for each in validate(folder, dimensions="clarity").verdicts] == ["clarity"]


def test_a_verdict_has_the_face_of_every_result(tmp_path: Path) -> None:
    found = validate(write_run(tmp_path, planted_frame(cases=30, dimensions=ONE)))
    rows = json.loads(found.to_json())
    assert rows == [dict(row.as_dict()) for row in found.rows] == found.frame().to_dicts()
    assert set(rows[0]) >= {"rater", "dimension", "verdict", "rule", "state", "found", "why"}
    row = found.find(rule="Enough held-out cases")
    assert (row.verdict, row.state) == ("NOT VALIDATED", "not met") and row.found == "30"
    assert "<table>" in found._repr_html_() and row.why in found._repr_html_().replace("&#x27;", "'")


def test_another_confidence_is_named_in_what_is_asked(tmp_path: Path) -> None:
    folder = write_run(tmp_path, planted_frame(cases=60, dimensions=ONE))
    wide, narrow = (
        validate(folder, confidence=share).find(rule="and does so beyond doubt") for share in (0.99, 0.9)
    )
    assert "its 99 % interval" in wide.asked and "its 90 % interval" in narrow.asked
    assert float(wide.found.split()[-1]) < float(narrow.found.split()[-1])
