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


def test_a_planted_shift_is_found_with_a_paired_interval(runs: tuple[Path, Path]) -> None:
    comparison = compare_runs(*runs, resamples=300)
    change = next(each for each in comparison.rows if each.what == "mean score")
    jury = [
        pl.read_parquet(run / "ratings.parquet").filter(pl.col("rater") == "jury")["score"].mean()
        for run in runs
    ]
    assert change.difference.value == pytest.approx(jury[1] - jury[0])  # type: ignore[operator]
    assert change.difference.low is not None and change.difference.low > 0.4
    kappa = next(each for each in comparison.rows if each.what.startswith("weighted kappa"))
    assert kappa.difference.high is not None and kappa.difference.high < 0


def test_what_was_changed_is_named_and_what_was_not_is_not(runs: tuple[Path, Path]) -> None:
    comparison = compare_runs(*runs, resamples=200)
    assert [row[0] for row in comparison.settings] == ["prompt", "protocol"]
    assert (
        comparison.verdicts[0][:2] == ("Accuracy", "VALIDATED") and comparison.verdicts[0][2] != "VALIDATED"
    )


def test_a_run_against_itself_changes_nothing(runs: tuple[Path, Path]) -> None:
    comparison = compare_runs(runs[0], runs[0], resamples=200)
    assert not comparison.settings and not comparison.warnings
    assert all(each.difference.value == 0 for each in comparison.rows)
    size = next(each for each in comparison.rows if each.what == "size of the offset")
    assert (size.difference.low, size.difference.high) == (None, None), "the same offset in every resample"


def test_answers_of_one_run_only_are_counted_and_left_out(tmp_path: Path) -> None:
    ratings = planted_frame(cases=60, dimensions=("accuracy",))
    first = write_run(tmp_path / "a", ratings)
    second = write_run(tmp_path / "b", ratings.filter(pl.col("item") < "case-0050"), data_hash="other")
    comparison = compare_runs(first, second, resamples=200)
    assert any("10 answers were scored in one run only" in each for each in comparison.warnings)
    assert any("different data" in each for each in comparison.warnings)
    assert comparison.rows[0].difference.n == 50


def test_clinicians_who_changed_their_mind_are_told_of(tmp_path: Path) -> None:
    ratings = planted_frame(cases=60, dimensions=("accuracy",))
    first = write_run(tmp_path / "a", ratings)
    other = ratings.with_columns(
        pl.when((pl.col("rater") == "clinician-1") & (pl.col("item") == "case-0001"))
        .then(pl.when(pl.col("score") > 3).then(1.0).otherwise(5.0))
        .otherwise(pl.col("score"))
        .alias("score")
    )
    comparison = compare_runs(first, write_run(tmp_path / "b", other), resamples=200)
    assert any("rate 1 answers differently" in each for each in comparison.warnings)


def test_text_json_and_page_say_the_same_and_escape_names(runs: tuple[Path, Path], tmp_path: Path) -> None:
    first = runs[0]
    manifest = json.loads((first / "manifest.json").read_text())
    (first / "manifest.json").write_text(json.dumps({**manifest, "run": "<b>bold</b>"}))
    comparison = compare_runs(*runs, resamples=200)
    page = write_comparison(comparison, tmp_path / "compare.html").read_text()
    assert "<b>" not in page and "&lt;b&gt;bold" in page
    changes = json.loads(comparison.to_json())["changes"]
    assert "prompt" in comparison.text() and len(changes) == len(comparison.rows) > 0
    ends = {"difference", "difference_low", "difference_high"}
    for row, change in zip(comparison.rows, changes, strict=True):
        assert set(change) == {"dimension", "what", "n", "first", "second", "method", "reason"} | ends
        assert (change["first"], change["second"]) == (row.first.value, row.second.value)
        assert (change["reason"], change["difference"]) == (row.difference.reason, row.difference.value)


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


def test_cases_that_served_development_in_either_run_are_in_no_change(tmp_path: Path) -> None:
    # The second run was shown these fifty cases and is perfect on them, and on nothing else.
    plain = planted_frame(cases=120, dimensions=("accuracy",), judges={"judge-a": 1.5})
    shown = pl.col("item") < "case-0050"
    machine = pl.col("rater_kind") != "clinician"
    truth = plain.filter(pl.col("rater") == "clinician-1").select("item", pl.col("score").alias("truth"))
    parrot = (
        plain.join(truth, on="item")
        .with_columns(
            pl.when(machine & shown).then(pl.col("truth")).otherwise(pl.col("score")).alias("score")
        )
        .drop("truth")
    )
    names = tuple(f"case-{number:04d}" for number in range(50))
    first = write_run(tmp_path / "a", plain)
    second = write_run(tmp_path / "b", parrot, gate=rules(development_cases=names))
    for folders in ((first, second), (second, first)):
        comparison = compare_runs(*folders, resamples=200)
        assert any("50 cases that served development" in each for each in comparison.warnings)
        kappa = next(each for each in comparison.rows if each.what.startswith("weighted kappa"))
        assert kappa.difference.n == 70
        assert kappa.difference.value == 0


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
