"""Ordinal regression, fitted in one place: cumulative logits, P(grade ≤ k | x) = 1 / (1 + exp(−(threshold_k −
x·β))).

Proportional odds (McCullagh 1980, J R Stat Soc B 42:109-142). Many fits are made side by side, each as if it
were alone, to the last digit.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from numpy.typing import NDArray
from scipy import special

from medjury.statistics._resample import Floats

# In standard deviations of the score. Where the score separates the grades perfectly the likelihood rises for
# ever; at this slope the grades are separated for every purpose, and the fit stops.
_STEEPEST = 40.0
_STEPS = 100
# A step as long as this reciprocal is rounding on a ridge.
_FLAT = 1e-6
_Likelihood = tuple[Floats, Floats, Floats]
# What each slope is drawn to (features, fits), and the spread of that prior.
Prior = tuple[Floats, float]


def fit_ordinal(x: Floats, often: Floats, prior: Prior | None = None) -> tuple[Floats, Floats]:
    """Thresholds (grades − 1, fits) and slopes (features, fits) of the largest likelihood, by Newton's
    method; it is concave in them (Pratt 1981, JASA 76:103-106).

    `x` are (features, rows, fits) and `often` says how often each row has each grade: (rows, grades, fits); a
    row that a fit never saw counts for nothing in it. Every grade occurs in every fit. Without a `prior`
    there is one feature, a standardised score, and its slope is never negative; with one, each slope has a
    normal prior and the posterior is at its largest.

    >>> score, label = np.array([1, 1, 2, 2, 3, 3, 4, 4.0]), np.array([0, 1, 0, 1, 1, 2, 2, 1])
    >>> thresholds, slopes = fit_ordinal(score[np.newaxis, :, np.newaxis], np.eye(3)[label][:, :, np.newaxis])
    >>> thresholds[:, 0].round(2).tolist(), slopes.round(2).tolist()
    ([1.8, 5.16], [[1.39]])
    """
    edges, total = often.shape[1] - 1, often.sum(axis=0)
    shares = np.cumsum(total, axis=0)[:-1] / total.sum(axis=0)
    slopes = np.zeros((len(x), x.shape[2])) if prior is None else prior[0]
    beta = np.concatenate([np.log(shares / (1 - shares)), slopes])
    top = _Top(x, often, beta, prior)
    # Concave, and falling at slope 0: there the best slope that is not negative is 0.
    climbs = top.slope[-1] > 0 if prior is None else np.ones(x.shape[2], dtype=bool)
    rising = np.flatnonzero(climbs)
    climbing = top.part(rising)
    for _ in range(_STEPS):
        if not len(rising):
            break
        value = climbing.value
        step = climbing.ahead()
        beta[:, rising] = climbing.beta
        gain = climbing.value - value
        done = (np.abs(step).max(axis=0) < 1e-9) | (np.abs(gain) < 1e-13 * np.abs(value))
        left = np.flatnonzero(~(done | (climbing.beta[edges:] > _STEEPEST).any(axis=0)))
        if len(left) < len(rising):
            rising, climbing = rising[left], climbing.part(left)
    return beta[:edges], beta[edges:] if prior is not None else np.maximum(beta[edges:], 0.0)


class _Top:
    """Where several fits are on the way to their tops: the log-likelihood, how it slopes and how it bends."""

    def __init__(
        self, x: Floats, often: Floats, beta: Floats, prior: Prior | None, known: _Likelihood | None = None
    ) -> None:
        self.x, self.often, self.beta, self.prior = x, often, beta, prior
        self.value, self.slope, self.bend = self._measured(x, often, beta, prior) if known is None else known

    def part(self, places: NDArray[np.int64]) -> _Top:
        known = self.value[places], self.slope[:, places], self.bend[places]
        return _Top(*self._of(places), self.beta[:, places], self._prior_of(places), known)

    def ahead(self) -> Floats:
        """Take a step, for each fit as long as it leads upwards, and return it."""
        step = _newton(self.bend, self.slope)
        taken, value, slope, bend = step.copy(), self.value.copy(), self.slope.copy(), self.bend.copy()
        left, edges = np.arange(len(value)), self.often.shape[1] - 1
        while len(left):
            beta = self.beta[:, left] + step[:, left]
            ordered = (beta[1:edges] > beta[: edges - 1]).all(axis=0)
            there = left[ordered]
            new = self._measured(*self._of(there), beta[:, ordered], self._prior_of(there))
            upwards = new[0] >= self.value[there] - 1e-9 * np.abs(self.value[there])
            upwards |= np.abs(step[:, there]).max(axis=0) < 1e-12
            at = there[upwards]
            taken[:, at] = step[:, at]
            value[at], slope[:, at], bend[at] = new[0][upwards], new[1][:, upwards], new[2][upwards]
            left = left[~np.isin(left, at)]
            step[:, left] /= 2
        self.beta = self.beta + taken
        self.value, self.slope, self.bend = value, slope, bend
        return taken

    def _of(self, places: NDArray[np.int64]) -> tuple[Floats, Floats]:
        if len(places) == len(self.beta[0]):
            return self.x, self.often
        return self.x[:, :, places], self.often[:, :, places]

    def _prior_of(self, places: NDArray[np.int64]) -> Prior | None:
        return None if self.prior is None else (self.prior[0][:, places], self.prior[1])

    @staticmethod
    def _measured(x: Floats, often: Floats, beta: Floats, prior: Prior | None) -> _Likelihood:
        value, slope, bend = _likelihood(x, often, beta)
        if prior is not None:
            edges = often.shape[1] - 1
            away, precision = beta[edges:] - prior[0], 1.0 / prior[1] ** 2
            value = value - precision / 2 * (away**2).sum(axis=0)
            slope[edges:] -= precision * away
            place = np.arange(edges, len(beta))
            bend[:, place, place] += precision
        return value, slope, bend


def _newton(bend: Floats, slope: Floats) -> Floats:
    """The step to the top of each parabola; the shortest one where there is a ridge."""
    try:
        step = np.linalg.solve(bend, slope.T[:, :, np.newaxis])[:, :, 0]
    except np.linalg.LinAlgError:
        step = np.full_like(slope.T, np.nan)
        for place in range(len(step)):
            with suppress(np.linalg.LinAlgError):
                step[place] = np.linalg.solve(bend[place], slope[:, place])
    for place in np.flatnonzero(~(np.abs(step).max(axis=1) <= 1 / _FLAT)).tolist():
        step[place] = np.linalg.lstsq(bend[place], slope[:, place], rcond=None)[0]
    return np.ascontiguousarray(step.T)


def _likelihood(x: Floats, often: Floats, beta: Floats) -> _Likelihood:
    """Log-likelihood (fits), its gradient (parameters, fits) and its negative second derivative (fits,
    parameters, parameters).

    An edge between two grades lies at threshold − x·β. Only neighbouring edges meet in a grade, so the second
    derivative by edges has a diagonal and a line beside it; a slope moves all edges by −x. Sums run over rows
    one by one: a row that a fit never saw changes no digit."""
    edges, (features, rows, fits) = often.shape[1] - 1, x.shape
    # Numbers are added up in the order in which they lie, and those of one fit alone in another order still:
    # last digits would hang on the company a fit is in.
    if fits == 1:
        value, slope, bend = _likelihood(*(np.repeat(each, 2, axis=-1) for each in (x, often, beta)))
        return value[:1], slope[:, :1], bend[:1]
    x, often, beta = (np.ascontiguousarray(each) for each in (x, often, beta))
    line = (beta[edges:, np.newaxis] * x).sum(axis=0)
    below = special.expit(beta[:edges] - line[:, np.newaxis])
    share = np.concatenate([below, np.ones((rows, 1, fits))], axis=1)
    share[:, 1:] -= below
    np.maximum(share, 1e-300, out=share)
    density = below * (1 - below)
    # How much an edge moves the logarithm of the grade below it and of the grade above it.
    lower, upper = density / share[:, :-1], density / share[:, 1:]
    pull, push = lower * often[:, :-1], upper * often[:, 1:]
    by_edge = pull - push
    diagonal = lower * pull + upper * push - (1 - 2 * below) * by_edge
    beside = -push[:, :-1] * lower[:, 1:]
    row = diagonal.copy()
    row[:, :-1] += beside
    row[:, 1:] += beside
    slope, bend = np.empty((edges + features, fits)), np.zeros((fits, edges + features, edges + features))
    slope[:edges] = by_edge.sum(axis=0)
    place = np.arange(edges)
    bend[:, place, place] = diagonal.sum(axis=0).T
    next_to = beside.sum(axis=0).T
    bend[:, place[:-1], place[1:]] = bend[:, place[1:], place[:-1]] = next_to
    over_edges = by_edge.sum(axis=1), row.sum(axis=1)
    for one, column in enumerate(x, start=edges):
        slope[one] = -(column * over_edges[0]).sum(axis=0)
        bend[:, :edges, one] = bend[:, one, :edges] = -(column[:, np.newaxis] * row).sum(axis=0).T
        for other, second in enumerate(x[: one - edges + 1], start=edges):
            bend[:, one, other] = bend[:, other, one] = (column * second * over_edges[1]).sum(axis=0)
    return (often * np.log(share)).sum(axis=(0, 1)), slope, bend
