"""Two runs compared: the planted change is found, on the same answers, and nothing else is claimed."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.report.planted import planted_frame, rules, write_run

from medjury.report import write_comparison
from medjury.validation import compare_runs


def moved(ratings: pl.DataFrame, by: float) -> pl.DataFrame:
    machine = pl.col("rater_kind") != "clinician"
    return ratings.with_columns(
        pl.when(machine).then((pl.col("score") + by).clip(1, 5)).otherwise(pl.col("score")).alias("score")
    )


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    ratings = planted_frame(cases=120, dimensions=("accuracy",))
    return write_run(tmp_path / "a", ratings), write_run(
        tmp_path / "b", moved(ratings, 1.0), prompt_version="2"
    )


def test_a_run_against_itself_changes_nothing(runs: tuple[Path, Path]) -> None:
    comparison = compare_runs(runs[0], runs[0], resamples=200)
    assert not comparison.settings and not comparison.warnings
    assert all(each.difference.value == 0 for each in comparison.rows)
    size = next(each for each in comparison.rows if each.what == "size of the offset")
    assert (size.difference.low, size.difference.high) == (None, None), "the same offset in every resample"


def test_a_name_is_escaped_on_the_page(runs: tuple[Path, Path], tmp_path: Path) -> None:
    manifest = json.loads((runs[0] / "manifest.json").read_text())
    (runs[0] / "manifest.json").write_text(json.dumps({**manifest, "run": "<b>bold</b>"}))
    page = write_comparison(compare_runs(*runs, resamples=60), tmp_path / "compare.html").read_text()
    assert "<b>" not in page and "&lt;b&gt;bold" in page


def test_what_judging_took_is_compared_per_answer(tmp_path: Path) -> None:
    ratings = planted_frame(cases=40, dimensions=("accuracy", "clarity"), judges={"one": 0.5, "two": 0.6})
    told = ratings.with_columns(calls=pl.when(pl.col("rater_kind") == "judge").then(1))
    twice = told.with_columns(pl.col("calls") * 2, pl.col("cost") * 3)
    judges: list[dict[str, object]] = [
        {"name": name, "strategy": "repeats", "models": []} for name in ("one", "two")
    ]
    second = write_run(tmp_path / "b", twice, judges=judges)
    comparison = compare_runs(write_run(tmp_path / "a", told), second, resamples=200)
    found = {each.what: each for each in comparison.rows if each.dimension == "all dimensions"}
    # Two judges, two dimensions: 4 rows an answer.
    assert (found["calls per answer"].first.value, found["calls per answer"].second.value) == (4, 8)
    assert found["cost per 1,000 answers"].difference.value == pytest.approx(4 * 0.0004 * 2 * 1000)
    assert found["seconds per answer"].difference.value == pytest.approx(0)
    assert (
        "ways of judging",
        "one: single, two: single",
        "one: repeats, two: repeats",
    ) in comparison.settings


def test_calls_that_a_run_did_not_count_are_not_compared(runs: tuple[Path, Path]) -> None:
    whats = [each.what for each in compare_runs(*runs, resamples=200).rows]
    assert "calls per answer" not in whats and "seconds per answer" in whats


def test_every_difference_in_rules_quorum_clinicians_and_data_is_listed(tmp_path: Path) -> None:
    ratings = planted_frame(cases=60, dimensions=("accuracy",))
    jury = {"name": "jury", "rule": "mean", "quorum": 2, "repeats": 1}
    first = write_run(tmp_path / "a", ratings, humans={"ratings": 120, "hash": "ab" * 32})
    second = write_run(
        tmp_path / "b",
        ratings,
        humans={"ratings": 118, "hash": "cd" * 32},
        gate=rules(floor=0.3, severe_limit=0.2, development_cases=("case-0001",)),
        jury=jury,
        data_hash="ef" * 32,
        study="another name",
    )
    told = {what: (one, two) for what, one, two in compare_runs(first, second, resamples=200).settings}
    assert told["rule floor"] == ("0.4", "0.3") and told["rule severe_limit"] == ("0.1", "0.2")
    assert told["rule development_cases"][0] == "none" and told["rule development_cases"][1].startswith(
        "1 cases"
    )
    assert told["quorum"] == ("more than half", "2") and told["data"] == ("cd" * 6, "ef" * 6)
    assert told["clinicians"] == (f"120 ratings ({'ab' * 6})", f"118 ratings ({'cd' * 6})")
    assert set(told) == {
        "rule floor", "rule severe_limit", "rule development_cases", "quorum", "data", "clinicians", "protocol",
    }  # fmt: skip


def test_clinicians_under_other_pseudonyms_are_the_same_people(tmp_path: Path) -> None:
    ratings = planted_frame(cases=40, dimensions=("accuracy",))
    names = {"clinician-1": "r-81f0", "clinician-2": "r-02aa"}
    renamed = ratings.with_columns(pl.col("rater").replace(names))
    first, second = write_run(tmp_path / "a", ratings), write_run(tmp_path / "b", renamed)
    assert not [
        each for each in compare_runs(first, second, resamples=60).settings if "clinician" in str(each)
    ]
    other = renamed.with_columns(
        pl.when(pl.col("rater") == "r-02aa")
        .then(6 - pl.col("score"))
        .otherwise(pl.col("score"))
        .alias("score")
    )
    third = write_run(tmp_path / "c", other)
    changed = {
        what
        for what, _, _ in compare_runs(first, third, resamples=60).settings
        if what.startswith("scores of ")
    }
    assert changed == {"scores of clinician-2", "scores of r-02aa"}


def test_of_two_runs_that_differ_in_much_the_short_text_keeps_what_changed(tmp_path: Path) -> None:
    names = tuple(f"dimension {place}" for place in range(7))
    ratings = planted_frame(cases=30, dimensions=names)
    first, second = write_run(tmp_path / "a", ratings), write_run(tmp_path / "b", moved(ratings, 1.0))
    found = compare_runs(first, second, resamples=60)
    short = found.short_text()
    assert len(short.splitlines()) <= 60 < len(found.text().splitlines())
    assert "mean score: " in short and short.splitlines()[-1].startswith("--all ")
