"""Kendall's coefficient of concordance: how far many raters order the items alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

import numpy as np
from scipy import special

from medjury.statistics import (
    Estimate,
    Floats,
    Options,
    Read,
    Scores,
    Statistics,
    centred_midranks,
    complete_rows,
    estimates,
    levels_of,
    read_scores,
)


@dataclass(frozen=True, slots=True)
class ConcordanceTest:
    """χ² = m(n − 1)W of "the raters order the items at random"; None where W is undefined."""

    w: float | None
    chi_squared: float | None
    degrees_of_freedom: int
    p_value: float | None


def kendall_w(scores: Scores, *, ties_corrected: bool = True, **options: Unpack[Options]) -> Estimate:
    """W = 12 S/(m²(n³ − n) − m Σ(t³ − t)): S the spread of the items' rank sums, m raters, n items, t ties.

    0 is no common order, 1 the same order. Kendall & Babington Smith (1939) Ann Math Stat 10:275-287. Items
    that some rater did not score are left out. Without the correction for ties W is too low on a scale,
    and more so in resamples, so it comes without an interval.

    >>> round(kendall_w([[1, 2], [2, 1], [3, 3], [4, 4]]).value, 3)
    0.9
    """
    table = read_scores(scores, None, 2)
    kept = complete_rows(table) if table.size else np.zeros(len(table), dtype=np.bool_)
    rows, lost = table[kept], int(np.count_nonzero(~kept))
    if not ties_corrected:
        options = {"interval": "none"}
    return estimates(
        rows,
        concordance_statistics(ties_corrected=ties_corrected),
        kept=kept,
        reason=lambda _: _reason(rows),
        note=f"; {lost} of {len(table)} items with missing scores left out" if lost else "",
        **options,
    )["kendall_w"]


def kendall_w_test(scores: Scores, *, ties_corrected: bool = True) -> ConcordanceTest:
    """Friedman's χ² test with the items as treatments: is there any common order at all?

    >>> round(kendall_w_test([[1, 2], [2, 1], [3, 3], [4, 4]]).p_value, 3)
    0.145
    """
    found = kendall_w(scores, ties_corrected=ties_corrected, interval="none")
    raters = read_scores(scores, None, 2).shape[1]
    if found.value is None:
        return ConcordanceTest(None, None, max(found.n - 1, 0), None)
    chi_squared = raters * (found.n - 1) * found.value
    return ConcordanceTest(
        found.value, chi_squared, found.n - 1, float(special.chdtrc(found.n - 1, chi_squared))
    )


def concordance_statistics(*, ties_corrected: bool = True) -> Statistics:
    """Kendall's W for the bootstrap engine; rows are items by raters, incomplete ones do not count."""

    def prepare(rows: Floats) -> Read:
        complete = complete_rows(rows)
        columns = [levels_of(column) for column in rows[complete].T]
        raters = len(columns)

        def read(weights: Floats) -> dict[str, Floats]:
            drawn = weights[:, complete]
            n = drawn.sum(axis=-1)
            rank_sums = np.zeros_like(drawn)
            ties = np.zeros_like(n)
            for column in columns:
                level = column.weights(drawn)
                rank_sums += centred_midranks(level)[:, column.codes]
                ties += (level**3 - level).sum(axis=-1)
            spread = np.einsum("bq,bq,bq->b", drawn, rank_sums, rank_sums)
            most = raters**2 * (n**3 - n) - (raters * ties if ties_corrected else 0.0)
            exists = (most > 0) & (raters > 1)
            return {"kendall_w": 12.0 * spread / np.where(exists, most, np.nan)}

        return read

    return prepare


def _reason(rows: Floats) -> str:
    if rows.ndim < 2 or rows.shape[1] < 2:
        return "there are fewer than two raters"
    if len(rows) < 2:
        return "fewer than two items were scored by every rater"
    return "no rater orders the items: each gave all the same score"
