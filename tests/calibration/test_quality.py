"""Prediction-powered estimates of a rating table."""

from __future__ import annotations

import polars as pl
import pytest
from tests.calibration.tables import rating_table

from medjury.calibration import estimate_quality
from medjury.errors import MedjuryError

FRAME = rating_table(cases=300, labelled=60)


def test_means_of_all_systems_and_of_each() -> None:
    found = estimate_quality(FRAME, reference=["panel"], scale=(1, 5), by_system=True, labels_random=True)
    assert [(each.quantity, each.system) for each in found.estimates] == [
        ("mean", name) for name in ("all", "a", "b")
    ]
    overall = found.estimates[0].found
    truth = rating_table(cases=300).filter(pl.col("rater") == "panel")["score"].mean()
    assert overall.power_tuned.low < truth < overall.power_tuned.high
    assert overall.power_tuned.high - overall.power_tuned.low < overall.classical.high - overall.classical.low
    assert (overall.n_labelled, overall.n_unlabelled, overall.n_labelled_cases) == (120, 480, 60)


def test_a_difference_comes_with_both_means() -> None:
    found = estimate_quality(
        FRAME, reference=["panel"], scale=(1, 5), differences=[("a", "b")], labels_random=True
    )
    assert [each.quantity for each in found.estimates] == ["mean", "mean", "difference"]
    first, second, difference = (each.found.classical.value for each in found.estimates)
    assert difference == pytest.approx(first - second)
    assert len(found.estimates[2].found.weights) == 2


def test_a_system_without_labels_is_refused_by_name_and_the_others_go_on() -> None:
    frame = FRAME.filter((pl.col("system") == "a") | (pl.col("rater") != "panel"))
    found = estimate_quality(frame, reference=["panel"], scale=(1, 5), by_system=True)
    assert [(dimension, system) for dimension, system, _ in found.refused] == [("accuracy", "b")]
    assert [each.system for each in found.estimates] == ["all", "a"]
    with pytest.raises(MedjuryError, match=r"there is no system 'z' in the ratings; known: a, b"):
        estimate_quality(frame, reference=["panel"], scale=(1, 5), differences=[("a", "z")])
    with pytest.raises(MedjuryError, match="nothing could be estimated"):
        estimate_quality(rating_table(labelled=2), reference=["panel"], scale=(1, 5))
