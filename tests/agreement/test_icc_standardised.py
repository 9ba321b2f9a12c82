"""ICC(3,k) on z-scores: equal to R, equal to 2r/(1 + r), blind to offsets."""

from __future__ import annotations

import numpy as np
import pytest
from tests.agreement.reference_values import reference

from medjury.agreement import icc, icc_3_k_z, intraclass_correlations, pearson
from medjury.errors import MedjuryError

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


def test_missing_cells_use_the_raters_present() -> None:
    first, second = panel()
    first[:5, 0] = np.nan
    first[7] = np.nan
    found = icc_3_k_z(first, second, order="standardise_first", resamples=300)
    assert found.n == 39
    assert "1 of 40 items not scored by every group" in found.method
    kept = np.delete(first, 7, axis=0)
    z = (kept - np.nanmean(kept, axis=0)) / np.nanstd(kept, axis=0, ddof=1)
    other = np.delete(second, 7, axis=0)
    z_other = (other - other.mean(axis=0)) / other.std(axis=0, ddof=1)
    expected = icc(np.column_stack([np.nanmean(z, axis=1), z_other.mean(axis=1)]), "icc_3_k").value
    assert found.value == pytest.approx(expected, abs=1e-12)


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
