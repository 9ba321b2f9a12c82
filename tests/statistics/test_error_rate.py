"""A rate of errors: the upper end of the exact interval, Jeffreys' lower end, and how often the two hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from medjury.statistics import clustered_proportion, error_rate, proportion, weighted_proportion

GROUPS = np.arange(60) // 6


@settings(max_examples=60, deadline=None)
@given(st.lists(st.booleans(), min_size=2, max_size=40), st.integers(1, 8), st.sampled_from([0.8, 0.95]))
def test_the_upper_end_is_the_exact_one_to_the_last_digit_and_the_lower_end_is_never_lower(
    errors: list[bool], together: int, confidence: float
) -> None:
    clusters = [place // together for place in range(len(errors))]
    found, exact = (
        each(errors, clusters, confidence=confidence) for each in (error_rate, clustered_proportion)
    )
    assert (found.value, found.high, found.n, found.reason) == (
        exact.value,
        exact.high,
        exact.n,
        exact.reason,
    )
    if found.low is not None:
        assert exact.low <= found.low <= found.value
        assert (found.low == 0.0) == (not any(errors))


def test_where_every_answer_has_a_case_of_its_own_the_lower_end_is_jeffreys() -> None:
    errors = np.arange(30) < 4
    for found in (
        error_rate(errors),
        error_rate(errors, np.arange(30)),
        error_rate(errors, weights=[2.0] * 30),
    ):
        assert found.low == pytest.approx(proportion(4, 30, interval="jeffreys").low)
    assert error_rate(errors).method == "95 %: lower end Jeffreys', upper end exact (Clopper-Pearson)"


def test_several_answers_to_a_case_count_for_what_their_variance_tells() -> None:
    """The variance from the cluster-robust covariance of a regression on nothing but a constant."""
    models = pytest.importorskip("statsmodels.api")
    errors = np.random.default_rng(3).random(60) < np.where(GROUPS % 3 == 0, 0.7, 0.1)
    fit = models.OLS(errors.astype(float), np.ones(60)).fit(cov_type="cluster", cov_kwds={"groups": GROUPS})
    share = errors.mean()
    worth = 60 / (fit.cov_params()[0, 0] / (share * (1 - share) / 59))
    assert worth < 40
    found = error_rate(errors, GROUPS)
    assert found.low == pytest.approx(stats.beta.ppf(0.025, share * worth + 0.5, (1 - share) * worth + 0.5))
    assert found.method.startswith(
        "95 %: lower end Jeffreys', upper end exact (Clopper-Pearson): 60 answers of 10 clusters are worth "
    )


def test_with_weights_the_upper_end_is_that_of_the_weighted_share() -> None:
    errors, weights = GROUPS % 4 == 1, np.where(np.arange(60) % 2, 5.0, 1.0)
    found, usual = error_rate(errors, GROUPS, weights=weights), weighted_proportion(errors, weights, GROUPS)
    assert (found.value, found.high) == (usual.value, usual.high)
    assert 0 < found.low < found.value
    assert found.method.startswith(
        "95 %: lower end Jeffreys', upper end beta, weighted by 1/probability: 60 "
    )


def test_at_the_edges() -> None:
    none, all_of_them = (error_rate([each] * 60, GROUPS) for each in (False, True))
    assert (none.value, none.low, none.high) == (0.0, 0.0, proportion(0, 10).high)
    assert "no event, so each of 10 clusters counts once" in none.method
    assert (all_of_them.low, all_of_them.high) == (pytest.approx(stats.beta.ppf(0.025, 10.5, 0.5)), 1.0)
    assert error_rate([]).reason == "no cases to count"
    assert error_rate([True, False], ["a", "a"]).reason == "all answers belong to one cluster"


@pytest.mark.parametrize(("rate", "n"), [(0.02, 50), (0.05, 20), (0.1, 20), (0.1, 50), (0.2, 20), (0.4, 200)])
def test_it_holds_in_92_to_98_5_percent_of_all_studies_that_can_happen(rate: float, n: int) -> None:
    """Every count, as often as it comes."""
    held = sum(
        stats.binom.pmf(events, n, rate)
        for events in range(n + 1)
        if (found := error_rate(np.arange(n) < events)).low <= rate <= found.high
    )
    assert 0.92 <= held <= 0.985
