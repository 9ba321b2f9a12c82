"""Gwet, Fleiss, Conger, Brennan-Prediger: coefficients, standard errors and intervals equal to irrCAC."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss
from tests.agreement.reference_values import reference

from medjury.analysis.agreement import (
    brennan_prediger,
    cohen_kappa,
    conger_kappa,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
)
from medjury.analysis.agreement._chance_corrected import ChanceCorrected, chance_statistics, linearised
from medjury.analysis.agreement._kappa import agreement_weights
from medjury.analysis.agreement._scores import read_scale, read_scores
from medjury.statistics import evaluate

GWET = reference("gwet_ac_handbook_4raters_12units")
FLEISS = reference("kappa_fleiss_irr_diagnoses")
NAMES = {"gwet": "gwet", "fleiss": "fleiss", "conger": "conger", "bp": "brennan_prediger"}
FUNCTIONS = {"gwet": gwet_ac, "fleiss": fleiss_kappa, "conger": conger_kappa, "bp": brennan_prediger}


def weight_name(name: str) -> str:
    return "identity" if name == "unweighted" else name


def chance_corrected(table: object, *, scale: range, weights: str) -> dict[str, ChanceCorrected]:
    """The coefficients of a table, with Gwet's standard errors."""
    known = read_scale(scale)
    return linearised(read_scores(table, known, 2), known, agreement_weights(known.positions, weights))


@pytest.mark.parametrize("weights", GWET["expected"])
def test_every_coefficient_and_weighting_equals_irrcac(weights: str) -> None:
    """irrCAC rounds coefficients and standard errors to five decimals, but not the two agreements."""
    found = chance_corrected(GWET["data"], scale=range(1, 6), weights=weight_name(weights))
    for name, ours_is_called in NAMES.items():
        ours, expected = found[ours_is_called], GWET["expected"][weights][name]
        assert ours.observed == pytest.approx(expected["pa"], abs=1e-12)
        assert ours.chance == pytest.approx(expected["pe"], abs=1e-12)
        exact = (expected["pa"] - expected["pe"]) / (1 - expected["pe"])
        assert ours.value == pytest.approx(exact, abs=1e-12)
        assert ours.value == pytest.approx(expected["coeff"], abs=5.1e-6)
        assert ours.standard_error == pytest.approx(expected["se"], abs=5.1e-6)


