"""Rows added up by group, and ranks inside groups, with a column for each resample.

Weights that stand row by row (distinct rows by resamples) are added and ranked whole rows at a time, which is
several times quicker than along each resample. Weights are whole numbers and ranks halves of them, so that nothing
is rounded in whatever order it is added up.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medjury.statistics._resample import Floats
from medjury.statistics._scores import snapped_levels


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

    def sums(self, values: Floats) -> Floats:
        """Groups by resamples, from rows by resamples."""
        return values.sum(axis=0, keepdims=True) if self.size == 1 else np.asarray(self.indicator @ values)


class GroupRanks:
    """Mid-ranks of values within each group, less their mean; values that differ by rounding alone tie. The levels
    of all groups stand side by side, are cumulated once and set back to zero where a group begins."""

    def __init__(self, values: Floats, group: NDArray[np.int64] | None = None) -> None:
        known, place = snapped_levels(values)
        if group is None:
            self.levels = Groups(place, len(known))
            self.owners = Groups(np.zeros(len(known), dtype=np.int64), 1)
        else:
            levels, codes = np.unique(group * len(known) + place, return_inverse=True)
            self.levels = Groups(codes, len(levels))
            self.owners = Groups(levels // len(known), int(group.max()) + 1)

    def ranks(self, counts: Floats) -> tuple[Floats, Floats]:
        """From how often each row occurs the rank of every row, and the sum of the squares of ranks in every
        group."""
        each = self.levels.sums(counts)
        total = self.owners.sums(each)
        ranks = np.cumsum(each, axis=0)
        ranks -= each / 2
        ranks -= (np.cumsum(total, axis=0) - total / 2)[self.owners.codes]
        each *= ranks
        each *= ranks
        return ranks[self.levels.codes], self.owners.sums(each)
