"""Is the routine diagnosis wrong? The logistic curve by the mean safety score."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import expit
from scipy.stats import t

from medjury.analysis.calibration._logistic import fit_logistic
from medjury.analysis.calibration._routine_disagreement import disagreement_curve
from medjury.foundation.errors import MedjuryError


def ward_cases(cases: int, per_case: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Several answers per case; the panel disagrees with the ward more where all of them look unsafe."""
    generator = np.random.default_rng(seed)
    level = generator.uniform(1.5, 4.5, size=cases)
    wrong = generator.random(cases) < expit(3 - 1.2 * level)
    safety = np.clip(np.repeat(level, per_case) + 0.5 * generator.normal(size=cases * per_case), 1, 5)
    return safety, np.repeat(wrong.astype(float), per_case), np.repeat(np.arange(cases), per_case)


def test_the_fit_is_that_of_a_second_implementation() -> None:
    safety, disagrees, cases = ward_cases(200)
    found = disagreement_curve(safety, disagrees, cases=cases, at=[1, 2, 3, 4, 5])
    means = safety.reshape(200, 4).mean(axis=1)
    other = sm.Logit(disagrees[::4], sm.add_constant(means)).fit(disp=0, cov_type="HC0")
    assert found.slope.value == pytest.approx(other.params[1], rel=1e-6)
    half = (found.slope.high - found.slope.low) / 2
    assert half == pytest.approx(t.ppf(0.975, 198) * other.bse[1] * (200 / 199) ** 0.5, rel=1e-5)
    assert found.p_value == pytest.approx(2 * t.sf(abs(found.slope.value) / (half / t.ppf(0.975, 198)), 198))
    expected = other.predict(sm.add_constant(np.array([1.0, 2.0, 3.0, 4.0, 5.0])))
    assert [row.probability.value for row in found.rows] == pytest.approx(expected, rel=1e-6)


def test_low_safety_means_a_doubtful_routine_diagnosis() -> None:
    safety, disagrees, cases = ward_cases(300)
    found = disagreement_curve(safety, disagrees, cases=cases, at=[1.5, 4.5])
    unsafe, safe = (row.probability for row in found.rows)
    assert found.slope.high < 0
    assert found.p_value < 0.001
    assert unsafe.low > safe.high
    assert (found.n, found.n_disagree) == (300, int(disagrees[::4].sum()))
    shares = [share.value for _, _, share in found.bands]
    assert shares[0] > shares[-1]
    assert sum(share.n for _, _, share in found.bands) == 300


def test_the_panel_speaks_once_per_case() -> None:
    """More answers per case sharpen the score, not the number of cases."""
    safety, disagrees, cases = ward_cases(60)
    found = disagreement_curve(safety, disagrees, cases=cases, at=[3])
    means = safety.reshape(60, 4).mean(axis=1)
    once = disagreement_curve(means, disagrees[::4], cases=range(60), at=[3])
    assert found.slope == once.slope


def test_cases_without_a_score_or_a_panel_are_counted() -> None:
    safety, disagrees, cases = ward_cases(60)
    safety[:4] = np.nan
    disagrees[4:8] = np.nan
    found = disagreement_curve(safety, disagrees, cases=cases, at=[3])
    assert (found.n, found.n_unknown) == (58, 2)


def test_clusters_widen_the_errors_and_separation_is_refused() -> None:
    safety, disagrees, _ = ward_cases(100, per_case=1)
    one = fit_logistic(safety, disagrees == 1, np.arange(100).astype(object))
    copied = fit_logistic(
        np.repeat(safety, 3), np.repeat(disagrees == 1, 3), np.repeat(np.arange(100), 3).astype(object)
    )
    assert copied.coefficients == pytest.approx(one.coefficients)
    assert copied.covariance == pytest.approx(one.covariance, rel=1e-6)
    for scores in (range(1, 11), [1, 2, 3, 4, 5, 5, 7, 8, 9, 10]):
        with pytest.raises(MedjuryError, match="separates the two outcomes perfectly"):
            disagreement_curve(np.array(scores) / 2, [0] * 5 + [1] * 5, cases=range(10), at=[3])


@pytest.mark.parametrize(
    ("safety", "disagrees", "message"),
    [
        ([1.0] * 9, [0, 1] * 4 + [0], "9 cases have both"),
        ([3.0] * 12, [0, 1] * 6, "every case has the mean safety score 3"),
        (list(range(12)), [0] * 12, "every outcome is the same"),
        (list(range(12)), [0, 2] * 6, r"1 \(disagrees"),
        ([1.0], [0, 1], "1 scores, 2 panel answers"),
    ],
)
def test_what_cannot_be_told_is_refused(safety: list[float], disagrees: list[float], message: str) -> None:
    with pytest.raises(MedjuryError, match=message):
        disagreement_curve(safety, disagrees, cases=range(len(safety)), at=[3])


def test_a_panel_that_contradicts_itself_on_a_case_is_refused() -> None:
    with pytest.raises(MedjuryError, match="case 'a': the panel both agrees and disagrees"):
        disagreement_curve([1.0, 2.0], [0, 1], cases=["a", "a"], at=[3])


def test_a_signal_that_never_changes_is_no_perfect_separation() -> None:
    draw = np.random.default_rng(3)
    score = draw.normal(size=80)
    outcome = score + draw.normal(size=80) > 0
    cases = np.array([str(number) for number in range(80)], dtype=object)
    fitted = fit_logistic(np.column_stack([score, np.zeros(80)]), outcome, cases, ridge=1.0)
    alone = fit_logistic(score[:, np.newaxis], outcome, cases, ridge=1.0)
    assert fitted.coefficients == pytest.approx([*alone.coefficients, 0.0])
