"""The judge as one more rater, in a human's place, and against the humans' own agreement."""

from __future__ import annotations

import numpy as np
import pytest

from medjury.analysis.agreement import icc, judge_as_rater, non_inferiority
from medjury.analysis.agreement._correlation import correlation_statistics
from medjury.analysis.agreement._pairs_of_humans import mean_over_pairs
from medjury.foundation.errors import MedjuryError
from medjury.statistics import bootstrap as bootstrap_of


def raters(seed: int, n: int, *spreads: float) -> np.ndarray:
    generator = np.random.default_rng(seed)
    truth = generator.normal(0, 1, n)
    return np.stack([truth + spread * generator.normal(0, 1, n) for spread in spreads], axis=1)


def test_before_and_after_are_the_iccs_of_the_two_groups() -> None:
    table = raters(0, 60, 0.5, 0.5, 0.5, 0.5)
    humans, judge = table[:, :3], table[:, 3]
    changes = judge_as_rater(humans, judge, forms=["icc_2_1"], resamples=300)
    added, *replaced = changes
    assert added.before.value == pytest.approx(icc(humans, "icc_2_1").value, abs=1e-12)
    assert added.after.value == pytest.approx(icc(table, "icc_2_1").value, abs=1e-12)
    assert added.change.value == pytest.approx(added.after.value - added.before.value, abs=1e-12)
    assert [change.human for change in replaced] == ["human 1", "human 2", "human 3"]
    assert replaced[1].after.value == pytest.approx(icc(table[:, [0, 2, 3]], "icc_2_1").value, abs=1e-12)


def test_a_judge_like_the_humans_changes_nothing_and_a_random_one_does() -> None:
    table = raters(1, 150, 0.5, 0.5, 0.5, 0.5)
    same = judge_as_rater(table[:, :3], table[:, 3], forms=["icc_2_1"], resamples=1000)
    assert all(change.p_value > 0.05 for change in same)
    noise = np.random.default_rng(2).normal(0, 1, 150)
    random = judge_as_rater(table[:, :3], noise, forms=["icc_2_1"], resamples=1000)
    assert all(change.p_value < 0.01 and change.change.high < 0 for change in random)


def test_one_more_rater_raises_the_average_form_by_arithmetic_alone() -> None:
    """Why the single form is shown beside it: a judge no better than the humans "improves" icc_3_k."""
    table = raters(3, 400, 1.0, 1.0, 1.0, 1.0)
    changes = {change.form: change for change in judge_as_rater(table[:, :3], table[:, 3], resamples=500)
               if change.kind == "added"}  # fmt: skip
    assert changes["icc_3_k"].change.low > 0
    assert changes["icc_2_1"].change.low < 0 < changes["icc_2_1"].change.high


def test_too_few_common_items_are_undefined_with_a_reason() -> None:
    humans = [[1, 2], [2, None], [None, 3]]
    changes = judge_as_rater(humans, [1, 2, 3], forms=["icc_2_1"], resamples=50)
    assert all(change.change.reason and change.p_value is None for change in changes)


def test_averages_over_pairs_leave_out_pairs_without_common_items() -> None:
    rows = np.array(
        [[1, 1, np.nan], [2, 3, np.nan], [3, 2, np.nan], [np.nan, 1, 2], [np.nan, 2, 3], [np.nan, 4, 4]]
    )
    pearson = correlation_statistics(["pearson"])
    found = bootstrap_of(rows, mean_over_pairs(pearson, [(0, 1), (1, 2), (0, 2)]), resamples=0)
    first = np.corrcoef([1, 2, 3], [1, 3, 2])[0, 1]
    second = np.corrcoef([1, 2, 4], [2, 3, 4])[0, 1]
    assert found["pearson"].value == pytest.approx((first + second) / 2)


def test_a_judge_as_good_as_the_humans_is_non_inferior_and_a_poor_one_is_not() -> None:
    pearson = correlation_statistics(["pearson"])
    table = raters(4, 200, 0.6, 0.6, 0.6, 0.6)
    good = non_inferiority(table[:, :3], table[:, 3], pearson, margin=0.1, resamples=1000)["pearson"]
    assert good.non_inferior
    assert good.p_value < 0.05
    assert good.difference.value == pytest.approx(good.judge_human.value - good.human_human.value)
    poor = table[:, 3] + np.random.default_rng(5).normal(0, 1.5, 200)
    bad = non_inferiority(table[:, :3], poor, pearson, margin=0.1, resamples=1000)["pearson"]
    assert bad.non_inferior is False
    assert bad.p_value > 0.5


def test_the_one_sided_bound_errs_as_often_as_it_says() -> None:
    """At a true difference of exactly −margin, non-inferiority may be claimed in at most about 5 % of studies."""
    pearson = correlation_statistics(["pearson"])
    human, judge_spread = 0.5, 1.0
    truth = 1 / (1 + human**2) - 1 / np.sqrt((1 + human**2) * (1 + judge_spread**2))
    claimed = 0
    for seed in range(120):
        table = raters(100 + seed, 120, human, human, judge_spread)
        result = non_inferiority(table[:, :2], table[:, 2], pearson, margin=truth, resamples=400, seed=seed)
        claimed += bool(result["pearson"].non_inferior)
    assert claimed / 120 <= 0.11


def test_the_margin_must_be_stated_and_there_must_be_humans_to_compare_with() -> None:
    pearson = correlation_statistics(["pearson"])
    with pytest.raises(MedjuryError, match="positive number"):
        non_inferiority([[1, 2]], [1], pearson, margin=0)
    with pytest.raises(MedjuryError, match="two humans"):
        non_inferiority([[1], [2]], [1, 2], pearson, margin=0.1)
    with pytest.raises(MedjuryError, match="nothing to compare"):
        non_inferiority([[1, None], [None, 2]], [1, 2], pearson, margin=0.1)


def test_three_cases_that_agree_do_not_show_non_inferiority() -> None:
    humans = [[1, 1], [3, 3], [5, 5]]
    result = non_inferiority(
        humans, [1, 3, 5], correlation_statistics(["pearson"]), margin=0.1, resamples=500
    )["pearson"]
    assert not result.non_inferior
    assert result.p_value is None or result.p_value >= 0.125
