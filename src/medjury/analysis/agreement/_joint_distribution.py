"""What two raters would say: the joint distribution that has given marginals and a given kappa."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from medjury.analysis.agreement._kappa import KappaWeights, agreement_weights
from medjury.foundation.errors import MedjuryError

Numbers = NDArray[np.float64]
_legendre = cache(lambda: np.polynomial.legendre.leggauss(40))


def credit(categories: int, weights: KappaWeights) -> Numbers:
    """Agreement weights of evenly spaced grades."""
    return agreement_weights(np.arange(categories, dtype=float), "identity" if weights == "none" else weights)


def kappa_of(joint: Numbers, weight: Numbers) -> Numbers:
    """Kappa of tables `(..., K, K)`; NaN where chance agreement is complete."""
    joint = joint / joint.sum(axis=(-2, -1), keepdims=True)
    observed = (weight * joint).sum(axis=(-2, -1))
    expected = np.einsum("...i,ij,...j->...", joint.sum(axis=-1), weight, joint.sum(axis=-2))
    room = 1 - expected
    kappa = np.full(room.shape, np.nan)
    np.divide(observed - expected, room, out=kappa, where=room > 1e-12)
    return kappa


def kappa_variance(joint: Numbers, weight: Numbers) -> Numbers:
    """n times the large-sample variance of kappa (Fleiss, Cohen and Everitt 1969, Psychol Bull
    72:323-327)."""
    joint = joint / joint.sum(axis=(-2, -1), keepdims=True)
    rows, columns = joint.sum(axis=-1), joint.sum(axis=-2)
    expected = np.einsum("...i,ij,...j->...", rows, weight, columns)
    kappa = kappa_of(joint, weight)
    slack = (1 - kappa)[..., None, None]
    by_row, by_column = columns @ weight.T, rows @ weight
    part = weight - (by_row[..., :, None] + by_column[..., None, :]) * slack
    spread = (joint * part**2).sum(axis=(-2, -1)) - (kappa - expected * (1 - kappa)) ** 2
    room = (1 - expected) ** 2
    variance = np.full(room.shape, np.nan)
    np.divide(spread, room, out=variance, where=room > 1e-12)
    return variance


def latent_joint(marginals: Numbers, correlation: float) -> Numbers:
    """Two raters who cut correlated normal impressions at the same thresholds."""
    cuts = np.concatenate([[-9.0], np.clip(special.ndtri(np.cumsum(marginals)[:-1]), -9, 9), [9.0]])
    nodes, weights = _legendre()
    x = cuts[:-1, None] + np.diff(cuts)[:, None] * (nodes + 1) / 2
    mass = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi) * np.diff(cuts)[:, None] / 2 * weights
    spread = np.sqrt(1 - correlation**2)
    below = special.ndtr((cuts[None, None, :] - correlation * x[:, :, None]) / spread)
    joint = (mass[:, :, None] * np.diff(below, axis=2)).sum(axis=1)
    return np.asarray((joint + joint.T) / (2 * joint.sum()))


def joint_with_kappa(
    value: float, marginals: Sequence[float], weights: KappaWeights
) -> tuple[Numbers, float]:
    """The joint distribution with these marginals and this kappa, and its latent correlation.

    >>> joint, correlation = joint_with_kappa(0.6, [0.2, 0.3, 0.5], "quadratic")
    >>> round(float(kappa_of(joint, credit(3, "quadratic"))), 6)
    0.6
    """
    from scipy.optimize import brentq

    shares = check_marginals(marginals)
    if not 0 <= value < 1:
        raise MedjuryError(f"plan for a kappa from 0 to below 1, not {value}.")
    weight = credit(len(shares), weights)

    def gap(correlation: float) -> float:
        return float(kappa_of(latent_joint(shares, correlation), weight)) - value

    highest = 0.9995
    if gap(highest) < 0:
        raise MedjuryError(f"a kappa of {value} is too close to 1 to plan for; take {value - 0.02:.2f}.")
    correlation = float(brentq(gap, -0.2, highest, xtol=1e-12))
    return latent_joint(shares, correlation), correlation


def check_marginals(marginals: Sequence[float]) -> Numbers:
    shares = np.asarray(marginals, dtype=float)
    if shares.ndim != 1 or len(shares) < 2 or (shares <= 0).any() or abs(shares.sum() - 1) > 1e-6:
        raise MedjuryError(
            f"the marginals must be two or more positive shares that sum to 1, not {list(marginals)}: "
            "how often do you expect each grade?"
        )
    return np.asarray(shares / shares.sum())
