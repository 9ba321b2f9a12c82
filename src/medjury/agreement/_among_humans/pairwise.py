"""Agreement over pairs of raters: the judge with each human, and the humans with one another."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from medjury.agreement._among_humans.pooled_pairs import pooled_over_pairs
from medjury.agreement._pairs.system_estimates import collapsed
from medjury.statistics import Floats, Read, Statistics, complete_rows
from medjury.tables import Grades

# A coefficient of one pair is averaged where every pair shares this many items, or most of the few that there are.
MINIMUM_OVERLAP = 20
_MOST = 0.8
# What is blind to a rater's level takes each human's own mean out. Pooled over pairs it has an interval where a
# human rated this many items on average. With fewer, these means are so uncertain that the interval holds in more
# than 99 of 100 studies: far too wide.
_RATED = 10
_BLIND_TO_LEVELS = ("pearson", "spearman", "icc_3_1", "icc_3_k", "icc_3_k_z")


def incomplete(humans: Floats) -> bool:
    """Whether some two humans share so few items that their agreement is pooled over pairs, not averaged."""
    present = (~np.isnan(humans)).astype(np.float64)
    doubly = int((present.sum(axis=1) >= 2).sum())
    shared = shared_items(humans, list(combinations(range(humans.shape[1]), 2)))
    return bool(shared.size) and float(shared.min()) < min(MINIMUM_OVERLAP, _MOST * doubly)


def too_few_each(humans: Floats, statistic: str) -> str | None:
    """Why this coefficient, pooled over pairs, has no interval; None where it may have one."""
    scored = (~np.isnan(humans)).sum(axis=0)
    each = float(scored[scored > 0].mean()) if scored.any() else 0.0
    if each >= _RATED or statistic not in _BLIND_TO_LEVELS:
        return None
    return f"no interval: each human rated {each:.1f} items on average, and {_RATED} are needed"


def shared_items(table: Floats, pairs: Sequence[tuple[int, int]]) -> Floats:
    """For each pair of columns, how many items have both scores."""
    present = (~np.isnan(table)).astype(np.float64)
    left, right = np.asarray(pairs, dtype=np.int64).reshape(-1, 2).T
    return np.asarray((present.T @ present)[left, right])


def over_pairs(
    statistics: Statistics,
    table: Floats,
    pairs: Sequence[tuple[int, int]],
    prefix: str = "",
    *,
    pool: bool,
    grades: Grades | None = None,
) -> Statistics:
    """A two-rater statistic over pairs of columns of `table`: pooled, or the mean of the pairs' own values.

    A statistic that cannot be pooled is left undefined where the rest is."""
    if not pool:
        return mean_over_pairs(statistics, pairs, prefix)
    shared = next((pair for pair in pairs if complete_rows(table[:, list(pair)]).any()), None)
    if shared is None:
        return lambda rows: lambda weights: {}
    two = table[:, list(shared)]
    with np.errstate(divide="ignore", invalid="ignore"):
        names = list(statistics(two[complete_rows(two)][:1])(np.ones((1, 1))))
    pooled = pooled_over_pairs(names, pairs, prefix, grades)

    def prepare(rows: Floats) -> Read:
        read = pooled(rows)

        def every(weights: Floats) -> dict[str, Floats]:
            found = dict(read(weights))
            nothing = np.full(len(weights), np.nan)
            return {prefix + name: found.get(prefix + name, nothing) for name in names}

        return every

    return prepare


def said_of_pairs(table: Floats, pairs: Sequence[tuple[int, int]], *, pool: bool) -> str:
    """How many pairs a number over pairs rests on, for its method."""
    shared = shared_items(table, pairs)
    counting = int(np.count_nonzero(shared))
    of_all = f"{counting} pairs of raters"
    if counting < len(pairs):
        of_all = f"the {counting} of {len(pairs)} pairs of raters who share an item"
    if not pool:
        return f"mean over {of_all}"
    return f"pooled over {of_all}, {int(shared.sum()):,} shared scores"


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
