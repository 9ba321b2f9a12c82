"""Averages over pairs of raters: the judge with each human, and the humans with one another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from medjury.agreement._pairs.system_estimates import collapsed
from medjury.statistics import Floats, Read, Statistics, complete_rows


def mean_over_pairs(statistics: Statistics, pairs: Sequence[tuple[int, int]], prefix: str = "") -> Statistics:
    """A two-rater statistic averaged over pairs of columns of wider rows; a pair for which it does not
    exist (no common items, a constant rater) is left out of the mean."""

    def prepare(rows: Floats) -> Read:
        reads = []
        for pair in pairs:
            complete = complete_rows(rows[:, list(pair)])
            # A pair without common items has nothing to prepare.
            if complete.any():
                reads.append((complete, collapsed(statistics, pair)(rows[complete])))

        def read(weights: Floats) -> dict[str, Floats]:
            found = [each(weights if complete.all() else weights[:, complete]) for complete, each in reads]
            names = found[0] if found else {}
            return {prefix + name: _mean([values[name] for values in found]) for name in names}

        return read

    return prepare


def _mean(values: Sequence[Floats]) -> Floats:
    table = np.stack(values)
    known = np.isfinite(table)
    count = known.sum(axis=0)
    return np.asarray(np.where(known, table, 0.0).sum(axis=0) / np.where(count > 0, count, np.nan))
