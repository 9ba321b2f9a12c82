"""Post-stratification: what is known of everybody corrects what was read of some.

A draw by stated probabilities is right on average, and never exactly: it holds some more answers that the jury
called excellent, or some fewer, than all answers do. The jury's score is known of all of them. So answers are put
into strata by that score, and within each the weights are multiplied until they add up to its true number:
g = w · N_h / Σ_h w (Holt & Smith 1979, J R Stat Soc A 142:33-46). What the score foretells of an estimate then no
longer varies with the draw; the cases themselves still count as a sample, read or not, and are resampled as such.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from medjury.statistics import Floats, Read, Statistics, drawn_from

# Clusters read in each stratum: with fewer, N_h / Σ_h w is too unsteady to multiply by.
FEWEST_READ = 10


@dataclass(frozen=True, slots=True, eq=False)
class PostStrata:
    """Of every answer, read or not: its stratum, its weight (one over its probability, 0 where it was not read) and
    its cluster."""

    codes: NDArray[np.int64]
    weights: Floats
    clusters: NDArray[Any]

    @property
    def said(self) -> str:
        """For the name of a method."""
        return f", made to fit all {len(self.codes)} answers in {self.codes.max() + 1} strata of the rater's score"

    def rows(self, read: Floats) -> Floats:
        """Rows of all answers for `by_strata`, from those of the answers that were read."""
        there = self.weights > 0
        wide = np.full((len(self.codes), read.shape[1] + 2), np.nan)
        wide[there, :-2] = read
        wide[:, -2] = self.codes
        # Only shares count, so that the weights may be put on any footing: one of 1 is the mean.
        wide[:, -1] = self.weights / self.weights[there].mean()
        return wide


def post_strata(scores: ArrayLike, weights: ArrayLike, clusters: NDArray[Any]) -> PostStrata | None:
    """Strata by the score of everybody, neighbouring scores together until ten clusters of each were read; no score
    is the lowest. Weights are 0 where an answer was not read. None where one stratum would be left, where all were
    read, and where these cannot be all the answers of the draw.

    >>> scores, weights = [1] * 30 + [2] * 30, [3.0, 0, 0] * 20
    >>> post_strata(scores, weights, np.arange(60)).codes.max()
    np.int64(1)
    >>> post_strata(scores[::3], weights[::3], np.arange(20)) is None
    True
    """
    said, own = np.asarray(scores, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    read = own > 0
    if read.all() or not read.any() or not drawn_from(own):
        return None
    levels, places = np.unique(np.where(np.isnan(said), -np.inf, np.round(said, 9)), return_inverse=True)
    seen = [len(np.unique(clusters[read & (places == level)])) for level in range(len(levels))]
    codes, stratum, found = np.zeros(len(levels), dtype=np.int64), 0, 0
    for level, count in enumerate(seen):
        codes[level] = stratum
        found += count
        if found >= FEWEST_READ and sum(seen[level + 1 :]) >= FEWEST_READ:
            stratum, found = stratum + 1, 0
    return PostStrata(codes[places], own, clusters) if stratum else None


def by_strata(statistics: Statistics) -> Statistics:
    """A statistic of the rows of `PostStrata.rows`: in every resample the weights of a stratum add up to its rows,
    read or not. Right for whatever depends on shares of rows alone."""

    def prepare(rows: Floats) -> Read:
        read = rows[:, -1] > 0
        own = rows[read, -1]
        inside = (rows[:, -2, np.newaxis] == np.unique(rows[:, -2])).astype(np.float64)
        statistic, place = statistics(rows[read, :-2]), inside[read].argmax(axis=1)

        def every(counts: Floats) -> Mapping[str, Floats]:
            drawn = counts[:, read] * own
            seen = drawn @ inside[read]
            # A stratum of which a resample holds nobody who was read is left out of it.
            factors = np.divide(counts @ inside, seen, out=np.zeros_like(seen), where=seen > 0)
            return statistic(drawn * factors[:, place])

        return every

    return prepare


def by_last_column(statistics: Statistics) -> Statistics:
    """A statistic of rows whose last column is the weight of each: how often a row occurs in a resample counts as
    often as its weight says. Right for whatever depends on shares of rows alone, and not on their number."""

    def prepare(rows: Floats) -> Read:
        read, own = statistics(rows[:, :-1]), rows[:, -1]
        return lambda weights: read(weights * own)

    return prepare
