"""Isotonic regression against R's `isoreg`, whose values are copied here."""

from __future__ import annotations

import pytest

from medjury.analysis.calibration._cross_fit import Isotonic

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
