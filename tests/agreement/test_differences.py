"""Differences on the score's own scale: direction, size, limits of agreement."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint
from tests.agreement.reference_values import reference

from medjury.analysis.agreement import (
    bland_altman,
    exact_match,
    mean_absolute_error,
    median_difference,
    offset,
    root_mean_squared_error,
)
from medjury.analysis.agreement._differences import difference_statistics
from medjury.statistics import evaluate

REFERENCE, JUDGE = [3, 4, 2, 5, 1], [4, 4, 1, 5, 4]


def test_offset_is_the_second_rater_less_the_first() -> None:
    assert offset(REFERENCE, JUDGE, interval="none").value == pytest.approx(0.6)
    assert offset(JUDGE, REFERENCE, interval="none").value == pytest.approx(-0.6)
    assert offset(JUDGE, REFERENCE, absolute=True, interval="none").value == pytest.approx(0.6)


def test_errors_and_matches() -> None:
    assert mean_absolute_error(REFERENCE, JUDGE, interval="none").value == pytest.approx(1.0)
    assert root_mean_squared_error(REFERENCE, JUDGE, interval="none").value == pytest.approx(np.sqrt(11 / 5))
    assert exact_match(REFERENCE, JUDGE, interval="none").value == pytest.approx(0.4)


def test_analytic_intervals_equal_statsmodels_and_scipy() -> None:
    found = exact_match(REFERENCE, JUDGE, interval="analytic")
    assert (found.low, found.high) == pytest.approx(proportion_confint(2, 5, method="wilson"), abs=1e-12)
    found = offset(REFERENCE, JUDGE, interval="analytic")
    expected = stats.ttest_rel(JUDGE, REFERENCE).confidence_interval()
    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=1e-12)


def test_median_and_quartiles_equal_r() -> None:
    case = reference("wilcoxon_signed_rank_ties_zeros")["likert"]
    found = median_difference(case["x"], case["y"], interval="none")
    assert found["median_difference"].value == case["median_diff_y_minus_x"]
    quartiles = [found["difference_q1"].value, found["difference_q3"].value]
    assert quartiles == case["iqr_y_minus_x"]


def test_quartiles_of_whole_grades_have_no_interval_and_others_do() -> None:
    """A quartile of whole numbers is a step: its interval held in all of 800 simulated studies."""
    generator = np.random.default_rng(3)
    first, second = generator.integers(1, 6, (2, 60)).astype(float)
    for apart, refused in ((0.0, True), (0.3 * generator.normal(size=60), False)):
        for each in median_difference(first, second + apart, resamples=400).values():
            assert each.value is not None and (each.low is None) == refused
            assert ("a quartile of so few different values is a step" in each.method) == refused


def test_quantiles_on_given_resamples_equal_numpy() -> None:
    generator = np.random.default_rng(5)
    rows = generator.normal(size=(31, 2))
    resamples = generator.integers(0, 31, size=(20, 31))
    names = ["difference_q1", "median_difference", "difference_q3"]
    ours = evaluate(rows, difference_statistics(names), resamples)
    gap = rows[:, 1] - rows[:, 0]
    for name, share in zip(names, (0.25, 0.5, 0.75), strict=True):
        assert ours[name] == pytest.approx([np.quantile(gap[each], share) for each in resamples], abs=1e-12)


def test_limits_of_agreement() -> None:
    found = bland_altman(REFERENCE, JUDGE, interval="analytic")
    gap = np.subtract(JUDGE, REFERENCE)
    bias, lower, upper = found.values()
    assert bias.value == pytest.approx(gap.mean())
    assert upper.value - lower.value == pytest.approx(2 * stats.norm.ppf(0.975) * gap.std(ddof=1))
    assert bias.low == pytest.approx(stats.ttest_rel(JUDGE, REFERENCE).confidence_interval().low)
    half = stats.t.ppf(0.975, 4) * gap.std(ddof=1) * np.sqrt(1 / 5 + stats.norm.ppf(0.975) ** 2 / 8)
    assert upper.high - upper.value == pytest.approx(half)


def test_limits_of_agreement_need_two_items() -> None:
    assert bland_altman([3], [4])["offset"].reason == "one difference has no spread"
    assert bland_altman([None], [4])["limit_of_agreement_high"].reason == "no item was scored by both raters"


def test_differences_that_are_all_the_same_have_limits_without_an_interval() -> None:
    for first, second, gap in (([1, 2, 3, 4], [2, 3, 4, 5], 1.0), ([0.1, 0.2, 0.3], [0.4, 0.5, 0.6], 0.3)):
        found = bland_altman(first, second, interval="analytic")
        for estimate in (*found.values(), offset(first, second, interval="analytic")):
            assert estimate.value == pytest.approx(gap)
            assert (estimate.low, estimate.high) == (None, None)
        assert found["offset"].method.startswith("no analytic interval for so few or so uniform data")


def test_the_size_of_an_offset_has_the_interval_of_the_signed_one() -> None:
    generator = np.random.default_rng(8)
    first = generator.normal(size=40)
    for shift in (0.0, -2.0):
        second = first + shift + generator.normal(size=40)
        signed, size = (offset(first, second, absolute=absolute, resamples=500) for absolute in (False, True))
        assert size.value == abs(signed.value)
        assert size.high == max(abs(signed.low), abs(signed.high))
        assert size.low == (0.0 if shift == 0 else abs(signed.high))
        assert size.method == signed.method


def test_rounding_does_not_hide_a_match_or_a_tie() -> None:
    thirds = 0.1 + 0.2
    assert exact_match([thirds, 1], [0.3, 2], interval="none").value == 0.5
    found = median_difference([4, 3, 1], [4.3, 3.3, 1.3], interval="none")
    assert found["difference_q1"].value == found["difference_q3"].value


def test_nothing_in_common_is_undefined_not_zero() -> None:
    found = offset([None, 2], [1, None])
    assert found.value is None
    assert found.reason == "no item was scored by both raters"
