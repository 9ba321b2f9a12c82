"""The gate where jury and clinicians never differ: enough cases prove it, few do not, and no width is no proof."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
from tests.report.planted import planted_frame, rules, write_run

from medjury.validation import RuleFound, Verdict, validate

NOT_INFERIOR, SURE = "Not inferior to clinicians among themselves", "and does so beyond doubt"
APART = "and does so better than the systems' means would, beyond doubt"
OFFSET = "and is neither beyond doubt"


def verdict(folder: Path, cases: int, *, score: pl.Expr | None = None, **settings: Any) -> Verdict:
    """Of a jury and clinicians who never differ, on so many cases."""
    frame = planted_frame(
        cases=cases,
        dimensions=("accuracy",),
        clinicians={"a": 0.0, "b": 0.0},
        judges={"judge": 0.0},
        **settings,
    )
    frame = frame if score is None else frame.with_columns(score.alias("score"))
    asked = rules(minimum_cases=10, minimum_doubly_rated=10, severe_limit=1.0)
    return validate(write_run(folder, frame, gate=asked), resamples=200).verdicts[0]


def found(verdict: Verdict) -> dict[str, RuleFound]:
    return {each.name: each for each in verdict.rules}


def test_many_cases_without_a_disagreement_validate(tmp_path: Path) -> None:
    one, two = verdict(tmp_path / "one", 200), verdict(tmp_path / "two", 200, systems=("alpha", "beta"))
    assert one.word == two.word == "VALIDATED"
    assert found(two)[APART].state == "met" and "within systems at least 0.9" in found(two)[APART].found


def test_few_cases_without_a_disagreement_do_not(tmp_path: Path) -> None:
    few = verdict(tmp_path, 20, systems=("alpha", "beta"))
    assert few.word == "AUXILIARY"
    assert found(few)[NOT_INFERIOR].state == "not met" and found(few)[OFFSET].state == "not met"
    assert found(few)[SURE].state == "met", (
        "guesses on a quarter of the cases would still be far above the floor"
    )
    fewest = verdict(tmp_path / "fewest", 4)
    assert found(fewest)[SURE].state != "met" and found(fewest)[NOT_INFERIOR].state != "met"


def test_scores_that_do_not_vary_are_no_agreement_however_many(tmp_path: Path) -> None:
    flat = verdict(tmp_path, 300, score=pl.lit(4.0))
    assert flat.word != "VALIDATED"
    assert found(flat)[NOT_INFERIOR].state == "not known" and found(flat)[SURE].state == "not known"


def test_answers_that_one_clinician_rated_count_too(tmp_path: Path) -> None:
    frame = planted_frame(
        cases=200, dimensions=("accuracy",), clinicians={"a": 0.0, "b": 0.0}, judges={"judge": 0.0}
    )
    thin = frame.filter(~((pl.col("rater") == "b") & (pl.col("item") >= "case-0100")))
    rules_found = found(validate(write_run(tmp_path, thin, gate=rules()), resamples=200).verdicts[0])
    assert rules_found[SURE].state == "met" and rules_found[NOT_INFERIOR].state == "met"
    assert rules_found[SURE].found == "lower end 0.977", "200 cases for the floor"
    assert rules_found[NOT_INFERIOR].found.endswith("lower bound −0.038"), "100 of them are doubly rated"
