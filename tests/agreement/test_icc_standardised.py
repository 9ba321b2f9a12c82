"""ICC(3,k) on z-scores: equal to R, equal to 2r/(1 + r), blind to offsets."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from tests.agreement.reference_values import reference

from medjury.analysis.agreement import icc, icc_3_k_z, intraclass_correlations, mean_icc_3_k_z, pearson
from medjury.analysis.agreement._icc import coefficient
from medjury.analysis.agreement._icc_standardised import standardised_mean_squares, standardised_statistics
from medjury.foundation.errors import MedjuryError

VALUES = reference("icc3k_zscored_two_raters_medhelm")
CLINICIANS, JURY = VALUES["data"]["clinician_mean"], VALUES["data"]["jury_mean"]


def panel(items: int = 40) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(11)
    truth = generator.normal(size=(items, 1))
    first = truth + generator.normal(size=(items, 3)) * [1.0, 2.0, 3.0]
    return first, truth + generator.normal(size=(items, 2))


def test_two_means_equal_r_and_the_identity() -> None:
    found = icc_3_k_z(CLINICIANS, JURY, interval="analytic")
    assert found.value == pytest.approx(VALUES["icc3k_from_ms"], abs=1e-12)
    r = pearson(CLINICIANS, JURY, interval="none").value
    assert r == pytest.approx(VALUES["pearson_r"], abs=1e-12)
    assert found.value == pytest.approx(2 * r / (1 + r), abs=1e-12)
    expected = VALUES["psych_zscored"]["results"][5]
    assert (found.low, found.high) == pytest.approx((expected["lower"], expected["upper"]), abs=1e-9)


def test_the_raw_forms_beside_it_equal_psych() -> None:
    found = intraclass_correlations(np.column_stack([CLINICIANS, JURY]), interval="analytic")
    for row, form in zip(VALUES["psych_raw"]["results"], found.values(), strict=True):
        assert form.value == pytest.approx(row["icc"], abs=1e-12)
        assert (form.low, form.high) == pytest.approx((row["lower"], row["upper"]), abs=1e-9)


def test_of_two_raters_it_is_the_same_whether_stepped_up_or_from_mean_squares() -> None:
    """On every resample, and it does not exist on the same ones: a rater without spread, opposite raters."""
    generator = np.random.default_rng(4)
    alike = generator.integers(1, 6, (12, 2)).astype(float)
    opposite = np.array([[1.0, 5.0], [2.0, 4.0], [5.0, 1.0], [5.0, 2.0]])
    lacking = []
    for rows in (alike, opposite, generator.normal(3.0, 1.0, (9, 2))):
        weights = generator.multinomial(5, np.full(len(rows), 1 / len(rows)), size=400).astype(float)
        squares = standardised_mean_squares(rows, np.arange(2))
        with np.errstate(divide="ignore", invalid="ignore"):
            found = standardised_statistics(np.arange(2))(rows)(weights)["icc_3_k_z"]
            expected = coefficient(squares(weights), "icc_3_k")
        assert np.isnan(found).tolist() == np.isnan(expected).tolist()
        lacking.append(int(np.isnan(found).sum()))
        assert np.nanmax(np.abs(found - expected) / np.maximum(np.abs(expected), 1.0)) < 1e-6
    assert lacking[0] > 0 and lacking[1] > 0


def test_it_is_consistency_a_judge_far_too_high_scores_one() -> None:
    generous = [2 * score + 7 for score in CLINICIANS]
    assert icc_3_k_z(CLINICIANS, generous, interval="none").value == pytest.approx(1.0)
    raw = icc(np.column_stack([CLINICIANS, generous]), "icc_2_1")
    assert raw.value < 0.2


def test_the_order_of_averaging_and_standardising_matters() -> None:
    first, second = panel()
    average_first = icc_3_k_z(first, second, interval="none")
    standardise_first = icc_3_k_z(first, second, order="standardise_first", interval="none")
    means = [group.mean(axis=1) for group in (first, second)]
    assert average_first.value == pytest.approx(icc_3_k_z(*means, interval="none").value, abs=1e-12)
    scores = [
        ((group - group.mean(axis=0)) / group.std(axis=0, ddof=1)).mean(axis=1) for group in (first, second)
    ]
    expected = icc(np.column_stack(scores), "icc_3_k").value
    assert standardise_first.value == pytest.approx(expected, abs=1e-12)
    assert abs(average_first.value - standardise_first.value) > 0.01


def test_the_bootstrap_standardises_anew_in_every_resample() -> None:
    """Otherwise a resample's z-scores would not be z-scores, and the interval would not be that of 2r/(1 + r)."""
    z = icc_3_k_z(CLINICIANS, JURY, interval="percentile", resamples=2000)
    r = pearson(CLINICIANS, JURY, interval="percentile", resamples=2000)
    assert (z.low, z.high) == pytest.approx((2 * r.low / (1 + r.low), 2 * r.high / (1 + r.high)), abs=1e-3)


