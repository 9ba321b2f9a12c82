"""Cumulative logit: the probability of every grade, given the judge's score."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from medjury.analysis.calibration._maps import Method, labelled_pairs, on_scale
from medjury.statistics import Floats

# In standard deviations of the score. Where the score separates the grades perfectly the likelihood rises
# for ever; at this slope the grades are separated for every purpose, and the fit stops.
_STEEPEST = 40.0
_STEPS = 100
# A step as long as this reciprocal is rounding on a ridge.
_FLAT = 1e-6
# So many numbers of levels, grades and fits are worked on at once.
_CELLS = 1 << 18
_Likelihood = tuple[Floats, Floats, Floats]


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
        return cls.fit_each([(scores, labels)], scale=scale)[0]

    @classmethod
    def fit_each(
        cls, several: Sequence[tuple[ArrayLike, ArrayLike]], *, scale: tuple[float, float]
    ) -> list[Ordinal]:
        """A fit for each pair of scores and labels: as if one came after the other, to the last digit, in a
        fraction of the time."""
        taught = [labelled_pairs(scores, labels, scale) for scores, labels in several]
        levels = np.unique(np.concatenate([given for given, _ in taught])) if taught else np.empty(0)
        alike: dict[tuple[float, ...], list[int]] = {}
        for place, (_, wanted) in enumerate(taught):
            alike.setdefault(tuple(np.unique(wanted).tolist()), []).append(place)
        found: dict[int, Ordinal] = {}
        for grades, places in alike.items():
            at_once = max(1, _CELLS // (len(levels) * len(grades)))
            for start in range(0, len(places), at_once):
                some = places[start : start + at_once]
                fitted = _fitted([taught[place] for place in some], levels, grades, scale)
                found |= dict(zip(some, fitted, strict=True))
        return [found[place] for place in range(len(taught))]

    def probabilities(self, scores: ArrayLike) -> Floats:
        """One row per score, one column per grade; rows sum to one, NaN where the score is missing."""
        values = on_scale(scores, self.scale, "the judge's")
        below = special.expit(np.asarray(self.thresholds) - self.slope * values[:, np.newaxis])
        edges = np.column_stack([np.zeros(len(values)), below, np.ones(len(values))])
        return np.where(np.isnan(values)[:, np.newaxis], np.nan, np.diff(edges, axis=1))

    def predict(self, scores: ArrayLike) -> Floats:
        return self.expected(self.probabilities(scores))

    def expected(self, probabilities: Floats) -> Floats:
        """The expected grade of each row of probabilities."""
        return np.asarray(np.clip(probabilities @ np.asarray(self.grades), *self.scale))


def _fitted(
    taught: Sequence[tuple[Floats, Floats]],
    levels: Floats,
    grades: tuple[float, ...],
    scale: tuple[float, float],
) -> list[Ordinal]:
    """Fits whose labels are the same grades, each over how often every level of the score goes with every grade."""
    size = len(levels) * len(grades)
    cells = [
        np.searchsorted(levels, given) * len(grades) + np.searchsorted(grades, wanted)
        for given, wanted in taught
    ]
    often = np.column_stack([np.bincount(each, minlength=size) for each in cells]).astype(float)
    centre = np.array([given.mean() for given, _ in taught])
    spread = np.array([given.std() for given, _ in taught])
    # Few distinct pairs stand for many items; a level that a fit never saw counts for nothing in it.
    thresholds, slopes = _maximise(
        (levels[:, np.newaxis] - centre) / spread, often.reshape(len(levels), len(grades), -1)
    )
    slopes = slopes / spread
    thresholds = thresholds + slopes * centre
    return [
        Ordinal(
            grades,
            tuple(thresholds[:, place].tolist()),
            float(slopes[place]),
            (float(given.min()), float(given.max())),
            scale,
        )
        for place, (given, _) in enumerate(taught)
    ]


def _maximise(x: Floats, often: Floats) -> tuple[Floats, Floats]:
    """Newton's method on thresholds and slope; the log-likelihood is concave in them (Pratt 1981).

    The last axis is the fit: `x` are (levels, fits), `often` (levels, grades, fits), and what comes back is
    (thresholds, fits) and (fits)."""
    total = often.sum(axis=0)
    shares = np.cumsum(total, axis=0)[:-1] / total.sum(axis=0)
    beta = np.concatenate([np.log(shares / (1 - shares)), np.zeros((1, x.shape[1]))])
    top = _Top(x, often, beta)
    # Concave, and falling at slope 0: there the best slope that is not negative is 0.
    rising = np.flatnonzero(top.slope[-1] > 0)
    climbing = top.part(rising)
    for _ in range(_STEPS):
        if not len(rising):
            break
        value = climbing.value
        step = climbing.ahead()
        beta[:, rising] = climbing.beta
        gain = climbing.value - value
        done = (np.abs(step).max(axis=0) < 1e-9) | (np.abs(gain) < 1e-13 * np.abs(value))
        left = np.flatnonzero(~(done | (climbing.beta[-1] > _STEEPEST)))
        if len(left) < len(rising):
            rising, climbing = rising[left], climbing.part(left)
    return beta[:-1], np.maximum(beta[-1], 0.0)


class _Top:
    """Where several fits stand on the way to their tops: the log-likelihood, how it slopes and how it bends."""

    def __init__(self, x: Floats, often: Floats, beta: Floats, known: _Likelihood | None = None) -> None:
        self.x, self.often, self.beta = x, often, beta
        self.value, self.slope, self.bend = _likelihood(x, often, beta) if known is None else known

    def part(self, places: NDArray[np.int64]) -> _Top:
        known = self.value[places], self.slope[:, places], self.bend[places]
        return _Top(self.x[:, places], self.often[:, :, places], self.beta[:, places], known)

    def ahead(self) -> Floats:
        """Take a step, for each fit as long as it leads upwards, and tell it."""
        step = _newton(self.bend, self.slope)
        taken, value, slope, bend = step.copy(), self.value.copy(), self.slope.copy(), self.bend.copy()
        left = np.arange(len(value))
        while len(left):
            beta = self.beta[:, left] + step[:, left]
            ordered = (beta[1:-1] > beta[:-2]).all(axis=0)
            there = left[ordered]
            new = self._likelihood(there, beta[:, ordered])
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

    def _likelihood(self, places: NDArray[np.int64], beta: Floats) -> _Likelihood:
        if len(places) == len(self.value):
            return _likelihood(self.x, self.often, beta)
        return _likelihood(self.x[:, places], self.often[:, :, places], beta)


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
    """Log-likelihood (fits), its gradient (parameters, fits) and its negative second derivative (fits, parameters,
    parameters).

    An edge between two grades lies at threshold - slope · x. Only neighbouring edges meet in a grade, so the second
    derivative by edges has a diagonal and a line beside it; the slope moves all edges by -x. Sums run over levels
    one by one: a level that a fit never saw changes no digit."""
    edges, fits = len(beta) - 1, x.shape[1]
    # Numbers are added up in the order in which they lie, and those of one fit alone in another order still: last
    # digits would hang on the company a fit is in.
    if fits == 1:
        value, slope, bend = _likelihood(*(np.repeat(each, 2, axis=-1) for each in (x, often, beta)))
        return value[:1], slope[:, :1], bend[:1]
    x, often, beta = (np.ascontiguousarray(each) for each in (x, often, beta))
    below = special.expit(beta[:-1] - (beta[-1] * x)[:, np.newaxis])
    share = np.concatenate([below, np.ones((len(x), 1, fits))], axis=1)
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
    slope = np.empty((edges + 1, fits))
    slope[:-1], slope[-1] = by_edge.sum(axis=0), -(x * by_edge.sum(axis=1)).sum(axis=0)
    bend = np.zeros((fits, edges + 1, edges + 1))
    place = np.arange(edges)
    bend[:, place, place] = diagonal.sum(axis=0).T
    next_to = beside.sum(axis=0).T
    bend[:, place[:-1], place[1:]] = bend[:, place[1:], place[:-1]] = next_to
    bend[:, :-1, -1] = bend[:, -1, :-1] = -(x[:, np.newaxis] * row).sum(axis=0).T
    bend[:, -1, -1] = (x**2 * row.sum(axis=1)).sum(axis=0)
    return (often * np.log(share)).sum(axis=(0, 1)), slope, bend
