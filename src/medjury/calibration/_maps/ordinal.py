"""Cumulative logit: the probability of every grade, given the judge's score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from medjury.calibration._maps.calibrator import Floats, Method, labelled_pairs, on_scale
from medjury.statistics import sample

# In standard deviations of the score. Where the score separates the grades perfectly the likelihood rises
# for ever; at this slope the grades are separated for every purpose, and the fit stops.
_STEEPEST = 40.0
_STEPS = 100
# A step as long as this reciprocal is rounding on a ridge.
_FLAT = 1e-6


@dataclass(frozen=True, slots=True)
class Ordinal:
    """P(label ≤ grade k | score) = 1 / (1 + exp(−(threshold_k − slope · score))); `predict` is the expected
    grade.

    Proportional odds (McCullagh 1980, J R Stat Soc B 42:109-142), by maximum likelihood; the slope is never
    negative. `grades` are the labels that occurred: a grade that nobody gave has probability 0.

    >>> calibrator = Ordinal.fit([1, 1, 2, 2, 3, 3, 4, 4], [1, 2, 1, 2, 2, 3, 3, 2], scale=(1, 5))
    >>> calibrator.probabilities([1.0]).shape
    (1, 3)
    """

    grades: tuple[float, ...]
    thresholds: tuple[float, ...]
    slope: float
    seen: tuple[float, float]
    scale: tuple[float, float]
    method: ClassVar[Method] = "ordinal"

    @classmethod
    def fit(cls, scores: ArrayLike, labels: ArrayLike, *, scale: tuple[float, float]) -> Ordinal:
        """Maximum likelihood over the distinct pairs of score and label."""
        given, wanted = labelled_pairs(scores, labels, scale)
        grades, codes = np.unique(wanted, return_inverse=True)
        centre, spread = float(given.mean()), float(given.std())
        thresholds, slope = _maximise((given - centre) / spread, codes, len(grades))
        slope /= spread
        return cls(
            tuple(grades.tolist()),
            tuple((thresholds + slope * centre).tolist()),
            float(slope),
            (float(given.min()), float(given.max())),
            scale,
        )

    def probabilities(self, scores: ArrayLike) -> Floats:
        """One row per score, one column per grade; rows sum to one, NaN where the score is missing."""
        from scipy.special import expit

        values = on_scale(scores, self.scale, "the judge's")
        below = expit(np.asarray(self.thresholds) - self.slope * values[:, np.newaxis])
        edges = np.column_stack([np.zeros(len(values)), below, np.ones(len(values))])
        return np.where(np.isnan(values)[:, np.newaxis], np.nan, np.diff(edges, axis=1))

    def predict(self, scores: ArrayLike) -> Floats:
        return self.expected(self.probabilities(scores))

    def expected(self, probabilities: Floats) -> Floats:
        """The expected grade of each row of probabilities."""
        return np.asarray(np.clip(probabilities @ np.asarray(self.grades), *self.scale))


def _maximise(scores: Floats, codes: NDArray[np.int64], grades: int) -> tuple[Floats, float]:
    """Newton's method on thresholds and slope; the log-likelihood is concave in them (Pratt 1981)."""
    # Few distinct pairs stand for many items.
    pairs = sample(np.column_stack([scores, codes]))
    likelihood = _likelihood(pairs.rows[:, 0], pairs.rows[:, 1].astype(np.int64), pairs.counts, grades)
    shares = np.cumsum(np.bincount(codes, minlength=grades))[:-1] / len(codes)
    beta = np.append(np.log(shares / (1 - shares)), 0.0)
    value, slope, curvature = likelihood(beta)
    if slope[-1] <= 0:
        # Concave, and falling at slope 0: the best slope that is not negative is 0.
        return beta[:-1], 0.0
    for _ in range(_STEPS):
        step = _newton(curvature, slope)
        while True:
            ahead = beta + step
            if (ahead[1:-1] > ahead[:-2]).all():
                new = likelihood(ahead)
                if new[0] >= value - 1e-9 * abs(value) or np.abs(step).max() < 1e-12:
                    break
            step = step / 2
        gain = new[0] - value
        beta, (value, slope, curvature) = ahead, new
        if np.abs(step).max() < 1e-9 or abs(gain) < 1e-13 * abs(value) or beta[-1] > _STEEPEST:
            break
    return beta[:-1], max(float(beta[-1]), 0.0)


def _newton(curvature: Floats, slope: Floats) -> Floats:
    """The step to the top of the parabola; the shortest one where there is a ridge."""
    try:
        step = np.linalg.solve(curvature, slope)
    except np.linalg.LinAlgError:
        step = np.full_like(slope, np.nan)
    if not np.isfinite(step).all() or np.abs(step).max() > 1 / _FLAT:
        step = np.linalg.lstsq(curvature, slope, rcond=None)[0]
    return np.asarray(step)


def _likelihood(
    x: Floats, y: NDArray[np.int64], weights: Floats, size: int
) -> Callable[[Floats], tuple[float, Floats, Floats]]:
    """Log-likelihood, its gradient and its negative second derivative, as a function of the parameters."""
    from scipy.special import expit

    # How the two edges of each pair's interval move with each parameter; there is no edge beyond the ends.
    rows = np.arange(len(y))
    at_upper, at_lower = np.zeros((len(y), size)), np.zeros((len(y), size))
    inner_upper, inner_lower = y < size - 1, y > 0
    at_upper[rows[inner_upper], y[inner_upper]] = 1.0
    at_lower[rows[inner_lower], y[inner_lower] - 1] = 1.0
    at_upper[:, -1] = np.where(inner_upper, -x, 0.0)
    at_lower[:, -1] = np.where(inner_lower, -x, 0.0)
    edges = np.concatenate([[-np.inf], np.zeros(size - 1), [np.inf]])
    # Both edges side by side: upper, lower.
    places, column = np.stack([y + 1, y]), weights[:, np.newaxis]
    both, signed = np.concatenate([at_upper, at_lower]), np.stack([-weights, weights])

    def at(beta: Floats) -> tuple[float, Floats, Floats]:
        edges[1:-1] = beta[:-1]
        below = expit(edges[places] - beta[-1] * x)
        share = np.maximum(below[0] - below[1], 1e-300)
        pull = below * (1 - below) / share
        moves = pull[0][:, np.newaxis] * at_upper - pull[1][:, np.newaxis] * at_lower
        bend = signed * pull * (1 - 2 * below)
        curvature = (moves * column).T @ moves + (both * bend.reshape(-1, 1)).T @ both
        return float(weights @ np.log(share)), weights @ moves, curvature

    return at