def test_a_constant_rater_has_no_z_scores() -> None:
    found = icc_3_k_z([3, 3, 3, 3], [1, 2, 3, 4])
    assert found.value is None
    assert "z-score does not exist" in found.reason


def test_one_group_or_unequal_groups_are_refused() -> None:
    with pytest.raises(MedjuryError, match="two or more groups"):
        icc_3_k_z([1, 2, 3])
    with pytest.raises(MedjuryError, match="3, 2 items"):
        icc_3_k_z([1, 2, 3], [1, 2])


def test_each_rater_first_by_hand_where_all_rated_all() -> None:
    """Three items; the clinicians said 1, 2, 3 and 6, 2, 4, the jury 3, 1, 2."""
    clinicians, jury = [[1, 6], [2, 2], [3, 4]], [3, 1, 2]
    # z of the first clinician (mean 2, SD 1): -1, 0, 1; of the second (mean 4, SD 2): 1, -1, 0.
    # Their means: 0, -1/2, 1/2. z of the jury (mean 2, SD 1): 1, -1, 0. Both columns sum to zero.
    # Item totals: 1, -3/2, 1/2. SS items = (1 + 9/4 + 1/4) / 2 = 7/4; MS = 7/8.
    # SS total = (0 + 1/4 + 1/4) + (1 + 1 + 0) = 5/2; SS error = 5/2 - 7/4 - 0 = 3/4; MS = 3/8.
    by_hand = (Fraction(7, 8) - Fraction(3, 8)) / Fraction(7, 8)
    assert by_hand == Fraction(4, 7)
    found = icc_3_k_z(clinicians, jury, order="standardise_first", interval="none")
    assert found.value == pytest.approx(float(by_hand), abs=1e-12)
    # Averaged first: 7/2, 2, 7/2 with the jury's 3, 1, 2. r = (3/2) / sqrt(3/2 * 2) = sqrt(3)/2, and 2r/(1 + r).
    other = icc_3_k_z(clinicians, jury, interval="none")
    assert other.value == pytest.approx(sqrt(3) / (1 + sqrt(3) / 2), abs=1e-12)


def test_a_pair_of_clinicians_by_hand_and_the_pairs_that_count() -> None:
    """The same two clinicians share items 2 and 3; a third shares one item with each, which is no pair."""
    nothing = None
    table = [[1, nothing, nothing], [2, 6, 5], [3, 2, nothing], [nothing, 4, nothing], [nothing, nothing, 2]]
    # z on items 2 and 3: (0, 1) and (1, -1). Item totals 1, 0; grand total 1; correction 1/4.
    # SS items = 1/2 - 1/4 = 1/4. SS raters = (1 + 0)/2 - 1/4 = 1/4. SS total = 0 + 1 + 1 + 1 - 1/4 = 11/4.
    # SS error = 11/4 - 1/4 - 1/4 = 9/4, one degree of freedom each. ICC = (1/4 - 9/4) / (1/4) = -8.
    found = mean_icc_3_k_z(table, interval="none")
    assert found.value == pytest.approx(-8.0, abs=1e-12)
    assert "mean over 1 of 3 pairs of raters" in found.method
    assert found.n == 2


def test_the_mean_over_complete_pairs_is_the_mean_of_their_coefficients() -> None:
    first, _ = panel()
    pairs = [
        icc_3_k_z(first[:, one], first[:, two], interval="none").value
        for one, two in ((0, 1), (0, 2), (1, 2))
    ]
    found = mean_icc_3_k_z(first, resamples=300)
    assert found.value == pytest.approx(np.mean(pairs), abs=1e-12)
    assert "mean over 3 of 3 pairs" in found.method
    assert found.low < found.value < found.high


def test_a_clinician_with_one_item_has_no_z_score_and_no_say() -> None:
    first, second = panel()
    once = np.full((40, 1), np.nan)
    once[3] = 100.0
    with_once = icc_3_k_z(np.hstack([first, once]), second, order="standardise_first", interval="none")
    without = icc_3_k_z(first, second, order="standardise_first", interval="none")
    assert with_once.value == pytest.approx(without.value, abs=1e-12)
    assert "without spread, so without a z-score: 1 rater" in with_once.method


