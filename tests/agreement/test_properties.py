"""What must hold for any data: invariance, bounds, perfect and chance agreement, and kinship of coefficients."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from medjury.analysis.agreement import (
    brennan_prediger,
    cohen_kappa,
    conger_kappa,
    cronbach_alpha,
    fleiss_kappa,
    icc,
    icc_3_k_z,
    intraclass_correlations,
    kendall_tau_b,
    kendall_w,
    many_raters,
    pearson,
    spearman,
    two_raters,
)
from medjury.analysis.agreement._krippendorff import krippendorff_alphas
from medjury.statistics import Estimate

SCALE = range(1, 6)
LEVELS = st.integers(1, 5)
quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def tables(raters: int | None = None, items: tuple[int, int] = (2, 15)) -> st.SearchStrategy[np.ndarray]:
    """Complete tables of items by raters on the scale 1 to 5."""
    width = st.just(raters) if raters else st.integers(2, 4)
    shape = st.tuples(st.integers(*items), width)
    return shape.flatmap(lambda size: arrays.arrays(np.float64, size, elements=LEVELS.map(float)))


def varied(most: int, least: int = 2) -> st.SearchStrategy[list[int]]:
    """Scores of which two at least differ."""
    return st.tuples(st.permutations(SCALE), st.lists(LEVELS, min_size=least - 2, max_size=most - 2)).flatmap(
        lambda drawn: st.permutations([*drawn[0][:2], *drawn[1]])
    )


def holed_tables() -> st.SearchStrategy[list]:
    cell = st.one_of(st.none(), LEVELS)
    return st.integers(1, 4).flatmap(
        lambda raters: st.lists(st.lists(cell, min_size=raters, max_size=raters), min_size=0, max_size=8)
    )


def assert_same(first: dict[str, Estimate], second: dict[str, Estimate]) -> None:
    assert first.keys() == second.keys()
    for name, one in first.items():
        two = second[name]
        assert (one.value is None) == (two.value is None), name
        if one.value is not None and two.value is not None:
            assert one.value == pytest.approx(two.value, abs=1e-9), name


@quick
@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_items_does_not_matter_not_even_for_the_interval(table, random) -> None:
    order = list(range(len(table)))
    random.shuffle(order)
    names = ["krippendorff_alpha_ordinal", "icc_2_1", "conger_kappa", "kendall_w"]
    first = many_raters(table, scale=SCALE, statistics=names, interval="bca", resamples=60)
    second = many_raters(table[order], scale=SCALE, statistics=names, interval="bca", resamples=60)
    assert_same(first, second)
    for name in names:
        if first[name].low is not None:
            assert first[name].low == pytest.approx(second[name].low, abs=1e-9)
            assert first[name].high == pytest.approx(second[name].high, abs=1e-9)


@quick
@given(tables(), st.randoms(use_true_random=False))
def test_the_names_of_raters_do_not_matter(table, random) -> None:
    order = list(range(table.shape[1]))
    random.shuffle(order)
    shuffled = many_raters(table[:, order], scale=SCALE, interval="none")
    assert_same(many_raters(table, scale=SCALE, interval="none"), shuffled)


@quick
@given(tables(raters=2))
def test_swapping_two_raters_only_turns_the_sign_of_the_offset(table) -> None:
    first = two_raters(*table.T, scale=SCALE, interval="none")
    second = two_raters(*table.T[::-1], scale=SCALE, interval="none")
    signed = {"offset", "median_difference", "difference_q1", "difference_q3"}
    unsigned = {name for name in first if name not in signed}
    assert_same({name: first[name] for name in unsigned}, {name: second[name] for name in unsigned})
    assert first["offset"].value == pytest.approx(-second["offset"].value)
    assert first["difference_q1"].value == pytest.approx(-second["difference_q3"].value)


@quick
@given(tables())
def test_coefficients_stay_within_their_bounds(table) -> None:
    found = many_raters(table, scale=SCALE, interval="none")
    for name, estimate in found.items():
        if estimate.value is not None:
            assert estimate.value <= 1.0 + 1e-9, name
    if found["kendall_w"].value is not None:
        assert found["kendall_w"].value >= 0.0
    pair = two_raters(*table.T[:2], scale=SCALE, interval="none")
    for name in ("pearson", "spearman", "kendall_tau_b", "kappa", "kappa_linear", "kappa_quadratic"):
        if pair[name].value is not None:
            assert -1.0 - 1e-9 <= pair[name].value <= 1.0 + 1e-9, name
    assert 0.0 <= pair["exact_match"].value <= 1.0
    assert pair["absolute_offset"].value <= pair["mae"].value + 1e-9
    assert pair["mae"].value <= pair["rmse"].value + 1e-9


@quick
@given(tables(raters=2, items=(3, 20)), st.sampled_from(["bca", "percentile", "basic"]))
def test_an_interval_is_ordered_and_a_percentile_one_stays_within_the_bounds(table, interval) -> None:
    for name, found in two_raters(*table.T, scale=SCALE, interval=interval, resamples=99).items():
        if found.low is not None and found.high is not None:
            assert found.low <= found.high, name
            if interval != "basic" and name not in ("offset", "mae", "rmse") and "difference" not in name:
                assert found.low >= -1.0 - 1e-9, name
                assert found.high <= (4.0 if name == "absolute_offset" else 1.0) + 1e-9, name


@quick
@given(varied(15), st.integers(2, 4))
def test_perfect_agreement_is_one_wherever_it_is_defined(scores, raters) -> None:
    table = np.repeat(np.array(scores, dtype=float)[:, np.newaxis], raters, axis=1)
    for name, found in many_raters(table, scale=SCALE, interval="none").items():
        assert found.value == pytest.approx(1.0), name
    pair = two_raters(scores, scores, scale=SCALE, interval="none")
    for name in (
        "pearson",
        "spearman",
        "kendall_tau_b",
        "kappa",
        "kappa_linear",
        "kappa_quadratic",
        "exact_match",
    ):
        assert pair[name].value == pytest.approx(1.0), name
    for name in ("offset", "absolute_offset", "mae", "rmse", "median_difference"):
        assert pair[name].value == 0.0, name


@quick
@given(varied(6), varied(6))
def test_independent_raters_agree_by_chance_alone(first, second) -> None:
    """Every score of one rater meets every score of the other: the joint table is the product of its margins."""
    pairs = np.array([(one, two) for one in first for two in second])
    found = two_raters(*pairs.T, scale=SCALE, interval="none")
    for name in ("kappa", "kappa_linear", "kappa_quadratic", "pearson", "spearman", "kendall_tau_b"):
        assert found[name].value == pytest.approx(0.0, abs=1e-9), name
    assert conger_kappa(pairs, scale=SCALE).value == pytest.approx(0.0, abs=1e-9)


def test_uniform_independent_raters_have_no_agreement_beyond_uniform_chance() -> None:
    pairs = [(one, two) for one in SCALE for two in SCALE]
    assert brennan_prediger(pairs, scale=SCALE).value == pytest.approx(0.0, abs=1e-12)
    assert fleiss_kappa(pairs, scale=SCALE).value == pytest.approx(0.0, abs=1e-12)


@quick
@given(tables(items=(3, 15)), st.lists(st.floats(-50, 50), min_size=4, max_size=4), st.floats(0.1, 20))
def test_consistency_ignores_each_rater_s_offset_and_the_common_unit(table, shifts, unit) -> None:
    moved = unit * table + np.array(shifts)[: table.shape[1]]
    before, after = intraclass_correlations(table), intraclass_correlations(moved)
    for form in ("icc_3_1", "icc_3_k"):
        assert_same({form: before[form]}, {form: after[form]})
        if before[form].low is not None and after[form].low is not None:
            assert before[form].low == pytest.approx(after[form].low, abs=1e-6)


@quick
@given(tables(items=(3, 15)), st.floats(-50, 50), st.floats(0.1, 20))
def test_absolute_agreement_ignores_only_a_change_common_to_all_raters(table, shift, unit) -> None:
    together = unit * table + shift
    assert_same(
        intraclass_correlations(table, interval="none"), intraclass_correlations(together, interval="none")
    )
    assert_same(krippendorff_alphas(table, interval="none"), krippendorff_alphas(together, interval="none"))


@quick
@given(tables(raters=2, items=(3, 15)))
def test_rank_statistics_see_only_the_order(table) -> None:
    stretched = table**3 + 7
    for statistic in (spearman, kendall_tau_b):
        before, after = statistic(*table.T, interval="none"), statistic(*stretched.T, interval="none")
        assert_same({"": before}, {"": after})
    assert_same({"": kendall_w(table, interval="none")}, {"": kendall_w(stretched, interval="none")})
    names = ["nominal", "ordinal"]
    assert_same(
        krippendorff_alphas(table, names, interval="none"),
        krippendorff_alphas(stretched, names, interval="none"),
    )


@quick
@given(tables(raters=2, items=(3, 20)))
def test_quadratic_kappa_is_the_concordance_correlation_and_the_limit_of_icc_2_1(table) -> None:
    """κ = 2 s_xy/(s_x² + s_y² + (x̄ − ȳ)²) exactly (Lin 1989), and ICC(2,1) tends to it as the same items are
    repeated: only terms in 1/n part them (Fleiss & Cohen 1973)."""
    kappa = cohen_kappa(*table.T, scale=SCALE, weights="quadratic", interval="none").value
    x, y = table.T
    below = x.var() + y.var() + (x.mean() - y.mean()) ** 2
    if kappa is None:
        assert x.var() * y.var() == 0.0  # one of them gave the same grade throughout
        return
    assert kappa == pytest.approx(2 * np.mean((x - x.mean()) * (y - y.mean())) / below, abs=1e-9)
    gaps = []
    for times in (500, 2000):
        value = icc(np.tile(table, (times, 1)), "icc_2_1", interval="none").value
        assert value is not None
        gaps.append(abs(value - kappa))
    assert gaps[1] < 2e-3
    assert gaps[1] <= gaps[0] / 3.5 + 1e-9


@quick
@given(tables(items=(3, 15)))
def test_the_average_s_reliability_is_spearman_brown_of_the_single_s(table) -> None:
    found = intraclass_correlations(table, interval="none")
    k = table.shape[1]
    for model in "123":
        single, average = found[f"icc_{model}_1"].value, found[f"icc_{model}_k"].value
        if single is not None and average is not None:
            assert average == pytest.approx(k * single / (1 + (k - 1) * single), rel=1e-6, abs=1e-9)
    alpha = cronbach_alpha(table, interval="none").value
    assert (alpha is None) == (found["icc_3_k"].value is None)
    if alpha is not None:
        assert alpha == pytest.approx(found["icc_3_k"].value, rel=1e-9)


@quick
@given(varied(20, least=4).flatmap(lambda first: st.tuples(st.just(first), varied(len(first), len(first)))))
def test_icc_3_k_on_two_z_scored_raters_is_two_r_over_one_plus_r(pair) -> None:
    r = pearson(*pair, interval="none").value
    assert r is not None
    found = icc_3_k_z(*pair, interval="none").value
    if r > -0.99:
        assert found == pytest.approx(2 * r / (1 + r), rel=1e-6, abs=1e-9)
    else:  # where 1 + r is next to nothing, digits say nothing; the value is far below -1
        assert found is None or found < -190


@settings(quick, max_examples=40)
@given(holed_tables())
def test_any_table_gives_numbers_or_reasons_never_nan_and_never_an_exception(table) -> None:
    for found in (
        many_raters(table, scale=SCALE, resamples=20),
        many_raters(table, scale=SCALE, resamples=20, interval="bca"),
        intraclass_correlations(table, missing="all_cells"),
    ):
        for name, estimate in found.items():
            assert (estimate.value is None) == bool(estimate.reason), name
            assert estimate.value is None or math.isfinite(estimate.value), name


@settings(quick, max_examples=100)
@given(st.lists(st.tuples(st.one_of(st.none(), LEVELS), st.one_of(st.none(), LEVELS)), max_size=8))
def test_any_two_raters_give_numbers_or_reasons(pairs) -> None:
    first, second = [one for one, _ in pairs], [two for _, two in pairs]
    for interval in ("bca", "analytic"):
        for name, found in two_raters(first, second, scale=SCALE, interval=interval, resamples=20).items():
            assert (found.value is None) == bool(found.reason), name
