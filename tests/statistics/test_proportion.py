"""Shares of counts and tests on counts, against R."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agreement.reference_values import reference

from medjury.foundation.errors import MedjuryError
from medjury.statistics import binomial_test, fisher_test, mcnemar, proportion

R = reference("binomial_tests_and_intervals")


@pytest.mark.parametrize("case", R["cases"], ids=lambda case: f"{case['k']} of {case['n']}")
def test_intervals_and_tests_equal_those_of_r(case: dict[str, object]) -> None:
    k, n = case["k"], case["n"]
    named = {"clopper_pearson": "clopper_pearson", "wilson": "wilson", "jeffreys": "jeffreys"}
    for interval, key in {**named, "flat_prior": "flat_prior_equal_tailed"}.items():
        estimate = proportion(k, n, interval=interval)
        assert (estimate.low, estimate.high) == pytest.approx(tuple(case[key]), abs=1e-9)
        assert estimate.value == pytest.approx(case["estimate"], abs=1e-12)
    assert binomial_test(k, n) == pytest.approx(case["p_two_sided_vs_half"], abs=1e-9)


def test_mcnemar_uses_only_the_items_on_which_one_side_is_right() -> None:
    (_, only_first), (only_second, _) = R["mcnemar"]["table"]
    found = mcnemar(only_first, only_second)
    assert found.exact == pytest.approx(R["mcnemar"]["exact_binom"], abs=1e-9)
    assert found.chi_square == pytest.approx(R["mcnemar"]["chisq_nocc"], abs=1e-9)
    assert found.chi_square_corrected == pytest.approx(R["mcnemar"]["chisq_cc"], abs=1e-9)
    assert mcnemar(0, 0).exact == 1.0


def test_fisher_p_value_equals_that_of_r() -> None:
    table = tuple(tuple(row) for row in R["fisher"]["table"])
    assert fisher_test(table)[0] == pytest.approx(R["fisher"]["p"], abs=1e-9)


def test_fisher_odds_ratio_solves_its_equation_where_r_stops_searching_early() -> None:
    """R's fisher.test looks for the ratio with uniroot's default tolerance of 1e-4, so only three digits of its
    10.2955 are right. Under the ratio, the expected first cell must be the observed 18."""
    from scipy.stats import nchypergeom_fisher

    found = fisher_test(((18, 9), (2, 11)))[1]
    assert found.value == pytest.approx(R["fisher"]["or_cond_mle"], rel=1e-3)
    assert (found.low, found.high) == pytest.approx(tuple(R["fisher"]["ci"]), rel=1e-3)
    assert nchypergeom_fisher.mean(40, 20, 27, found.value) == pytest.approx(18, abs=1e-9)


def test_an_empty_margin_or_cell_gives_no_ratio_and_says_why() -> None:
    assert "empty" in fisher_test(((0, 0), (3, 4)))[1].reason
    assert "infinite" in fisher_test(((5, 0), (0, 5)))[1].reason


def test_no_cases_is_undefined_and_impossible_counts_are_refused() -> None:
    assert proportion(0, 0).reason == "no cases to count"
    with pytest.raises(MedjuryError, match="4 out of 3"):
        proportion(4, 3)


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_every_interval_holds_the_share_and_stays_within_zero_and_one(counts: tuple[int, int]) -> None:
    k, n = counts
    for interval in ("clopper_pearson", "wilson"):
        estimate = proportion(k, n, interval=interval)
        assert 0 <= estimate.low <= k / n <= estimate.high <= 1
