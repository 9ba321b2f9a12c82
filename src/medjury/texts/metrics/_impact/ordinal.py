"""A small ordinal regression: cumulative logits, fitted by maximum a posteriori.

P(level ≥ k) = σ(x·β − αₖ), α₁ < α₂ (McCullagh 1980). With a hundred labelled rows the prior matters: each
coefficient is drawn to a value that was written down before the data were seen, with a stated spread.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Ordinal:
    """Coefficients and the two cut points between levels 0, 1 and 2."""

    coefficients: tuple[float, ...]
    cuts: tuple[float, float]

    def probabilities(self, features: Floats) -> Floats:
        """The probability of each level, one row per row of features."""
        line = features @ np.asarray(self.coefficients)
        at_least_one = _logistic(line - self.cuts[0])
        two = _logistic(line - self.cuts[1])
        return np.stack([1.0 - at_least_one, at_least_one - two, two], axis=1)


def fit_ordinal(features: Floats, levels: NDArray[np.int64], prior: Floats, spread: float) -> Ordinal:
    """The most probable model given the rows and a normal prior on each coefficient.

    Newton's method with halved steps; the objective is convex in coefficients and cuts.
    """
    count = features.shape[1]
    state = np.concatenate([prior, [1.0, 2.0]])
    value, gradient, curvature = _objective(state, features, levels, prior, spread)
    for _ in range(200):
        step = np.linalg.solve(curvature, gradient)
        size = 1.0
        while size > 1e-10:
            trial = state - size * step
            if trial[count] < trial[count + 1]:
                new = _objective(trial, features, levels, prior, spread)
                if new[0] <= value:
                    break
            size /= 2
        else:
            break
        done = value - new[0] < 1e-12
        state, (value, gradient, curvature) = trial, new
        if done:
            break
    return Ordinal(tuple(state[:count].tolist()), (float(state[count]), float(state[count + 1])))


def _logistic(x: Floats) -> Floats:
    return 0.5 * (1.0 + np.tanh(0.5 * x))


def _objective(
    state: Floats, features: Floats, levels: NDArray[np.int64], prior: Floats, spread: float
) -> tuple[float, Floats, Floats]:
    """Minus the log posterior, its gradient and its curvature."""
    count = features.shape[1]
    line = features @ state[:count]
    # Level k lies between the upper curve σ(line − α_k) and the lower curve σ(line − α_{k+1}).
    upper = np.where(levels > 0, _logistic(line - state[count + np.maximum(levels - 1, 0)]), 1.0)
    lower = np.where(levels < 2, _logistic(line - state[count + np.minimum(levels, 1)]), 0.0)
    likely = np.maximum(upper - lower, 1e-300)
    slope_upper, slope_lower = upper * (1 - upper), lower * (1 - lower)
    # Each row depends on the state through two linear forms: u = line − α_k and l = line − α_{k+1}.
    forms_upper = np.hstack([features, np.zeros((len(line), 2))])
    forms_lower = forms_upper.copy()
    rows = np.arange(len(line))
    has_upper, has_lower = levels > 0, levels < 2
    forms_upper[rows[has_upper], count + levels[has_upper] - 1] = -1.0
    forms_lower[rows[has_lower], count + levels[has_lower]] = -1.0
    first_upper, first_lower = slope_upper / likely, -slope_lower / likely
    bend_upper = slope_upper * (1 - 2 * upper) / likely
    bend_lower = -slope_lower * (1 - 2 * lower) / likely
    gradient = -(forms_upper.T @ first_upper + forms_lower.T @ first_lower)
    mixed = forms_upper * first_upper[:, None] + forms_lower * first_lower[:, None]
    curvature = (
        mixed.T @ mixed
        - (forms_upper * bend_upper[:, None]).T @ forms_upper
        - (forms_lower * bend_lower[:, None]).T @ forms_lower
    )
    away = state[:count] - prior
    value = -float(np.log(likely).sum()) + 0.5 * float(away @ away) / spread**2
    gradient[:count] += away / spread**2
    curvature[np.arange(count), np.arange(count)] += 1.0 / spread**2
    return value, gradient, curvature
