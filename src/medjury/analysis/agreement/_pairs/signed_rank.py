"""Wilcoxon's signed-rank test for two raters, right with ties and zeros."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from medjury.foundation.errors import MedjuryError
from medjury.statistics import Floats, Scores, choose, read_pairs, tied

# Up to here the exact distribution takes milliseconds; above, the normal curve is as good.
EXACT_UP_TO = 200
EXACT_AT_MOST = 1000


@dataclass(frozen=True, slots=True)
class SignedRankTest:
    """`rank_sum` is the sum of ranks of positive differences second − first; `z` its standardised distance
    from what no difference would give. `p_value` is two-sided, None where every difference is zero."""

    rank_sum: float
    z: float | None
    p_value: float | None
    n: int
    n_zero: int
    method: str
    reason: str = ""


def wilcoxon_signed_rank(
    first: Scores,
    second: Scores,
    *,
    zeros: Literal["drop", "pratt"] = "drop",
    method: Literal["exact", "normal", "auto"] = "auto",
    correction: bool = False,
) -> SignedRankTest:
    """Do two raters differ in level? A test of the signs and sizes of second − first.

    V = Σ mid-rank of |d| over d > 0. Zeros are dropped (Wilcoxon 1945, Biometrics Bull 1:80-83) or ranked and
    then left without a sign (Pratt 1959, JASA 54:655-667). "exact" gives the permutation distribution of the
    observed mid-ranks, so ties are no obstacle: scipy's `method="exact"` takes the ranks for 1, 2, …, n and
    is wrong there. "normal" uses the tie-corrected variance, with R's continuity correction if asked; "auto"
    is exact up to 200 differences. A test says nothing about the size of a difference: see
    `median_difference`.

    >>> found = wilcoxon_signed_rank([3, 4, 2, 5, 3, 4], [4, 4, 3, 5, 4, 5])
    >>> found.rank_sum, found.p_value, found.n_zero
    (10.0, 0.125, 2)
    """
    choose(zeros, ("drop", "pratt"), "treatment of zeros")
    choose(method, ("exact", "normal", "auto"), "method")
    pairs = read_pairs(first, second)
    difference = tied(pairs.rows[:, 1] - pairs.rows[:, 0], pairs.rows)
    n, n_zero = pairs.n, int(np.count_nonzero(difference == 0))
    ranks = _midranks(np.abs(difference if zeros == "pratt" else difference[difference != 0]))
    if zeros == "pratt":
        ranks = ranks[difference != 0]
    signed = difference[difference != 0]
    if method == "exact" and len(ranks) > EXACT_AT_MOST:
        raise MedjuryError(
            f"The exact distribution is counted for up to {EXACT_AT_MOST} differences, not {len(ranks)}."
        )
    exact = method == "exact" or (method == "auto" and len(ranks) <= EXACT_UP_TO)
    name = ("exact permutation" if exact else "normal approximation") + (
        ", continuity corrected" if correction and not exact else ""
    )
    name += f", zeros {'ranked (Pratt)' if zeros == 'pratt' else 'dropped'}{pairs.note}"
    if not len(ranks):
        reason = "every difference is zero" if n else "no item was scored by both raters"
        return SignedRankTest(0.0, None, None, n, n_zero, name, reason)
    rank_sum = float(ranks[signed > 0].sum())
    distance = rank_sum - float(ranks.sum()) / 2.0
    spread = math.sqrt(float((ranks**2).sum()) / 4.0)
    corrected = distance - math.copysign(0.5, distance) if correction and distance else distance
    p_value = (
        _exact_p(ranks, rank_sum) if exact else min(1.0, 2.0 * float(special.ndtr(-abs(corrected) / spread)))
    )
    return SignedRankTest(rank_sum, distance / spread, p_value, n, n_zero, name)


def _midranks(values: Floats) -> Floats:
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    highest = np.cumsum(counts)
    return np.asarray((highest - (counts - 1) / 2.0)[codes], dtype=np.float64)


def _exact_p(ranks: Floats, rank_sum: float) -> float:
    """Two-sided p under all 2ⁿ equally likely signs; doubled mid-ranks are whole, so an array counts them."""
    doubled = np.rint(2.0 * ranks).astype(np.int64)
    ways = np.zeros(int(doubled.sum()) + 1)
    ways[0] = 1.0
    for rank in doubled:
        shifted = np.zeros_like(ways)
        shifted[rank:] = ways[: len(ways) - rank]
        ways = (ways + shifted) / 2.0
    place = round(2.0 * rank_sum)
    return min(1.0, 2.0 * min(float(ways[: place + 1].sum()), float(ways[place:].sum())))
