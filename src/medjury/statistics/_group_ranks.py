"""Rows added up by group, and ranks inside groups, with a column for each resample.

Weights that stand row by row (distinct rows by resamples) are added and ranked whole rows at a time, which is
several times quicker than along each resample. Weights are whole numbers and ranks halves of them, so that nothing
is rounded in whatever order it is added up.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medjury.statistics._resample import Floats
from medjury.statistics._scores import snapped_levels

# Rows of this many resamples are long.
_LONG = 256


class Groups:
    """Rows in groups, by the number of the group of each row. The indicator is always sparse: on large blocks that
    is quicker than a product; and it is turned once."""

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
    """Mid-ranks of values within each group, less their mean; values that differ by rounding alone tie. The levels
    of all groups stand side by side and are cumulated once; where a group begins it steps back to its own start."""

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
        # From one level to the next the rank rises by half of both, and from one group to the next it falls by half
        # of both groups.
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
    """Add every row to the next, in place. Long rows one by one: numpy goes down one column after the other, which
    takes five times as long."""
    if values.shape[1] < _LONG:
        np.cumsum(values, axis=0, out=values)
        return
    for above, row in pairwise(values):
        row += above
