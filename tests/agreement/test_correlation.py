"""Correlations: equal to R, ranked anew in every resample, undefined without spread."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tests.agreement.reference_values import reference

from medjury.analysis.agreement import _ranks, kendall_tau_b, pearson, spearman
from medjury.analysis.agreement._correlation import correlation_statistics
from medjury.statistics import evaluate

VALUES = reference("kendall_w_spearman_kendall_tau")
FIRST, SECOND = np.array(VALUES["anxiety"]["data"])[:, :2].T


def test_correlations_with_ties_equal_r() -> None:
    expected = VALUES["pair_anxiety_1_2"]
    assert spearman(FIRST, SECOND, interval="none").value == pytest.approx(
        expected["spearman"]["estimate"], abs=1e-12
    )
    assert kendall_tau_b(FIRST, SECOND, interval="none").value == pytest.approx(
        expected["kendall"]["estimate"], abs=1e-12
    )


def test_fisher_s_interval_of_pearson_equals_r() -> None:
    expected = VALUES["pair_anxiety_1_2"]["pearson"]
    found = pearson(FIRST, SECOND, interval="analytic")
    assert found.value == pytest.approx(expected["r"], abs=1e-12)
    assert (found.low, found.high) == pytest.approx(expected["ci"], abs=1e-12)


@pytest.mark.parametrize("kind", ["continuous", "ordinal", "mixed", "many levels"])
def test_values_on_given_resamples_equal_scipy(kind: str) -> None:
    generator = np.random.default_rng(7)
    n = 400 if kind == "many levels" else 70
    first = generator.normal(size=n)
    second = first + generator.normal(size=n)
    if kind == "ordinal":
        first, second = np.rint(first), np.rint(second)
    if kind == "mixed":
        second = np.rint(second)
    resamples = generator.integers(0, n, size=(25, n))
    names = ["pearson", "spearman", "kendall_tau_b"]
    ours = evaluate(np.column_stack([first, second]), correlation_statistics(names), resamples)
    peers = (stats.pearsonr, stats.spearmanr, stats.kendalltau)
    for name, peer in zip(names, peers, strict=True):
        expected = [peer(first[each], second[each]).statistic for each in resamples]
        assert ours[name] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("levels", [None, 15, 100, 1500])
def test_kendall_by_merging_equals_scipy_as_well(levels: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The road taken where a matrix of all pairs of distinct rows would be too large."""
    monkeypatch.setattr(_ranks, "MATRIX_UP_TO", 0)
    generator = np.random.default_rng(8)
    first = generator.normal(size=777)
    second = first + generator.normal(size=777)
    if levels:
        first, second = (np.digitize(each, np.linspace(-3, 3, levels)) for each in (first, second))
    resamples = generator.integers(0, 777, size=(8, 777))
    rows = np.column_stack([first, second])
    ours = evaluate(rows, correlation_statistics(["kendall_tau_b"]), resamples)["kendall_tau_b"]
    peer = [stats.kendalltau(first[each], second[each]).statistic for each in resamples]
    assert ours == pytest.approx(peer, abs=1e-12)


@pytest.mark.parametrize("statistic", [pearson, spearman, kendall_tau_b])
def test_a_constant_rater_has_no_correlation(statistic) -> None:
    found = statistic([1, 2, 3, 4], [0.1 + 0.2, 0.3, 0.3, 0.3][:1] * 4)
    assert found.value is None
    assert found.reason == "the second rater gave every item the same score"
    assert statistic([5], [4]).reason == "only one item was scored by both raters"
    assert statistic([], []).reason == "no item was scored by both raters"


def test_nearly_constant_resamples_are_not_given_a_correlation_of_rounding_errors() -> None:
    """Without the one odd item a rater is constant; 37 % of resamples lack it, so there is no interval."""
    found = pearson([1.1] * 19 + [2.3], [0.7, 0.9] * 10, resamples=500)
    assert found.value is not None
    assert found.low is None
    assert "no interval: undefined in" in found.method


def test_a_perfect_correlation_has_no_interval_of_no_width() -> None:
    found = spearman(range(20), range(20), resamples=200)
    assert (found.value, found.low, found.high) == (1.0, None, None)
    assert found.method.startswith("no interval: the same in all of 200 resamples")
