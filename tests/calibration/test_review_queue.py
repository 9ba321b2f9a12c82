"""Queues drawn by stated probabilities: who is certain, that a draw can be redone, that what it finds is true."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from benchmarks import _real_judges
from benchmarks._best_queue import limits
from benchmarks._reviews import found, make_world, review
from benchmarks.review import DIFFER, STATISTICS, simulate, summary, truths_of

from medjury.analysis.agreement import agreement
from medjury.analysis.calibration import draw_review, estimate
from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.tables import RatingTable, rating_table
from medjury.validation import settling, validate
from medjury.validation._evidence import evidence_of

NAMES = {"item": pl.String, "system": pl.String, "rater": pl.String, "rater_kind": pl.String,
         "dimension": pl.String, "score": pl.Float64, "probability": pl.Float64}  # fmt: skip


def judged(count: int = 150, seed: int = 2) -> tuple[pl.DataFrame, np.ndarray]:
    """Three judges' scores of two systems' answers to each case, one of them left without a score; and what a
    clinician would say."""
    world = make_world(count, seed)
    rows: list[tuple[Any, ...]] = []
    for place, case in enumerate(world.cases.tolist()):
        for judge, score in enumerate(world.judges[:, place].tolist()):
            given = None if place == 17 else score
            rows.append((f"case {case}", f"s{place % 2}", f"j{judge}", "judge", "accuracy", given, None))
    return pl.DataFrame(rows, schema=NAMES, orient="row"), world.clinician


def table_of(frame: pl.DataFrame) -> RatingTable:
    return rating_table(frame, scale=(1, 5))


def with_clinicians(frame: pl.DataFrame, grades: np.ndarray, ratings: int, *, seed: int = 0) -> RatingTable:
    """The same ratings with those of two clinicians who read what was drawn."""
    place = {(f"case {n // 2}", f"s{n % 2}"): n for n in range(len(grades))}
    generator = np.random.default_rng(seed)
    rows = []
    for row in draw_review(table_of(frame), ratings=ratings, seed=seed).drawn:
        for who in ("ann", "bob"):
            said = float(
                np.clip(grades[place[row.item, row.system]] + generator.choice([-1, 0, 0, 0, 1]), 1, 5)
            )
            rows.append((row.item, row.system, who, "clinician", "accuracy", said, row.probability))
    return table_of(pl.concat([frame, pl.DataFrame(rows, schema=NAMES, orient="row")]))


def test_what_the_jury_calls_dangerous_or_did_not_score_is_read_in_any_case() -> None:
    frame, _ = judged()
    queue = draw_review(table_of(frame), ratings=90, seed=1)
    certain = [row for row in queue.rows if row.reason != "drawn"]
    assert certain and all(row.drawn and row.probability == 1.0 for row in certain)
    assert ("case 8", "s1") in {(row.item, row.system) for row in certain if "no score" in row.reason}
    assert len(queue.drawn) == 90 and len(queue.rows) == 300
    assert sum(row.probability for row in queue.rows) == pytest.approx(90)
    assert min(row.probability for row in queue.rows) > 0.25 * (90 - len(certain)) / 300


def test_one_judge_is_called_by_its_name_and_no_jury() -> None:
    frame, _ = judged()
    name = str(frame.filter(pl.col("rater_kind") == "judge")["rater"][0])
    queue = draw_review(table_of(frame), ratings=90, raters=[name], seed=1)
    assert f"{name} calls it dangerous" in queue.text() and "jury" not in queue.text()


def test_where_judges_differ_reading_is_likelier() -> None:
    frame, _ = judged()
    queue = draw_review(table_of(frame), ratings=90, seed=1)
    spread = {
        (item, system): float(np.std(scores))
        for item, system, scores in frame.drop_nulls("score")
        .group_by("item", "system")
        .agg("score")
        .iter_rows()
    }
    rest = [row for row in queue.rows if row.reason == "drawn"]
    wide = [row.probability for row in rest if spread[row.item, row.system] > 1]
    narrow = [row.probability for row in rest if spread[row.item, row.system] == 0.0]
    assert np.mean(wide) > 1.5 * np.mean(narrow)


def test_the_same_rule_and_seed_draw_the_same_and_others_do_not() -> None:
    frame, _ = judged()
    table = table_of(frame)
    first = draw_review(table, ratings=60, seed=5)
    again = draw_review(table_of(frame.sample(fraction=1.0, shuffle=True, seed=3)), ratings=60, seed=5)
    assert again.to_json() == first.to_json(), "nor does the order of the ratings matter"
    assert draw_review(table, ratings=60, seed=6).rows[0].rule == first.rows[0].rule
    assert {row.item for row in draw_review(table, ratings=60, seed=6).drawn} != {
        row.item for row in first.drawn
    }
    assert draw_review(table, ratings=60, seed=5, floor=0.5).rows[0].rule != first.rows[0].rule


def test_what_clinicians_said_before_does_not_decide_who_is_read() -> None:
    frame, grades = judged()
    rated = with_clinicians(frame, grades, 80)
    assert (
        draw_review(rated, ratings=60, seed=5).to_json()
        == draw_review(table_of(frame), ratings=60, seed=5).to_json()
    )


@pytest.mark.parametrize("by", ["triage", "random"])
def test_probabilities_may_go_by_triage_or_by_nothing(by: Any) -> None:
    frame, _ = judged()
    queue = draw_review(table_of(frame), ratings=90, seed=1, by=by)
    rest = {round(row.probability, 9) for row in queue.rows if row.reason == "drawn"}
    assert len(queue.drawn) == 90 and (len(rest) == 1) == (by == "random")


def test_whole_cases_are_drawn_with_all_their_answers() -> None:
    frame, _ = judged()
    queue = draw_review(table_of(frame), ratings=100, seed=1, whole="case")
    drawn: dict[str, set[bool]] = {}
    for row in queue.rows:
        drawn.setdefault(row.item, set()).add(row.drawn)
    assert all(len(each) == 1 for each in drawn.values())
    assert (
        sum(row.probability for row in queue.rows) == pytest.approx(100) and abs(len(queue.drawn) - 100) <= 2
    )


def test_a_review_too_small_for_what_is_certain_is_refused() -> None:
    with pytest.raises(MedjuryError, match="no reading is left for the"):
        draw_review(table_of(judged()[0]), ratings=2)


def test_the_command_writes_a_queue_that_an_auditor_can_redo(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judged()[0].write_csv(tmp_path / "judges.csv")
    words = [
        "plan",
        "review",
        str(tmp_path / "judges.csv"),
        "--scale",
        "1",
        "5",
        "--ratings",
        "70",
        "--seed",
        "9",
    ]
    for name in ("one.csv", "two.csv"):
        assert main([*words, "--out", str(tmp_path / name)]) == 0
    assert "70 of 300 answers are drawn" in capsys.readouterr().out
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    with (tmp_path / "one.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {"item", "system", "probability", "reason", "seed", "rule"} <= rows[0].keys()
    assert sum(row["drawn"] == "true" for row in rows) == 70
    places = [int(row["place"]) for row in rows if row["drawn"] == "true"]
    assert places == list(range(1, 71))


def test_agreement_and_means_of_a_table_are_those_that_the_simulation_holds_to_account() -> None:
    world, seed = make_world(200, 3), 4
    made = review(world, 120, seed, random=False)
    rows: list[tuple[Any, ...]] = []
    for place, case in enumerate(world.cases.tolist()):
        key = (f"case {case:04}", f"s{place % 2}")
        rows.append((*key, "jury", "jury", "accuracy", world.jury[place], None))
        if made.read[place]:
            probability = float(made.probability[place])
            rows.append((*key, "ann", "clinician", "accuracy", world.clinician[place], probability))
    table = table_of(pl.DataFrame(rows, schema=NAMES, orient="row"))
    agreed = agreement(table, severe="accuracy", threshold=2, gap=2, resamples=400, seed=seed)
    quality, ours = estimate(table), found(world, made, seed)
    for here, there in (
        (agreed.find("kappa_quadratic").estimate, ours["kappa"]),
        (agreed.find("severe_error_rate").estimate, ours["severe errors"]),
        (quality.find(estimator="prediction_powered").value, ours["mean"]),
        (quality.find(estimator="classical").value, ours["mean, labels alone"]),
    ):
        ends = [(each.value, each.low, each.high) for each in (here, there)]
        assert ends[0] == pytest.approx(ends[1], abs=0.02)
        assert here.value == pytest.approx(there.value)


def test_the_gate_weights_by_the_probabilities_and_differs_where_they_are_forgotten() -> None:
    frame, grades = judged(300)
    drawn = with_clinicians(frame, grades, 200)
    forgotten = table_of(drawn.rows.with_columns(probability=None).drop("row", "cluster"))
    ours, plain = (
        {row.rule.id: row.rule.value for row in validate(each, resamples=200).rows}
        for each in (drawn, forgotten)
    )
    changed = {rule for rule in ours if ours[rule] != plain[rule]}
    assert {"agreement", "offset", "within_system", "colleagues"} <= changed


def test_more_ratings_are_foretold_for_what_is_still_open() -> None:
    frame, grades = judged(300)
    rows = settling(with_clinicians(frame, grades, 60), planned=200, resamples=200).rows
    assert {row.rule for row in rows} == {"agreement", "offset", "within_system", "colleagues"}
    assert all(row.state in ("holds", "fails", "open", "at the end") for row in rows)
    assert all(row.text for row in rows)


@pytest.mark.simulation
def test_a_small_simulation_covers_and_shows_the_bias_of_forgotten_weights() -> None:
    table = summary(simulate(60, DIFFER, answers=800, ratings=150), truths_of(DIFFER))
    for name in STATISTICS:
        assert table["queue", name]["coverage"] >= 0.86, name
    assert table["queue, unweighted", "kappa"]["bias"] > 0.1
    assert table["queue, unweighted", "mean, labels alone"]["bias"] < -0.1
    assert table["queue, unweighted", "kappa"]["coverage"] < 0.5
    assert abs(table["queue", "kappa"]["bias"]) < 0.05
    assert table["queue", "kappa"]["width"] < table["random", "kappa"]["width"]
    assert table["queue", "kappa"]["width"] < 0.95 * table["queue", "kappa, labels alone"]["width"]


def test_no_queue_saves_more_than_the_best_one_and_that_is_little_for_a_mean_beside_the_jury() -> None:
    best = limits(make_world(20_000, 1), 0.15)
    assert (
        0.5 < best["kappa"].alone < 0.6 and 0.45 < best["severe errors"].for_all < best["severe errors"].alone
    )
    assert 0.4 < best["mean"].alone < 0.5 and 0.0 <= best["mean"].beside_help < 0.03
    assert all(each.for_all <= each.alone + 1e-9 for each in best.values())


def test_the_gate_and_the_table_of_agreement_tell_nearly_one_kappa() -> None:
    """The table estimates it with the help of the answers that nobody read, the gate from those that two did."""
    frame, grades = judged(300)
    drawn = with_clinicians(frame, grades, 200)
    forgotten = table_of(drawn.rows.with_columns(probability=None).drop("row", "cluster"))
    shown = [
        agreement(drawn, raters="jury", reference=one, resamples=0).find("kappa_quadratic").estimate
        for one in ("ann", "bob")
    ]
    assert all("strata of the rater's score" in each.method for each in shown)
    ours, plain = (
        evidence_of(each, resamples=200).tested(each.dimension("accuracy")).values["agreement jury"]
        for each in (drawn, forgotten)
    )
    mean = float(np.mean([each.value for each in shown]))
    assert abs(ours - mean) < 0.05 < abs(plain - mean)


def test_answers_that_were_left_out_of_the_table_are_not_taken_for_all() -> None:
    """Whoever keeps only the answers that were read has the weights, and no more."""
    frame, grades = judged(300)
    table = with_clinicians(frame, grades, 200)
    rows = table.rows.drop("row", "cluster")
    read = rows.filter(pl.col("rater") == "ann").select("item", "system")
    kept = table_of(rows.join(read, on=["item", "system"]))
    whole, part = (
        agreement(each, raters="jury", reference="ann", resamples=0).find("kappa_quadratic")
        for each in (table, kept)
    )
    assert "strata" in whole.estimate.method and "strata" not in part.estimate.method
    made = estimate(kept)
    alone, helped = (made.find(estimator=each).value.value for each in ("classical", "prediction_powered"))
    assert helped == pytest.approx(alone), "the jury's mean of what was read is not that of all"


def test_real_judges_are_read_however_their_answers_were_wrapped() -> None:
    if not _real_judges.there():
        pytest.skip("MentalBench-Align (shared/data/mental_health_judges) is not on this machine")
    world = _real_judges.some(20, 1, "Guidance")
    assert len(np.unique(world.cases)) == 20 and 150 <= len(world.cases) <= 200
    assert np.isin(world.clinician, (1, 2, 3, 4, 5)).all()
    assert np.isnan(world.judges).mean() < 0.02 and world.judges.shape[0] == 4
