"""The posterior that one error rate is lower than another, against R's numerical integration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agreement.reference_values import reference

from medjury.analysis.agreement import compare_paired_rates, compare_rates
from medjury.analysis.agreement._rate_comparison import probability_lower
from medjury.foundation.errors import MedjuryError

COUNTS = st.integers(0, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize("case", reference("beta_binomial_prob_p1_lt_p2_flat")["cases"])
def test_flat_prior_equals_r(case: dict[str, float]) -> None:
    found = probability_lower(case["k1"], case["n1"], case["k2"], case["n2"])
    assert found == pytest.approx(case["prob_p1_lt_p2"], abs=1e-9)


@given(COUNTS, COUNTS, st.sampled_from([1.0, 0.5]))
def test_swapping_the_sides_gives_the_complement(
    first: tuple[int, int], second: tuple[int, int], prior: float
) -> None:
    one = probability_lower(*first, *second, prior=prior)
    other = probability_lower(*second, *first, prior=prior)
    assert one + other == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("counts", [(0, 79, 0, 9), (3, 9, 9, 79), (12, 330, 6, 30), (1, 50_000, 0, 7)])
def test_jeffreys_prior_agrees_with_simulation(counts: tuple[int, int, int, int]) -> None:
    k1, n1, k2, n2 = counts
    generator = np.random.default_rng(1)
    first = generator.beta(k1 + 0.5, n1 - k1 + 0.5, 400_000)
    second = generator.beta(k2 + 0.5, n2 - k2 + 0.5, 400_000)
    assert probability_lower(*counts, prior=0.5) == pytest.approx((first < second).mean(), abs=0.003)


def test_paired_rates_agree_with_a_simulated_dirichlet() -> None:
    both, only_1, only_2, neither = 3, 2, 9, 60
    draws = np.random.default_rng(1).dirichlet([both + 1, only_1 + 1, only_2 + 1, neither + 1], 400_000)
    lower = (draws[:, 0] + draws[:, 1] < draws[:, 0] + draws[:, 2]).mean()
    compared = compare_paired_rates(both, only_1, only_2, neither)
    assert compared.flat == pytest.approx(lower, abs=0.003)
    assert (compared.errors_1, compared.errors_2, compared.n_1) == (5, 12, 74)


def test_a_prior_that_piles_up_at_the_ends_is_refused() -> None:
    with pytest.raises(MedjuryError, match="piles up"):
        probability_lower(1, 2, 1, 2, prior=0.1)
    with pytest.raises(MedjuryError, match="3 errors in 2 cases"):
        compare_rates(3, 2, 1, 2)
