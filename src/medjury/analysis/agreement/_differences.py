"""Differences of two raters on the score's own scale: how far apart, in which direction, and a test."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, Unpack

import numpy as np
from scipy import special

from medjury.analysis.agreement._options import Analytic, Options, estimates
from medjury.analysis.agreement._ranks import levels_of, quantiles
from medjury.analysis.agreement._scores import Complete, Scores, complete_rows, read_pairs, tied
from medjury.foundation.documents import choose
from medjury.foundation.errors import MedjuryError
from medjury.statistics import (
    SAME,
    Estimate,
    Floats,
    Read,
    Statistics,
    combined,
    undefined,
    wilson_ends,
)

Difference = Literal[
    "exact_match",
    "offset",
    "absolute_offset",
    "mae",
    "rmse",
    "median_difference",
    "difference_q1",
    "difference_q3",
]
_SIGNED: dict[Difference, Difference] = {"absolute_offset": "offset"}
LIMITS = ("limit_of_agreement_low", "limit_of_agreement_high")
_REACH = 1.959963984540054
SHARES = {"difference_q1": 0.25, "median_difference": 0.5, "difference_q3": 0.75}


def exact_match(first: Scores, second: Scores, **options: Unpack[Options]) -> Estimate:
    """Share of items with the same score. The analytic interval is Wilson's (1927).

    >>> exact_match([1, 2, 3, 4], [1, 2, 3, 5]).value
    0.75
    """
    return differences(read_pairs(first, second), ["exact_match"], **options)["exact_match"]


def offset(first: Scores, second: Scores, *, absolute: bool = False, **options: Unpack[Options]) -> Estimate:
    """Mean of second − first; `absolute` gives its size, by which offsets are compared.

    The interval of a size is the one that the signed offset implies, from 0 where that holds 0: BCa of a size
    itself fails near zero. The analytic interval is Student's t.

    >>> offset([1, 2, 3, 4], [2, 2, 4, 4]).value
    0.5
    """
    name: Difference = "absolute_offset" if absolute else "offset"
    return differences(read_pairs(first, second), [name], **options)[name]


def mean_absolute_error(first: Scores, second: Scores, **options: Unpack[Options]) -> Estimate:
    """Mean of |second − first|.

    >>> mean_absolute_error([1, 2, 3, 4], [2, 2, 2, 4]).value
    0.5
    """
    return differences(read_pairs(first, second), ["mae"], **options)["mae"]


def root_mean_squared_error(first: Scores, second: Scores, **options: Unpack[Options]) -> Estimate:
    """√ mean of (second − first)².

    >>> root_mean_squared_error([1, 2, 3, 4], [3, 2, 3, 4]).value
    1.0
    """
    return differences(read_pairs(first, second), ["rmse"], **options)["rmse"]


def median_difference(first: Scores, second: Scores, **options: Unpack[Options]) -> dict[str, Estimate]:
    """Median of second − first with its quartiles, the usual company of a signed-rank test.

    Quartiles interpolate order statistics linearly (R's type 7).

    >>> found = median_difference([1, 2, 3, 4, 5], [1, 3, 4, 6, 5], resamples=200)
    >>> [found[name].value for name in ("difference_q1", "median_difference", "difference_q3")]
    [0.0, 1.0, 1.0]
    """
    names: list[Difference] = ["median_difference", "difference_q1", "difference_q3"]
    return differences(read_pairs(first, second), names, **options)


def bland_altman(first: Scores, second: Scores, **options: Unpack[Options]) -> dict[str, Estimate]:
    """The offset d̄ and limits of agreement: d̄ ± 1.96 s of the differences second − first, each with its interval.

    Bland & Altman (1986) Lancet 327:307-310. Their analytic intervals (1999, Stat Methods Med Res 8:135-160),
    t·s/√n for d̄ and t·s·√(1/n + 1.96²/(2(n − 1))) for a limit, assume roughly normal differences, which differences
    of grades are not, so the default is the bootstrap.

    >>> found = bland_altman([1, 2, 3, 4], [2, 2, 4, 4])
    >>> found["offset"].value, round(found["limit_of_agreement_high"].value, 3)
    (0.5, 1.632)
    """
    rows, kept, note = read_pairs(first, second)
    if len(rows) < 2:
        reason = "one difference has no spread" if rows.size else "no item was scored by both raters"
        return dict.fromkeys(("offset", *LIMITS), undefined(reason, len(rows), f"Bland & Altman{note}"))
    gap = rows[:, 1] - rows[:, 0]
    deviation = float(gap.std(ddof=1))
    return estimates(
        rows,
        combined(difference_statistics(["offset"]), limit_statistics),
        kept=kept,
        analytic=lambda: _bland_altman_intervals(gap, deviation, float(np.abs(rows).max())),
        reason=lambda _: "one difference has no spread",
        note=note,
        **options,
    )


def limit_statistics(rows: Floats) -> Read:
    """Bland and Altman's limits for the bootstrap engine: mean difference ± 1.96 standard deviations."""
    gap = rows[:, 1] - rows[:, 0]
    middle = gap.mean() if gap.size else 0.0
    features = np.column_stack([np.ones_like(gap), gap - middle, (gap - middle) ** 2])

    def read(weights: Floats) -> dict[str, Floats]:
        n, total, squared = (weights @ features).T
        spread = np.sqrt(np.maximum(squared - total**2 / n, 0.0) / np.where(n > 1, n - 1, np.nan))
        mean = middle + total / n
        return dict(zip(LIMITS, (mean - _REACH * spread, mean + _REACH * spread), strict=True))

    return read


def _bland_altman_intervals(gap: Floats, deviation: float, largest: float) -> dict[str, Analytic]:
    n = len(gap)

    def around(share: float) -> Analytic:
        def ends(value: float, confidence: float) -> tuple[float, float, str] | None:
            if deviation <= SAME * max(1.0, largest):
                return None
            half = float(special.stdtrit(n - 1, 0.5 + confidence / 2.0)) * deviation * float(np.sqrt(share))
            return value - half, value + half, "Student t (Bland & Altman 1999)"

        return ends

    limit = around(1.0 / n + _REACH**2 / (2.0 * (n - 1)))
    return {"offset": around(1.0 / n), LIMITS[0]: limit, LIMITS[1]: limit}


def differences(
    pairs: Complete, names: Iterable[Difference], **options: Unpack[Options]
) -> dict[str, Estimate]:
    """Several measures of difference of the same pairs."""
    rows, kept, note = pairs
    chosen = list(names)
    found = estimates(
        rows,
        difference_statistics(dict.fromkeys(_SIGNED.get(name, name) for name in chosen)),
        kept=kept,
        analytic=lambda: _analytic(rows),
        reason=lambda _: "no item was scored by both raters",
        note=note,
        **options,
    )
    return {
        name: absolute_offset(found[_SIGNED[name]]) if name in _SIGNED else found[name] for name in chosen
    }


def absolute_offset(offset: Estimate) -> Estimate:
    """The size of an offset with the interval that the signed one implies: BCa of a size fails near zero."""
    if offset.value is None or offset.low is None or offset.high is None:
        return offset if offset.value is None else replace(offset, value=abs(offset.value))
    ends = sorted((abs(offset.low), abs(offset.high)))
    low = 0.0 if offset.low <= 0.0 <= offset.high else ends[0]
    return replace(offset, value=abs(offset.value), low=low, high=ends[1])


def difference_statistics(names: Iterable[Difference]) -> Statistics:
    """Measures of difference for the bootstrap engine; incomplete rows (first, second) do not count."""
    chosen = list(names)

    def prepare(rows: Floats) -> Read:
        complete = complete_rows(rows)
        gap = np.where(complete, rows[:, 1] - rows[:, 0], 0.0)
        ordered = any(name in SHARES for name in chosen)
        level = tied(gap, rows) if ordered or "exact_match" in chosen else gap
        present = complete.astype(np.float64)
        features = np.vstack([present, present * (level == 0), gap, np.abs(gap), gap**2])
        levels = levels_of(level[complete] if ordered else np.empty(0))

        def read(weights: Floats) -> dict[str, Floats]:
            n, same, total, absolute, squared = features @ weights.T
            exists = np.where(n > 0, n, np.nan)
            values = {
                "exact_match": same / exists,
                "offset": total / exists,
                "absolute_offset": np.abs(total / exists),
                "mae": absolute / exists,
                "rmse": np.sqrt(squared / exists),
            }
            for name in chosen:
                if name in SHARES:
                    counts = weights if complete.all() else weights[:, complete]
                    values[name] = (
                        quantiles(levels, counts, SHARES[name]) if levels.codes.size else exists * np.nan
                    )
            return {name: values[name] for name in chosen}

        return read

    return prepare


def _analytic(rows: Floats) -> dict[str, Analytic]:
    gap = rows[:, 1] - rows[:, 0]
    n = len(gap)

    def wilson(share: float, confidence: float) -> tuple[float, float, str]:
        return *wilson_ends(share, n, confidence), "Wilson score"

    def student(values: Floats) -> Analytic:
        def ends(mean: float, confidence: float) -> tuple[float, float, str] | None:
            if n < 2 or values.std() <= SAME * max(1.0, float(np.abs(rows).max())):
                return None
            half = float(special.stdtrit(n - 1, 0.5 + confidence / 2.0) * values.std(ddof=1) / np.sqrt(n))
            return mean - half, mean + half, "Student t"

        return ends

    return {"exact_match": wilson, "offset": student(gap), "mae": student(np.abs(gap))}


# Wilcoxon's signed-rank test for two raters, right with ties and zeros.


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
    rows, _, note = read_pairs(first, second)
    difference = tied(rows[:, 1] - rows[:, 0], rows)
    n, n_zero = len(rows), int(np.count_nonzero(difference == 0))
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
    name += f", zeros {'ranked (Pratt)' if zeros == 'pratt' else 'dropped'}{note}"
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