@pytest.mark.parametrize("weights", GWET["expected"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_intervals_equal_irrcac(weights: str, name: str) -> None:
    found = FUNCTIONS[name](GWET["data"], scale=range(1, 6), weights=weight_name(weights), interval="gwet")
    low, high = GWET["python_irrCAC"]["expected"][weight_name(weights)][name]["confidence_interval"]
    assert (found.low, found.high) == pytest.approx((low, high), abs=5.1e-6)
    assert found.n == 12
    assert "Student t (Gwet 2014)" in found.method


def test_both_standard_errors_are_one_unless_items_were_scored_once() -> None:
    complete = [row for row in GWET["data"] if sum(cell is not None for cell in row) > 1]
    for name, found in chance_corrected(complete, scale=range(1, 6), weights="quadratic").items():
        assert found.ratio_error == pytest.approx(found.standard_error, abs=1e-12), name
    once = chance_corrected(GWET["data"], scale=range(1, 6), weights="quadratic")["gwet"]
    assert once.ratio_error < once.standard_error


def test_the_analytic_interval_stays_below_one_and_is_skewed() -> None:
    found = gwet_ac(GWET["data"], scale=range(1, 6), weights="linear", interval="analytic")
    assert found.low < found.value < found.high < 1.0
    assert found.value - found.low > found.high - found.value
    assert "log(1 − coefficient)" in found.method


def test_published_ac1() -> None:
    assert round(gwet_ac(GWET["data"], scale=range(1, 6)).value, 3) == GWET["python_irrCAC"]["published_AC1"]


@pytest.mark.parametrize("weights", ["unweighted", "quadratic", "ratio"])
def test_krippendorff_s_alpha_equals_irrcac(weights: str) -> None:
    """The unit of ordinal weights differs from alpha's ordinal metric, so it is not among them."""
    level = {"unweighted": "nominal", "quadratic": "interval", "ratio": "ratio"}[weights]
    expected = GWET["expected"][weights]["krippendorff"]
    ours = krippendorff_alpha(GWET["data"], level, interval="none").value
    assert ours == pytest.approx((expected["pa"] - expected["pe"]) / (1 - expected["pe"]), abs=1e-12)
    assert ours == pytest.approx(expected["coeff"], abs=5.1e-6)


@pytest.mark.parametrize("name", ["diagnoses", "anxiety_nominal", "binary_3raters"])
def test_fleiss_and_conger_equal_irr(name: str) -> None:
    case = FLEISS[name]
    levels = sorted({level for row in case["data"] for level in row})
    assert fleiss_kappa(case["data"], scale=levels).value == pytest.approx(case["fleiss"]["kappa"], abs=1e-12)
    if "conger_exact" in case:
        found = conger_kappa(case["data"], scale=levels)
        assert found.value == pytest.approx(case["conger_exact"]["kappa"], abs=1e-12)


def test_kappa_of_each_category_equals_irr_s_detail() -> None:
    case = FLEISS["diagnoses"]
    for row in case["fleiss"]["detail"]:
        one = [[int(level == row["category"]) for level in item] for item in case["data"]]
        assert fleiss_kappa(one, scale=[0, 1]).value == pytest.approx(row["kappa"], abs=5.1e-4)


def test_the_mean_of_pairwise_kappas_equals_irr_s_light() -> None:
    case = FLEISS["diagnoses"]
    levels = sorted({level for row in case["data"] for level in row})
    columns = np.array(case["data"], dtype=object).T
    kappas = [
        cohen_kappa(first, second, scale=levels, interval="none").value
        for first, second in combinations(columns, 2)
    ]
    assert np.mean(kappas) == pytest.approx(case["light"]["kappa"], abs=1e-12)


def test_values_on_given_resamples_equal_the_analysis_of_each() -> None:
    generator = np.random.default_rng(2)
    table = generator.integers(1, 5, size=(30, 3)).astype(float)
    table[generator.random(table.shape) < 0.2] = np.nan
    table = table[~np.isnan(table).all(axis=1)]
    resamples = generator.integers(0, len(table), size=(20, len(table)))
    ours = evaluate(table, chance_statistics(range(1, 5), "linear"), resamples)
    for place, chosen in enumerate(resamples):
        expected = chance_corrected(table[chosen], scale=range(1, 5), weights="linear")
        for name, values in ours.items():
            assert values[place] == pytest.approx(expected[name].value, abs=1e-12)


def test_fleiss_on_given_resamples_equals_statsmodels() -> None:
    generator = np.random.default_rng(3)
    table = generator.integers(0, 4, size=(25, 3))
    resamples = generator.integers(0, 25, size=(20, 25))
    ours = evaluate(table, chance_statistics(range(4), "identity", ["fleiss"]), resamples)["fleiss"]
    peer = [statsmodels_fleiss(aggregate_raters(table[each], n_cat=4)[0]) for each in resamples]
    assert ours == pytest.approx(peer, abs=1e-12)


def test_two_raters_make_conger_cohen_s_kappa() -> None:
    generator = np.random.default_rng(4)
    table = generator.integers(1, 6, size=(40, 2))
    for weights, cohen in (("identity", "none"), ("linear", "linear"), ("quadratic", "quadratic")):
        expected = cohen_kappa(*table.T, scale=range(1, 6), weights=cohen, interval="none").value
        assert conger_kappa(table, scale=range(1, 6), weights=weights).value == pytest.approx(expected)


def test_one_level_for_all_is_perfect_for_gwet_and_undefined_for_fleiss() -> None:
    table = [[2, 2, 2]] * 5
    found = gwet_ac(table, scale=[1, 2, 3])
    assert found.value == 1.0
    assert found.low is None
    assert "too few" in found.method
    assert fleiss_kappa(table, scale=[1, 2, 3]).reason.startswith("chance agreement is already complete")


def test_items_without_a_score_are_left_out_and_counted() -> None:
    found = gwet_ac([[1, 1], [2, 1], [None, None]], scale=[1, 2])
    assert found.n == 2
    assert "1 of 3 items without a score left out" in found.method


@pytest.mark.parametrize("function", FUNCTIONS.values())
def test_nothing_to_compare_is_undefined(function) -> None:
    for table in ([[1, None], [None, 2]], [[1], [2]], [[None, None]], []):
        found = function(table, scale=[1, 2])
        assert found.value is None
        assert found.reason == "no item was scored by two raters"
