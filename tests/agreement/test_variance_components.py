"""The fits of a jackknife that are made side by side are those that are made one by one."""

from __future__ import annotations

import numpy as np
import pytest

from medjury.analysis.agreement._variance_components import components_without, variance_components


def two_each(seed: int, items: int, raters: int, *, rater: float, error: float) -> np.ndarray:
    """Two raters, drawn at random, score each item."""
    generator = np.random.default_rng(seed)
    scores = generator.normal(size=(items, 1)) + rater * generator.normal(size=raters)
    scores = np.clip(np.rint(scores + error * generator.normal(size=(items, raters)) + 3.5), 1, 5)
    order = generator.random((items, raters)).argsort(axis=1)
    return np.where(order < 2, scores, np.nan)


@pytest.mark.parametrize(
    ("seed", "items", "rater", "error", "place"),
    # A short search from the fit of all items stopped early in the first two: at an ICC of 0 and of 0.44.
    [(1, 12, 1.0, 0.6, 6), (30, 12, 1.0, 0.6, 8), (7, 50, 0.0, 0.6, 3)],
)
def test_every_fit_is_the_best_of_three_long_searches(
    seed: int, items: int, rater: float, error: float, place: int
) -> None:
    scores = two_each(seed, items, 15, rater=rater, error=error)
    groups = [np.arange(items) == other for other in range(items)]
    found = np.array(components_without(scores, groups, variance_components(scores)))[place]
    longest = np.array(variance_components(scores[~groups[place]]))
    assert found / found.sum() == pytest.approx(longest / longest.sum(), abs=1e-5)


def test_a_table_without_error_is_fitted_one_by_one() -> None:
    scores = np.tile(np.array([[1.0], [2.0], [4.0], [5.0]] * 4), (1, 3))
    scores[0, 1] = np.nan
    whole = (1.0, 0.0, 0.0)
    ((item, _, error),) = components_without(scores, [np.arange(16) == 3], whole)
    assert error < 1e-6 * item
