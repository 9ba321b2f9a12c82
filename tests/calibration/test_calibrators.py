"""Four calibrators, one interface: monotone, inside the scale, honest about what they were not shown."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from medjury.analysis.calibration._cross_fit import METHODS, Isotonic, Linear, Offset
from medjury.analysis.calibration._maps import Ordinal, count_outside
from medjury.foundation.errors import MedjuryError

SCALE = (1.0, 5.0)
grades = st.lists(st.integers(1, 5), min_size=8, max_size=60)


def both_vary(scores: list[int], labels: list[int]) -> bool:
    return len(set(scores)) > 1 and len(set(labels)) > 1


@settings(max_examples=60, deadline=None)
@given(st.data(), st.sampled_from(sorted(METHODS)))
def test_every_calibrator_is_monotone_and_stays_on_the_scale(data: st.DataObject, method: str) -> None:
    scores = data.draw(grades)
    labels = data.draw(st.lists(st.integers(1, 5), min_size=len(scores), max_size=len(scores)))
    if not both_vary(scores, labels):
        return
    fitted = METHODS[method].fit(scores, labels, scale=SCALE)
    predicted = fitted.predict(np.linspace(1, 5, 81))
    assert (np.diff(predicted) >= -1e-9).all()
    assert predicted.min() >= 1 - 1e-12
    assert predicted.max() <= 5 + 1e-12


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_isotonic_is_the_isotonic_regression_of_a_second_implementation(data: st.DataObject) -> None:
    scores = data.draw(grades)
    labels = data.draw(st.lists(st.integers(1, 5), min_size=len(scores), max_size=len(scores)))
    if not both_vary(scores, labels):
        return
    other = IsotonicRegression(out_of_bounds="clip").fit(scores, labels)
    at = np.linspace(1, 5, 41)
    assert Isotonic.fit(scores, labels, scale=SCALE).predict(at) == pytest.approx(other.predict(at), abs=1e-9)


def test_ordinal_is_the_proportional_odds_model_of_a_second_implementation() -> None:
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    generator = np.random.default_rng(5)
    truth = generator.normal(size=400)
    scores = np.clip(np.round(3 + truth + generator.normal(size=400)), 1, 5)
    labels = np.clip(np.round(3.4 + truth), 1, 5)
    other = OrderedModel(labels, scores[:, None], distr="logit")
    found = other.fit(method="bfgs", disp=False, gtol=1e-8)
    fitted = Ordinal.fit(scores, labels, scale=SCALE)
    assert fitted.slope == pytest.approx(found.params[0], rel=1e-4)
    assert fitted.thresholds == pytest.approx(other.transform_threshold_params(found.params)[1:-1], rel=1e-4)
    probabilities = fitted.probabilities([2.0])
    assert probabilities == pytest.approx(other.predict(found.params, exog=[[2.0]]), abs=1e-4)


def test_ordinal_survives_scores_that_separate_the_grades_perfectly() -> None:
    fitted = Ordinal.fit([1, 1, 2, 2, 3, 3], [2, 2, 3, 3, 5, 5], scale=SCALE)
    assert fitted.predict([1, 2, 3]) == pytest.approx([2, 3, 5], abs=1e-4)


def test_ordinal_fits_made_together_are_those_made_alone_to_the_last_digit() -> None:
    generator = np.random.default_rng(11)
    several = []
    for size in (12, 60, 200, 60, 90):
        truth = generator.normal(size=size)
        scores = np.clip(np.round((3 + truth + generator.normal(size=size)) * 4) / 4, 1, 5)
        several.append((scores, np.clip(np.round(3.2 + truth), 1, 5)))
    several += [
        (np.arange(1.0, 5.0), np.array([4.0, 3.0, 2.0, 1.0])),
        (np.repeat([1.0, 2.0, 3.0], 2), np.repeat([2.0, 3.0, 5.0], 2)),
        (np.array([1.0, 5.0]), np.array([1.0, 5.0])),
    ]
    alone = [Ordinal.fit(*pair, scale=SCALE) for pair in several]
    assert Ordinal.fit_each(several, scale=SCALE) == alone
    assert Ordinal.fit_each(several[::-1], scale=SCALE) == alone[::-1]
    assert len({each.grades for each in alone}) > 2 and alone[5].slope == 0.0
    # Levels of the score that one of them alone has change no digit of the others.
    odd = np.concatenate([several[1][0], generator.uniform(1, 5, 40)]), np.tile(several[1][1], 2)[:100]
    assert Ordinal.fit_each([*several, odd], scale=SCALE)[:-1] == alone


@pytest.mark.parametrize("seed", range(60))
def test_an_ordinal_fit_does_not_hang_on_the_fits_beside_it(seed: int) -> None:
    """Fits that need more steps than the others are left behind, at last alone, and must not notice it."""
    generator = np.random.default_rng(seed)
    several = []
    for size in generator.choice([20, 60, 90, 200], generator.integers(2, 6)):
        truth = generator.normal(size=size)
        noise = generator.normal(size=size) * generator.choice([0.1, 1, 2])
        scores = np.clip(np.round((3 + truth * generator.choice([0.2, 1, 3]) + noise) * 4) / 4, 1, 5)
        several.append((scores, np.clip(np.round(3.2 + truth), 1, 5)))
    assert Ordinal.fit_each(several, scale=SCALE) == [Ordinal.fit(*pair, scale=SCALE) for pair in several]


def test_offset_and_linear_by_hand() -> None:
    assert Offset.fit([1, 2, 3, 4], [2, 2, 4, 4], scale=SCALE).shift == pytest.approx(0.5)
    line = Linear.fit([1, 2, 3, 4], [2, 2, 4, 4], scale=SCALE)
    assert (line.slope, line.intercept) == pytest.approx((0.8, 1.0))


@pytest.mark.parametrize("method", ["isotonic", "linear", "ordinal"])
def test_a_judge_that_orders_cases_backwards_is_flattened_not_turned_over(method: str) -> None:
    fitted = METHODS[method].fit([1, 2, 3, 4, 5], [5, 4, 3, 2, 1], scale=SCALE)  # type: ignore[index]
    assert fitted.predict([1, 3, 5]) == pytest.approx([3, 3, 3])


@pytest.mark.parametrize("method", sorted(METHODS))
def test_a_missing_score_stays_missing(method: str) -> None:
    fitted = METHODS[method].fit([1, 2, 3, 4], [2, 2, 4, 5], scale=SCALE)  # type: ignore[index]
    assert np.isnan(fitted.predict([np.nan, 3])).tolist() == [True, False]


def test_a_score_off_the_scale_is_refused_and_one_beyond_the_fitted_range_is_counted() -> None:
    fitted = Isotonic.fit([2, 3, 4], [2, 3, 5], scale=SCALE)
    with pytest.raises(MedjuryError, match=r"2 of the judge's scores lie off the scale 1 to 5: 0, 7"):
        fitted.predict([0, 3, 7])
    assert fitted.predict([1, 5]).tolist() == [2, 5]
    assert count_outside(fitted, [1, 2, 5, np.nan]) == 2


@pytest.mark.parametrize(
    ("scores", "labels", "message"),
    [
        ([4, 4, 4], [2, 3, 4], "gave the score 4 to all 3 labelled items"),
        ([1, 2, 3], [5, 5, 5], "the reference gave 5 to all 3 labelled items"),
        ([1, 2], [np.nan, 3], "1 items have both a score and a label"),
        ([1, 2, 3], [1, 2], "3 scores and 2 labels"),
        ([[1, 2], [3, 4]], [1, 2], "one list, one score per item"),
    ],
)
def test_what_cannot_be_calibrated_is_refused_with_the_reason(
    scores: list[float], labels: list[float], message: str
) -> None:
    with pytest.raises(MedjuryError, match=message):
        Isotonic.fit(scores, labels, scale=SCALE)


# stats::isoreg, R 4.2.2. Ties are pooled by level; between levels linear interpolation, beyond them flat.
NO_TIES_X = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
NO_TIES_Y = [1, 0, 4, 3, 3, 5, 4, 2, 0, 6]
NO_TIES_FIT = [0.5, 0.5, 3, 3, 3, 3, 3, 3, 3, 6]
TIES_X = [1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 5, 1, 2, 3, 4, 5, 2, 3]
TIES_Y = [2, 1, 2, 3, 4, 3, 5, 2, 4, 4, 5, 5, 4, 3, 1, 3, 5, 5, 2, 4]
TIES_FIT = [2, 2.4, 3.5, 4.666666666667, 4.666666666667]


def test_without_ties_every_fitted_value_is_that_of_isoreg() -> None:
    fitted = Isotonic.fit(NO_TIES_X, NO_TIES_Y, scale=(0, 10))
    assert fitted.predict(NO_TIES_X) == pytest.approx(NO_TIES_FIT, abs=1e-9)


def test_with_ties_each_level_gets_one_value() -> None:
    fitted = Isotonic.fit(TIES_X, TIES_Y, scale=(1, 5))
    assert fitted.knots == (1, 2, 3, 4, 5)
    assert fitted.values == pytest.approx(TIES_FIT, abs=1e-9)


def test_between_levels_it_interpolates_and_beyond_them_it_is_flat() -> None:
    fitted = Isotonic.fit(TIES_X, TIES_Y, scale=(0, 6))
    at = [1, 1.5, 2.333333333333, 3.75, 5, 0, 6]
    expected = [2, 2.2, 2.7666666666663, 4.37500000000025, 4.666666666667, 2, 4.666666666667]
    assert fitted.predict(at) == pytest.approx(expected, abs=1e-9)
