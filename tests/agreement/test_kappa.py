"""Cohen's kappa: equal to R on the full scale, undefined where chance agreement is complete."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa
from tests.agreement.reference_values import reference

from medjury.analysis.agreement import cohen_kappa, confusion_matrix
from medjury.analysis.agreement._kappa import kappa_statistics
from medjury.foundation.errors import MedjuryError
from medjury.statistics import evaluate

VALUES = reference("kappa_cohen_irr_datasets")


def test_words_as_levels_equal_irr_and_the_large_sample_interval_equals_psych() -> None:
    case = VALUES["diagnoses"]
    first, second = zip(*case["data"], strict=True)
    found = cohen_kappa(first, second, scale=case["levels"], interval="analytic")
    assert found.value == pytest.approx(case["unweighted"]["kappa"], abs=1e-12)
    low, _, high = case["psych"]["ci_lower_est_upper"][0]
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)
    assert found.n == 30


@pytest.mark.parametrize("pair", VALUES["anxiety"]["pairs"], ids=lambda pair: str(pair["raters"]))
def test_weighted_kappa_uses_the_full_scale_not_the_observed_levels(pair: dict) -> None:
    scores = np.array(VALUES["anxiety"]["data"])
    first, second = (scores[:, rater - 1] for rater in pair["raters"])
    expected = {"none": pair["unweighted"]["kappa"], **pair["full_scale_1to6"]}
    for weights, value in expected.items():
        found = cohen_kappa(first, second, scale=range(1, 7), weights=weights, interval="analytic")
        assert found.value == pytest.approx(value, abs=1e-12)
    low, _, high = pair["psych"]["ci_lower_est_upper"][0]
    found = cohen_kappa(first, second, scale=range(1, 7), interval="analytic")
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)


def test_a_scale_cut_to_the_observed_levels_gives_irr_s_other_value() -> None:
    """Raters 2 and 3 never use level 5; irr then weights by rank and reports 0.252 instead of 0.230."""
    scores = np.array(VALUES["anxiety"]["data"])
    pair = VALUES["anxiety"]["pairs"][2]
    ranks = {level: place for place, level in enumerate(pair["observed_levels"])}
    first, second = ([ranks[score] for score in scores[:, rater]] for rater in (1, 2))
    cut = cohen_kappa(first, second, scale=range(5), weights="quadratic", interval="none")
    assert cut.value == pytest.approx(pair["squared"]["kappa"], abs=1e-12)
    assert cut.value != pytest.approx(pair["full_scale_1to6"]["quadratic"], abs=0.01)


def test_a_large_table_equals_irr() -> None:
    case = VALUES["vision"]
    counts = np.array(case["table"])
    first, second = (np.repeat(index.ravel(), counts.ravel()) for index in np.indices(counts.shape))
    for weights, name in (("none", "unweighted"), ("linear", "equal"), ("quadratic", "squared")):
        found = cohen_kappa(first, second, scale=range(4), weights=weights, interval="analytic")
        assert found.value == pytest.approx(case["expected"][name]["kappa"], abs=1e-12)
    assert confusion_matrix(first, second, scale=range(4)).tolist() == counts.tolist()


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_the_large_sample_variance_equals_statsmodels_for_every_weighting(weights: str) -> None:
    """psych's weighted variance is wrong (0.46 where this is 0.025), so statsmodels is the second opinion."""
    scores = np.array(VALUES["anxiety"]["data"])
    for first, second in combinations(scores.T, 2):
        found = cohen_kappa(first, second, scale=range(1, 7), weights=weights, interval="analytic")
        table = confusion_matrix(first, second, scale=range(1, 7))
        named = {"none": None, "linear": "linear", "quadratic": "quadratic"}[weights]
        other = cohens_kappa(table, wt=named)
        assert found.value == pytest.approx(other.kappa, abs=1e-12)
        assert found.high - found.low == pytest.approx(other.kappa_upp - other.kappa_low, abs=1e-9)


def test_kappa_on_given_resamples_equals_scikit_learn() -> None:
    generator = np.random.default_rng(3)
    first = generator.integers(1, 6, 80)
    second = np.clip(first + generator.integers(-1, 2, 80), 1, 5)
    resamples = generator.integers(0, 80, size=(40, 80))
    weights = ["none", "linear", "quadratic"]
    ours = evaluate(np.column_stack([first, second]), kappa_statistics(range(1, 6), weights), resamples)
    for name, kind in (("kappa", None), ("kappa_linear", "linear"), ("kappa_quadratic", "quadratic")):
        peer = [
            cohen_kappa_score(first[each], second[each], weights=kind, labels=[1, 2, 3, 4, 5])
            for each in resamples
        ]
        assert ours[name] == pytest.approx(peer, abs=1e-12)


def test_unequal_steps_between_levels_count_with_their_size() -> None:
    near = cohen_kappa([0, 1, 3, 0], [1, 1, 3, 0], scale=[0, 1, 3], weights="linear", interval="none")
    far = cohen_kappa([0, 1, 3, 3], [0, 1, 3, 1], scale=[0, 1, 3], weights="linear", interval="none")
    assert near.value > far.value


def test_two_raters_on_one_level_have_no_kappa() -> None:
    found = cohen_kappa([2, 2, 2], [2, 2, 2], scale=[1, 2, 3])
    assert found.value is None
    assert "same level" in found.reason
    assert found.n == 3


def test_no_overlap_is_undefined_and_counted() -> None:
    found = cohen_kappa([1, None], [None, 2], scale=[1, 2])
    assert found.value is None
    assert found.n == 0
    assert "2 of 2 pairs incomplete" in found.method


def test_incomplete_pairs_are_left_out_and_counted() -> None:
    found = cohen_kappa([1, 2, None, 2, 1], [1, 2, 1, float("nan"), 1], scale=[1, 2], interval="none")
    assert found.value == 1.0
    assert found.n == 3
    assert "2 of 5 pairs incomplete, left out" in found.method


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_perfect_agreement_has_no_large_sample_interval(weights: str) -> None:
    scores = [1, 2, 3, 1]
    found = cohen_kappa(scores, scores, scale=[1, 2, 3], weights=weights, interval="analytic")
    assert (found.value, found.low, found.high) == (1.0, None, None)
    assert found.method.startswith("no analytic interval for so few or so uniform data")


def test_scores_off_the_scale_are_named() -> None:
    with pytest.raises(MedjuryError, match=r"off the scale 1, 2, 3: 7 at item 2"):
        cohen_kappa([1, 7], [1, 2], scale=[1, 2, 3])
    with pytest.raises(MedjuryError, match=r"'maybe' at item 1"):
        cohen_kappa(["maybe"], ["yes"], scale=["yes", "no"])
