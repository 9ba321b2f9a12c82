"""Prediction-powered estimates of a rating table."""

from __future__ import annotations

import polars as pl
import pytest
from tests.calibration.tables import planted_ratings

from medjury.analysis.calibration import estimate
from medjury.foundation.errors import MedjuryError
from medjury.tables import rating_table

FRAME = planted_ratings(cases=300, labelled=60)


def test_means_of_all_systems_and_of_each() -> None:
    found = estimate(FRAME, reference=["panel"], by_system=True, labels_random=True)
    assert [(each.quantity, each.system) for each in found.estimates] == [
        ("mean", name) for name in ("all", "a", "b")
    ]
    overall = found.estimates[0].found
    truth = planted_ratings(cases=300).filter(pl.col("rater") == "panel")["score"].mean()
    assert overall.power_tuned.low < truth < overall.power_tuned.high
    assert overall.power_tuned.high - overall.power_tuned.low < overall.classical.high - overall.classical.low
    assert (overall.n_labelled, overall.n_unlabelled, overall.n_labelled_cases) == (120, 480, 60)


def test_a_difference_comes_with_both_means() -> None:
    found = estimate(FRAME, reference=["panel"], differences=[("a", "b")], labels_random=True)
    assert [each.quantity for each in found.estimates] == ["mean", "mean", "difference"]
    first, second, difference = (each.found.classical.value for each in found.estimates)
    assert difference == pytest.approx(first - second)
    assert len(found.estimates[2].found.weights) == 2


def test_a_system_without_labels_is_refused_by_name_and_the_others_go_on() -> None:
    frame = FRAME.filter((pl.col("system") == "a") | (pl.col("rater") != "panel"))
    found = estimate(frame, reference=["panel"], by_system=True)
    assert [(dimension, system) for dimension, system, _ in found.refused] == [("accuracy", "b")]
    assert [each.system for each in found.estimates] == ["all", "a"]
    with pytest.raises(MedjuryError, match=r"there is no system 'z' in the ratings; known: a, b"):
        estimate(frame, reference=["panel"], differences=[("a", "z")])
    with pytest.raises(MedjuryError, match="nothing could be estimated"):
        estimate(planted_ratings(labelled=2), reference=["panel"])


def test_one_face_for_the_result_and_the_scale_is_not_needed() -> None:
    found = estimate(FRAME, labels_random=True)
    assert [row.estimator for row in found.rows][:2] == ["prediction_powered", "prediction_powered_fixed"]
    row = found.find(estimator="classical", system="all")
    assert row.value == found.estimates[0].found.classical
    assert found.frame()["value_low"][2] == row.value.low
    assert found.raters == ("lenient", "strict")


def test_the_jury_is_the_tables_own() -> None:
    """Of three judges one alone is no jury: its items have no prediction, and are counted."""
    frame = planted_ratings(cases=100, labelled=50, judges={"one": -0.9, "two": 0.0, "three": 0.7})
    gone = pl.col("rater").is_in(["two", "three"]) & (pl.col("item") == "c1")
    found = estimate(
        frame.with_columns(score=pl.when(gone).then(None).otherwise("score")), labels_random=True
    )
    assert found.estimates[0].found.n_unscored == 2
    median = estimate(rating_table(frame, jury="median"), labels_random=True).estimates[0].found
    mean = estimate(frame, labels_random=True).estimates[0].found
    assert median.naive.value != mean.naive.value


def test_answers_that_the_jury_left_unscored_are_told_with_bounds_and_their_labels_count() -> None:
    bad = FRAME.filter(pl.col("rater") == "panel", pl.col("score") <= 2).select("item", "system").unique()
    unscored = FRAME.join(bad.with_columns(gone=True), on=["item", "system"], how="left").with_columns(
        score=pl.when((pl.col("rater") != "panel") & pl.col("gone").fill_null(False))
        .then(None)
        .otherwise("score")
    )
    rest = (pl.col("rater") != "panel") & pl.col("item").is_in(["c250", "c251"])
    unscored = unscored.with_columns(score=pl.when(rest).then(None).otherwise("score")).drop("gone")
    whole = estimate(FRAME, reference=["panel"], labels_random=True).estimates[0].found
    found = estimate(rating_table(unscored, scale=(1, 5)), reference=["panel"], labels_random=True)
    made = found.estimates[0].found
    assert made.classical == whole.classical
    assert (made.n_unscored_labelled, made.n_unscored) == (bad.height, bad.height + 4)
    assert any(
        "4 answers with neither a jury score nor a label; the mean would be" in text
        for text in found.warnings
    )
    assert f"{bad.height} of them with a label" in found.text()
