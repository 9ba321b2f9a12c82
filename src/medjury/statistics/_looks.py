"""Looking again and again: an interval that holds at every look, and how many more ratings will settle a question.

A 95 % interval holds at one look that was stated before. Who looks after every rating and stops when the interval
is clear of a limit is wrong far more often. The asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha,
Kennedy & Ramdas (2024, Ann Stat 52:2613-2640, arXiv:2103.06476) holds at all looks together:

    θ̂ ± se · √( 2 (nρ² + 1)/(nρ²) · ln( √(nρ² + 1) / α ) ),   ρ² = (−2 ln α + ln(1 − 2 ln α)) / n*

narrowest at the planned number n* of ratings. It is one for large numbers, as the bootstrap is: it begins at the
first look, which should rest on thirty cases or more, and it does not hold for a handful of severe errors.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import Literal

from scipy import special

from medjury.foundation.errors import MedjuryError
from medjury.statistics._estimate import Estimate

# Nobody rates more than this; whatever needs more is as good as on its limit.
MOST = 1_000_000


@dataclass(frozen=True, slots=True)
class Look:
    """What one of many looks tells of `value` beside a `limit`: the interval that holds at every look, on which
    side it lies, and how many more ratings will put it on one (0: none are needed; None: more than anybody will
    give)."""

    value: float
    low: float
    high: float
    limit: float
    side: Literal["above", "below", "open"]
    more: int | None
    n: int


def look(
    estimate: Estimate, limit: float, *, planned: int, confidence: float = 0.95, one_sided: bool = False
) -> Look | None:
    """Whether an estimate is clear of a limit, however often one looks; None without an interval. `confidence` is
    that of the estimate's own interval, and `planned` the number of ratings at which the sequence is to be
    narrowest.

    >>> seen = look(Estimate(0.60, 0.50, 0.70, 150, "any"), 0.4, planned=200)
    >>> seen.side, seen.more, round(seen.low, 2)
    ('above', 0, 0.44)
    """
    if planned < 1:
        raise MedjuryError(f"a review is planned for at least one rating, not {planned}.")
    if estimate.value is None or estimate.low is None or estimate.high is None or not estimate.n:
        return None
    n, alpha = estimate.n, 1.0 - confidence
    z = float(special.ndtri(1.0 - alpha / 2.0))
    # Intervals need not lie evenly about their estimate: each end has an error of its own.
    below, above = (estimate.value - estimate.low) / z, (estimate.high - estimate.value) / z
    spent = 2.0 * alpha if one_sided else alpha
    wide = _multiplier(n, planned, spent)
    low, high = estimate.value - wide * below, estimate.value + wide * above
    side: Literal["above", "below", "open"] = "above" if low > limit else "below" if high < limit else "open"
    toward = below if estimate.value > limit else above
    more = 0 if side != "open" else _more(n, planned, spent, toward, abs(estimate.value - limit))
    return Look(estimate.value, low, high, limit, side, more, n)


def _multiplier(n: int, planned: int, alpha: float) -> float:
    """How many standard errors the sequence reaches to each side."""
    rho = (-2.0 * math.log(alpha) + math.log(1.0 - 2.0 * math.log(alpha))) / planned
    scaled = n * rho
    return math.sqrt(2.0 * (scaled + 1.0) / scaled * math.log(math.sqrt(scaled + 1.0) / alpha))


def _more(n: int, planned: int, alpha: float, error: float, distance: float) -> int | None:
    """The fewest ratings beside n at which the sequence reaches less far than `distance`."""

    def clear(total: int) -> bool:
        return _multiplier(total, planned, alpha) * error * math.sqrt(n / total) < distance

    return (
        bisect_left(range(1, MOST - n), True, key=lambda more: clear(n + more)) + 1 if clear(MOST) else None
    )
