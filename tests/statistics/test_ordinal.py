"""The ordinal regression: as statsmodels has it, with a prior, and the same whatever company a fit is in."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from statsmodels.miscmodels.ordinal_model import OrderedModel

from medjury.statistics import fit_ordinal

Floats = NDArray[np.float64]


def simulated(rows: int, seed: int) -> tuple[Floats, NDArray[np.int64]]:
    generator = np.random.default_rng(seed)
    features = generator.integers(0, 3, (rows, 3)).astype(np.float64)
    latent = features @ np.array([1.5, 0.8, 0.0]) + generator.logistic(size=rows)
    return features, np.digitize(latent, [1.0, 2.5])


def fit_with_prior(
    features: Floats, levels: NDArray[np.int64], prior: list[float], spread: float
) -> tuple[Floats, Floats]:
    often = np.eye(3)[levels][:, :, np.newaxis]
    return fit_ordinal(features.T[:, :, np.newaxis], often, (np.array(prior)[:, np.newaxis], spread))


def test_it_finds_what_was_planted() -> None:
    thresholds, slopes = fit_with_prior(*simulated(20_000, 1), [0.0] * 3, 100.0)
    assert slopes[:, 0] == pytest.approx((1.5, 0.8, 0.0), abs=0.06)
    assert thresholds[:, 0] == pytest.approx((1.0, 2.5), abs=0.08)


def test_it_is_statsmodels() -> None:
    features, levels = simulated(300, 2)
    theirs = OrderedModel(levels, features, distr="logit").fit(method="bfgs", disp=False, gtol=1e-9)
    assert fit_with_prior(features, levels, [0.0] * 3, 1e6)[1][:, 0] == pytest.approx(
        tuple(theirs.params[:3]), abs=1e-4
    )


def test_a_strong_prior_holds_the_slopes() -> None:
    _, slopes = fit_with_prior(*simulated(50, 3), [0.5] * 3, 1e-4)
    assert slopes[:, 0] == pytest.approx((0.5, 0.5, 0.5), abs=1e-3)


def score_fits(count: int) -> tuple[Floats, Floats]:
    """Standardised scores of five levels, and how often each met each of four grades."""
    generator = np.random.default_rng(4)
    often = generator.integers(1, 9, (5, 4, count)).astype(np.float64)
    often[np.arange(4), np.arange(4)] += 12.0
    return np.repeat(np.linspace(-1.4, 1.4, 5)[:, np.newaxis], count, axis=1)[np.newaxis], often


def test_fits_side_by_side_are_the_same_to_the_last_digit_as_alone() -> None:
    x, often = score_fits(7)
    thresholds, slopes = fit_ordinal(x, often)
    for place in range(7):
        alone = fit_ordinal(x[:, :, [place]], often[:, :, [place]])
        assert (alone[0][:, 0] == thresholds[:, place]).all() and (alone[1][:, 0] == slopes[:, place]).all()


def test_the_slope_of_one_score_is_never_negative() -> None:
    x, often = score_fits(2)
    assert (fit_ordinal(x, often)[1] > 0).all()
    assert (fit_ordinal(-x, often)[1] == 0.0).all()