def test_pairs_that_share_one_item_give_nothing() -> None:
    found = mean_icc_3_k_z([[1, 2], [2, None], [None, 3]])
    assert found.value is None
    assert found.reason == "no two raters share two items"


def sparse(pairs: int) -> np.ndarray:
    """Pairs of clinicians who share four items each, and no item with anybody else."""
    generator = np.random.default_rng(5)
    table = np.full((4 * pairs, 2 * pairs), np.nan)
    for pair in range(pairs):
        seen = generator.permutation(4) + 1.0
        table[4 * pair : 4 * pair + 4, 2 * pair] = seen
        table[4 * pair : 4 * pair + 4, 2 * pair + 1] = seen + generator.normal(0, 1.0, 4)
    return table


def test_pairs_with_a_handful_of_items_are_resampled_as_pairs() -> None:
    """A resample of items leaves such a pair one of them, or two in the opposite order: no lower limit."""
    table = sparse(12)
    alone = [
        icc_3_k_z(table[:, 2 * pair], table[:, 2 * pair + 1], interval="none").value for pair in range(12)
    ]
    found = mean_icc_3_k_z(table)
    assert found.value == pytest.approx(np.mean(alone), abs=1e-12)
    assert min(alone) <= found.low < found.value < found.high <= 1.0
    assert "resamples of 12 pairs of raters" in found.method and found.n == 48
    by_case = mean_icc_3_k_z(table, clusters=[f"patient {row // 2}" for row in range(48)])
    assert (by_case.low, by_case.high) == (found.low, found.high)


def test_fewer_than_ten_such_pairs_have_no_interval() -> None:
    found = mean_icc_3_k_z(sparse(9))
    assert found.value is not None and found.low is None and found.high is None
    assert "no interval: 9 pairs of raters are too few" in found.method


@pytest.mark.simulation
@pytest.mark.parametrize(("shared", "average", "held"), [(5, 0.60, 0.79), (8, 0.73, 0.90)])
def test_with_few_shared_items_the_mean_is_too_low_and_the_interval_is_of_the_true_value(
    shared: int, average: float, held: float
) -> None:
    """What the page of the recipe medhelm-jury says of twelve pairs whose true ICC is 0.80."""
    generator = np.random.default_rng(shared)
    found = []
    for _ in range(400):
        table = np.full((12 * shared, 24), np.nan)
        for pair in range(12):
            truth = generator.normal(size=(shared, 1))
            rows, columns = slice(shared * pair, shared * (pair + 1)), slice(2 * pair, 2 * pair + 2)
            table[rows, columns] = sqrt(2 / 3) * truth + sqrt(1 / 3) * generator.normal(size=(shared, 2))
        found.append(mean_icc_3_k_z(table))
    mean = np.mean([each.value for each in found])
    assert mean == pytest.approx(average, abs=0.03)
    assert np.mean([each.low <= 0.80 <= each.high for each in found]) == pytest.approx(0.97, abs=0.025)
    assert np.mean([each.low <= mean <= each.high for each in found]) == pytest.approx(held, abs=0.05)


@pytest.mark.parametrize("raters", [2, 3, 5])
@pytest.mark.parametrize("skipped", [0.0, 0.3])
def test_every_resample_of_single_raters_is_what_z_scores_by_hand_give(raters: int, skipped: float) -> None:
    """Each rater is z-scored over all of his or her items; the coefficient is read on those that all scored."""
    chance = np.random.default_rng(raters)
    true = chance.normal(size=(40, 1))
    rows = np.clip(np.rint(3 + true + chance.normal(0, 0.8, (40, raters))), 1, 5) + 100.0
    rows[chance.random(rows.shape) < skipped] = np.nan
    drawn = chance.multinomial(40, np.full(40, 1 / 40), size=60)
    # One in which the first rater gives every item the same score, and so has no z-score.
    drawn[0] = np.where(rows[:, 0] == 103.0, 2, 0)
    found = standardised_statistics(np.arange(raters))(rows)(drawn.astype(np.float64))["icc_3_k_z"]
    assert np.isnan(found[0])
    for value, times in zip(found[1:], drawn[1:], strict=True):
        items = np.repeat(rows, times, axis=0)
        scores = (items - np.nanmean(items, axis=0)) / np.nanstd(items, axis=0, ddof=1)
        scores = scores[~np.isnan(scores).any(axis=1)]
        expected = icc(scores, "icc_3_k", interval="none").value
        assert value == pytest.approx(np.nan if expected is None else expected, abs=1e-10, nan_ok=True)
