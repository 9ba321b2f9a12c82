"""Ranks, concordance and quantiles under weights: rows are sorted once, every resample re-weights them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medjury.analysis.agreement._scores import snapped_levels
from medjury.statistics import Floats

# Up to this many distinct rows a matrix of all their pairs is quicker than merging (measured).
MATRIX_UP_TO = 2500
# Up to this many levels a product gives all ranks at once; beyond, they are cumulated.
PRODUCT_UP_TO = 128


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """The distinct values of one column in ascending order, each row's place among them, and the indicator
    matrix (rows by levels) that turns row weights into level weights."""

    values: Floats
    codes: NDArray[np.int64]
    indicator: Any

    def weights(self, weights: Floats) -> Floats:
        """How often each level occurs: (resamples, levels)."""
        return np.asarray(weights @ self.indicator)


def levels_of(column: Floats) -> Levels:
    """Prepare a column (no NaN) for ranks and quantiles; values that differ by rounding alone tie."""
    values, codes = snapped_levels(column)
    if len(values) <= 64:
        indicator: Any = np.eye(len(values))[codes]
    else:
        from scipy.sparse import csr_array

        shape = (len(codes), len(values))
        indicator = csr_array((np.ones(len(codes)), codes, np.arange(len(codes) + 1)), shape=shape)
    return Levels(values, codes, indicator)


def centred_midranks(level_weights: Floats) -> Floats:
    """Mid-rank of each level within its resample, less the mean rank (n + 1)/2; ties share their mean."""
    levels = level_weights.shape[-1]
    if levels <= PRODUCT_UP_TO:
        return np.asarray(level_weights @ midrank_weights(levels))
    total = level_weights.sum(axis=-1, keepdims=True)
    return np.asarray(np.cumsum(level_weights, axis=-1) - level_weights / 2.0 - total / 2.0)


@cache
def midrank_weights(levels: int) -> Floats:
    """What each level (row) adds to the centred mid-rank of each level (column): half of itself less half of
    the whole, and the whole of what lies below. Halves of whole numbers add up without rounding."""
    return np.triu(np.ones((levels, levels)), 1) + np.eye(levels) / 2.0 - 0.5


def concordance(x: Levels, y: Levels) -> Callable[[Floats], Floats]:
    """Prepare Σ over pairs of items of sign(Δx)·sign(Δy), each pair once; the result reads it from weights.

    Up to a few thousand distinct rows it is one matrix product over pairs of rows (the numbers are whole, so
    single precision loses nothing below 16 million items); beyond, weighted inversions are counted by
    merging.
    """
    if len(x.codes) > MATRIX_UP_TO:
        return _by_merging(x, y)
    first, second = x.codes.astype(np.float32), y.codes.astype(np.float32)
    single = np.sign(np.subtract.outer(first, first))
    single *= np.sign(np.subtract.outer(second, second))

    def read(weights: Floats) -> Floats:
        return np.asarray(np.einsum("bq,bq->b", weights.astype(np.float32) @ single, weights) / 2.0)

    return read


def _by_merging(x: Levels, y: Levels) -> Callable[[Floats], Floats]:
    """Concordant less discordant pairs = all pairs − those tied on x or on y − 2 × inversions. Rows that tie
    on both (they differ by rounding alone) are in both counts of ties, and are taken out of one.

    With rows in order of x (then y), an inversion is an earlier row with a higher y. As in a merge sort,
    blocks of 1, 2, 4… rows are compared with their right neighbours; which row lies where is known
    beforehand, so a level costs a permutation and a cumulated sum of weights. Knight (1966) JASA 61:436-439,
    for weights.
    """
    order = np.lexsort((y.codes, x.codes))
    rank = y.codes[order]
    place = np.arange(len(order))
    levels = []
    size = 1
    while size < len(order):
        right = (place // size) % 2 == 1
        pair = place // (2 * size)
        # Within a pair of blocks by y, the left one's rows first among equals: ties are no inversions.
        merged = np.lexsort((right, rank, pair))
        starts = np.searchsorted(pair[merged], np.arange(pair[-1] + 1))
        levels.append((order[merged], right[merged], starts))
        size *= 2
    alike = np.unique(x.codes * len(y.values) + y.codes, return_inverse=True)[1].astype(np.float64)
    tying = [(x, 1.0), (y, 1.0)] + ([(levels_of(alike), -1.0)] if alike.max() + 1 < len(alike) else [])

    def read(weights: Floats) -> Floats:
        inversions = np.zeros(len(weights))
        for columns, right, starts in levels:
            drawn = weights[:, columns]
            from_right = np.where(right, drawn, 0.0)
            passed = np.cumsum(from_right, axis=1)
            left = drawn - from_right
            before = passed[:, starts] - from_right[:, starts]
            inversions += np.einsum("bq,bq->b", left, passed)
            inversions -= np.einsum("bp,bp->b", np.add.reduceat(left, starts, axis=1), before)
        same = (weights**2).sum(axis=1)
        tied = sum(sign * ((each.weights(weights) ** 2).sum(axis=1) - same) / 2.0 for each, sign in tying)
        return np.asarray((weights.sum(axis=1) ** 2 - same) / 2.0 - tied - 2.0 * inversions)

    return read


def quantiles(levels: Levels, weights: Floats, share: float) -> Floats:
    """The quantile of each resample, interpolating order statistics (R's type 7, numpy's default)."""
    cumulated = np.cumsum(levels.weights(weights), axis=-1)
    n = cumulated[..., -1]
    position = (n - 1.0) * share
    below = np.floor(position)

    def order_statistic(place: Floats) -> Floats:
        found = (cumulated <= place[..., np.newaxis]).sum(axis=-1)
        return np.asarray(levels.values[np.minimum(found, len(levels.values) - 1)])

    low, high = order_statistic(below), order_statistic(np.minimum(below + 1.0, n - 1.0))
    return np.where(n > 0, low + (high - low) * (position - below), np.nan)


# Rows added up by group, and ranks inside groups, with a column for each resample.
#
# Weights that stand row by row (distinct rows by resamples) are added and ranked whole rows at a time, which
# is several times quicker than along each resample. Weights are whole numbers and ranks halves of them, so
# that nothing is rounded in whatever order it is added up.


# Rows of this many resamples are long.
_LONG = 256


class Groups:
    """Rows in groups, by the number of the group of each row. The indicator is always sparse: on large blocks
    that is quicker than a product; and it is turned once."""

    def __init__(self, codes: NDArray[np.int64], size: int) -> None:
        self.codes, self.size = codes, size

    @cached_property
    def indicator(self) -> Any:
        """Groups by rows, 1 where the row is in the group."""
        from scipy.sparse import csc_array

        ends = np.arange(len(self.codes) + 1)
        return csc_array((np.ones(len(self.codes)), self.codes, ends), shape=(self.size, len(self.codes)))

    @cached_property
    def each_its_own(self) -> bool:
        """Whether every row is a group of its own, in the order of the groups: there is nothing to add."""
        return self.size == len(self.codes) and bool((self.codes == np.arange(self.size)).all())

    def sums(self, values: Floats) -> Floats:
        """Groups by resamples, from rows by resamples; not to be written into."""
        if self.each_its_own:
            return np.ascontiguousarray(values)
        if values.shape[1] == 1:
            # Of the data themselves an indicator would cost more than it saves.
            added = np.bincount(self.codes, values[:, 0], self.size)
            return np.asarray(added, dtype=np.float64)[:, np.newaxis]
        return values.sum(axis=0, keepdims=True) if self.size == 1 else np.asarray(self.indicator @ values)


class GroupRanks:
    """Mid-ranks of values within each group, less their mean; values that differ by rounding alone tie. The
    levels of all groups stand side by side and are cumulated once; where a group begins it steps back to its
    own start."""

    def __init__(self, values: Floats, group: NDArray[np.int64] | None = None) -> None:
        known, place = snapped_levels(values)
        if group is None:
            self.levels = Groups(place, len(known))
            self.owners = Groups(np.zeros(len(known), dtype=np.int64), 1)
        else:
            levels, codes = np.unique(group * len(known) + place, return_inverse=True)
            self.levels = Groups(codes, len(levels))
            self.owners = Groups(levels // len(known), int(group.max()) + 1)
        self.starts = np.flatnonzero(np.diff(self.owners.codes, prepend=-1))

    def ranks(self, counts: Floats) -> tuple[Floats, Floats]:
        """From how often each row occurs the rank of every row, and the sum of the squares of ranks in every
        group."""
        each = self.levels.sums(counts)
        total = self.owners.sums(each)[self.owners.codes[self.starts]]
        # From one level to the next the rank rises by half of both, and from one group to the next it falls
        # by half of both groups.
        ranks = np.empty_like(each)
        ranks[:1] = each[:1]
        np.add(each[1:], each[:-1], out=ranks[1:])
        ranks[self.starts] -= total
        ranks[self.starts[1:]] -= total[:-1]
        ranks /= 2
        _cumulate(ranks)
        squares = np.zeros((self.owners.size, each.shape[1]))
        for start, stop in zip(self.starts, [*self.starts[1:], len(each)], strict=True):
            own = ranks[start:stop]
            squares[self.owners.codes[start]] = np.einsum("lb,lb,lb->b", each[start:stop], own, own)
        return ranks[self.levels.codes], squares


def _cumulate(values: Floats) -> None:
    """Add every row to the next, in place. Long rows one by one: numpy goes down one column after the other,
    which takes five times as long."""
    if values.shape[1] < _LONG:
        np.cumsum(values, axis=0, out=values)
        return
    for above, row in pairwise(values):
        row += above
