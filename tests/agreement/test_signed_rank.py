"""Wilcoxon's signed-rank test: exact with ties and zeros, where scipy's exact method is not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tests.agreement.reference_values import reference

from medjury.analysis.agreement import kendall_tau_b, spearman, wilcoxon_signed_rank
from medjury.foundation.errors import MedjuryError

VALUES = reference("wilcoxon_signed_rank_ties_zeros")


def test_exact_with_ties_and_zeros_equals_coin_and_exactranktests() -> None:
    case = VALUES["likert"]
    dropped = wilcoxon_signed_rank(case["y"], case["x"], method="exact")
    assert dropped.p_value == pytest.approx(case["exactRankTests"]["p"], abs=1e-12)
    assert dropped.rank_sum == case["exactRankTests"]["V"]
    assert dropped.n_zero == case["n_zero"]
    assert dropped.z == pytest.approx(case["coin_wilcoxon_exact"]["Z"], abs=1e-12)
    ranked = wilcoxon_signed_rank(case["y"], case["x"], method="exact", zeros="pratt")
    assert ranked.p_value == pytest.approx(case["coin_pratt_exact"]["p"], abs=1e-12)
    assert ranked.z == pytest.approx(case["coin_pratt_exact"]["Z"], abs=1e-12)


@pytest.mark.parametrize("name", ["likert", "classic"])
def test_the_normal_approximation_equals_r(name: str) -> None:
    case = VALUES[name]
    for correction, expected in ((True, case["R_wilcox_cc"]), (False, case["R_wilcox_nocc"])):
        found = wilcoxon_signed_rank(case["y"], case["x"], method="normal", correction=correction)
        assert found.rank_sum == expected["V"]
        assert found.p_value == pytest.approx(expected["p"], abs=1e-12)


def test_pratt_s_normal_approximation_equals_coin() -> None:
    case = VALUES["likert"]
    found = wilcoxon_signed_rank(case["y"], case["x"], method="normal", zeros="pratt")
    assert found.p_value == pytest.approx(case["coin_pratt"]["p"], abs=1e-12)


def test_without_ties_the_exact_value_is_the_textbook_s() -> None:
    case = VALUES["no_ties_exact"]
    found = wilcoxon_signed_rank(case["y"], case["x"])
    assert (found.rank_sum, found.p_value) == (case["exact"]["V"], case["exact"]["p"])


def test_all_zero_differences_give_no_p_value() -> None:
    case = VALUES["all_zero"]
    found = wilcoxon_signed_rank(case["x"], case["y"])
    assert found.p_value is None
    assert found.reason == "every difference is zero"
    assert found.rank_sum == case["R"]["V"]


def test_scipy_s_exact_method_is_the_trap_we_avoid() -> None:
    """If this fails, scipy has learnt to count ties, and the README of these tests must say so."""
    case = VALUES["likert"]
    with np.errstate(all="ignore"):
        peer = stats.wilcoxon(case["y"], case["x"], method="exact", zero_method="wilcox").pvalue
    assert peer != pytest.approx(case["exactRankTests"]["p"], abs=1e-4)


def test_the_exact_distribution_equals_full_enumeration() -> None:
    generator = np.random.default_rng(4)
    difference = generator.integers(-3, 4, size=12)
    difference = difference[difference != 0]
    ranks = stats.rankdata(np.abs(difference))
    signs = (np.arange(2 ** len(ranks))[:, np.newaxis] >> np.arange(len(ranks))) & 1
    sums = signs @ ranks
    observed = ranks[difference > 0].sum()
    expected = min(1.0, 2 * min((sums <= observed).mean(), (sums >= observed).mean()))
    found = wilcoxon_signed_rank(np.zeros(len(difference)), difference)
    assert found.p_value == pytest.approx(expected, abs=1e-12)


def test_the_exact_distribution_of_very_many_differences_is_refused() -> None:
    with pytest.raises(MedjuryError, match="up to 1000 differences, not 2000"):
        wilcoxon_signed_rank(np.zeros(2000), np.arange(1.0, 2001.0), method="exact")


def test_many_differences_are_taken_as_normal_and_say_so() -> None:
    generator = np.random.default_rng(5)
    first, second = generator.normal(size=(2, 300))
    found = wilcoxon_signed_rank(first, second)
    assert "normal approximation" in found.method
    exact = wilcoxon_signed_rank(first, second, method="exact")
    assert found.p_value == pytest.approx(exact.p_value, abs=2e-3)


def means_of_raters(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two panels' means, as floats that carry rounding, and their exact differences in eighteenths."""
    generator = np.random.default_rng(seed)
    nine, two = generator.integers(1, 6, (14, 9)), generator.integers(1, 6, (14, 2))
    exact = 9 * two.sum(axis=1) - 2 * nine.sum(axis=1)
    return nine.mean(axis=1), two.mean(axis=1), exact


def test_a_tie_in_size_is_a_tie_whatever_the_sign_and_the_rounding() -> None:
    """+1/18 and −1/18 share their rank."""
    for seed in range(60):
        first, second, exact = means_of_raters(seed)
        found = wilcoxon_signed_rank(first, second)
        wanted = wilcoxon_signed_rank(np.zeros(14), exact)
        assert found.p_value == pytest.approx(wanted.p_value, abs=1e-12)
        assert (found.rank_sum, found.n_zero) == (wanted.rank_sum, wanted.n_zero)


def test_opposite_differences_of_a_size_balance() -> None:
    first = np.array([4 + 1 / 18, 4.0, 3 + 1 / 18, 3.0, 2 + 1 / 18, 2.0])
    second = np.array([4.0, 4 + 1 / 18, 3.0, 3 + 1 / 18, 2.0, 2 + 1 / 18])
    assert wilcoxon_signed_rank(first, second).p_value == 1.0


def test_rank_correlations_of_means_tie_where_the_means_are_the_same() -> None:
    """0.1 + 0.2 is 0.3, however it was added up."""
    one = np.array([0.1 + 0.2, 0.3, 0.3, 0.7 + 0.1, 0.8, 0.2])
    clean = np.round(one, 6)
    other = np.array([1.0, 2, 3, 4, 5, 6])
    assert len(np.unique(one)) > len(np.unique(clean))
    assert spearman(one, other).value == pytest.approx(stats.spearmanr(clean, other).statistic)
    assert kendall_tau_b(one, other).value == pytest.approx(stats.kendalltau(clean, other).statistic)
