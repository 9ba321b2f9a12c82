"""Why the verdict is not better, and what to do next: each dimension's own, danger first, with its numbers."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import polars as pl
import pytest
from tests.report.planted import page_of, planted_frame, write_run

from medjury.analysis.agreement import agreement
from medjury.models import EMBEDDED
from medjury.report._exhibits import Exhibits
from medjury.report._material import Material
from medjury.report._sections.coverage import coverage
from medjury.report._sections.first_page import first_page
from medjury.report._sections.next_steps import next_steps
from medjury.report._sections.rule_by_rule import gate
from medjury.tables import open_run
from medjury.validation import evidence_of, validation_of


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Material:
    """A jury that overlooks danger in accuracy, is a grade too strict in completeness, and is good at clarity."""
    frame = planted_frame(cases=60)
    machine = pl.col("rater_kind") != "clinician"
    score = (
        pl.when(machine & (pl.col("dimension") == "accuracy") & (pl.col("score") < 3))
        .then(pl.lit(5.0))
        .when(machine & (pl.col("dimension") == "completeness"))
        .then((pl.col("score") - 1).clip(1, 5))
        .otherwise(pl.col("score"))
    )
    run = write_run(
        tmp_path_factory.mktemp("reasons"), frame.with_columns(score.alias("score")), protocol=None
    )
    evidence = evidence_of(open_run(run, resamples=200))
    return Material(evidence, validation_of(evidence), Exhibits())


def test_reasons_differ_by_row_and_start_with_what_matters_for_that_dimension(
    material: Material, tmp_path: Path
) -> None:
    gate(material)
    material.exhibits.write(tmp_path)
    with (tmp_path / "tables" / "verdicts.csv").open(encoding="utf-8", newline="") as file:
        why = {row["dimension"]: row["the main reason"] for row in csv.DictReader(file)}
    assert re.match(
        r"The jury misses more danger than a colleague: the jury misses \d+\.\d %", why["Accuracy"]
    )
    assert why["Completeness"].startswith("The jury agrees with a clinician less than a colleague does (")
    assert why["Clarity"].startswith("Nobody registered the rules before the run"), "all that is in its way"


def test_what_is_not_known_of_a_colleague_is_no_zero_on_the_first_page(tmp_path: Path) -> None:
    """Clinicians who give every answer the same grade have no agreement with one another."""
    human = pl.col("rater_kind") == "clinician"
    flat = planted_frame(cases=60).with_columns(
        pl.when(human).then(4.0).otherwise(pl.col("score")).alias("score")
    )
    evidence = evidence_of(open_run(write_run(tmp_path, flat, protocol=None), resamples=60))
    body = first_page(Material(evidence, validation_of(evidence), Exhibits())).body
    assert "(colleague not known)" in body and "(colleague 0" not in body
    assert "NOT VALIDATED" in body and "Scores do not vary enough for a coefficient" in body


def test_the_first_page_tells_danger_first_and_whom_it_concerns(material: Material) -> None:
    reasons = re.findall(r"<li>(.*?)</li>", first_page(material).body)
    assert reasons[0].startswith("Accuracy: The jury misses more danger than a colleague")
    assert reasons[1].startswith("Accuracy: The jury missed danger that every clinician saw in ")


def test_every_next_step_names_the_numbers_it_comes_from(material: Material) -> None:
    steps = next_steps(material)
    assert steps[0].startswith("Accuracy: Read every dangerous answer")
    assert re.search(r"\([\d.]+ % beside .*[\d.]+ %, .*\d+ of \d+ (cases|answers), at worst", steps[0]), (
        steps[0]
    )
    level = next(step for step in steps if "calibrate fit" in step)
    assert re.search(r"Completeness: 0\.\d+ lower, 0\.5 allowed", level)
    without = [step for step in steps if not re.search(r"\d", step)]
    assert without == ["State the rules before the next run: `medjury register STUDY`."]


@pytest.mark.parametrize("unscored", [0.0, 0.3])
@pytest.mark.parametrize("status", ["complete", "incomplete"])
def test_a_run_that_stopped_says_that_it_counts_what_was_judged_so_far(
    status: str, unscored: float, tmp_path: Path
) -> None:
    frame = planted_frame(cases=20 if unscored else 1, unscored=unscored)
    run = write_run(tmp_path, frame, status=status, protocol=None)
    evidence = evidence_of(open_run(run, resamples=200))
    made = Material(evidence, validation_of(evidence), Exhibits())
    answers = "answers" if status == "complete" else "answers that were judged so far"
    said = f"{answers} got a score;" if unscored else f"All {answers} have a score."
    assert said in first_page(made).body
    if not unscored:
        step = next(step for step in next_steps(made) if "second clinician" in step)
        assert step.endswith("(1 now, 50 needed).") or "1 now, 50 needed" in step


@pytest.mark.parametrize(
    ("status", "finished_at", "said"),
    [
        ("complete", "2026-01-01T01:00:00+00:00", "run finished 2026-01-01 01:00 UTC"),
        ("incomplete", "2026-01-01T01:00:00+00:00", "run stopped 2026-01-01 01:00 UTC"),
        ("failed", "2026-01-01T01:00:00+00:00", "run failed 2026-01-01 01:00 UTC"),
        ("running", None, "run not finished"),
    ],
)
def test_the_page_says_how_the_run_ended(
    status: str, finished_at: str | None, said: str, tmp_path: Path
) -> None:
    frame = planted_frame(cases=4, dimensions=("accuracy",))
    page = page_of(write_run(tmp_path, frame, status=status, finished_at=finished_at, protocol=None))
    assert page.count(said) == 1 and page.count(" · run ") == 1


def test_the_first_page_has_no_double_not_and_no_bare_code(material: Material) -> None:
    said = re.sub(r"<[^>]+>", "\n", re.sub(r"</?(?:strong|code)>", "", first_page(material).body))
    for line in said.splitlines():
        for one in re.split(r"(?<=[.;:]) ", line):
            nots = re.findall(r"\b(?:not|no|nobody|never|without|none|cannot)\b", one, re.IGNORECASE)
            assert len(nots) < 2, one
        assert not re.search(r"[a-z]_[a-z]", line), line


def test_only_our_own_small_model_is_called_too_small(tmp_path: Path) -> None:
    frame = planted_frame(cases=20, dimensions=("accuracy",), judges={"one": 0.5})
    for model, small in ((EMBEDDED, True), ("a-sites-own-32b", False)):
        judges = [{"name": "one", "models": [{"kind": "embedded", "name": "one", "model": model}]}]
        run = write_run(tmp_path / model, frame, judges=judges)
        evidence = evidence_of(open_run(run, resamples=200))
        page = first_page(Material(evidence, validation_of(evidence), Exhibits())).body
        assert ("far too small" in page) is small


def test_an_empty_cell_of_a_clinician_is_an_answer_that_was_not_rated(tmp_path: Path) -> None:
    frame = planted_frame(cases=20, dimensions=("accuracy",))
    blank = (pl.col("rater") == "clinician-2") & (pl.col("item") < "case-0004")
    frame = frame.with_columns(
        pl.when(blank).then(None).otherwise(pl.col("score")).alias("score"),
        pl.when(blank).then(pl.lit("unscored")).otherwise(pl.col("status")).alias("status"),
        pl.when(blank).then(pl.lit("missing")).otherwise(pl.col("reason")).alias("reason"),
    )
    table = open_run(write_run(tmp_path, frame), resamples=200)
    remarks = agreement(table, resamples=0).remarks()
    assert "not rated by clinician-2: 4 (empty, NA or n/a)" in remarks
    assert not any("unscored ratings of clinician-2" in each for each in remarks)
    evidence = evidence_of(table)
    shown = coverage(Material(evidence, validation_of(evidence), Exhibits())).body
    assert "not rated (empty)" in shown and "missing<" not in shown
