"""Cumulative logit: the probability of every grade, given the judge's score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from medjury.analysis.calibration._maps import Method, labelled_pairs, on_scale
from medjury.statistics import Floats, fit_ordinal

# So many numbers of levels, grades and fits are worked on at once.
_CELLS = 1 << 18


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
    standard = (levels[:, np.newaxis] - centre) / spread
    thresholds, slopes = fit_ordinal(standard[np.newaxis], often.reshape(len(levels), len(grades), -1))
    slopes = slopes[0] / spread
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
