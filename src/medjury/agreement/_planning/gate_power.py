"""The chance to meet each rule of the gate, by the number of cases."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from medjury import special
from medjury.agreement._planning.gate_world import LowEnd
from medjury.agreement._planning.plan import smallest

Power = Callable[[int], float]
Counts = NDArray[np.int64]


def above(mean: float, of_one_case: float, limit: float, confidence: float | None = None) -> Power:
    """The chance that an estimate reaches a limit; with a confidence, that the lower end of its interval does,
    which leaves `confidence` above it."""
    z = 0.0 if confidence is None else float(special.ndtri(confidence))

    def power(cases: int) -> float:
        if cases < 3:
            return 0.0
        error = of_one_case / sqrt(cases)
        return float(special.ndtr((mean - limit) / error - z)) if error > 0 else float(mean >= limit)

    return power


def low_end(mean: float, low: LowEnd, limit: float) -> Power:
    """The chance that the lower end of an interval is at or above a limit."""

    def power(cases: int) -> float:
        if cases < 3:
            return 0.0
        return float(special.ndtr((mean - low.reach / sqrt(cases) - limit) / (low.of_one_case / sqrt(cases))))

    return power


def inside(mean: float, of_one_case: float, limit: float, confidence: float | None = None) -> Power:
    """The chance that an estimate, or with a confidence both ends of its interval, lie within ± a limit."""
    low, high = above(mean, of_one_case, -limit, confidence), above(-mean, of_one_case, -limit, confidence)
    return lambda cases: max(0.0, low(cases) + high(cases) - 1)


def counted(share: float, least: float, *, of_share: bool = False) -> Power:
    """The chance that at least so many of the cases count; or, `of_share`, at least that share of them."""
    from scipy.stats import binom

    def power(cases: int) -> float:
        wanted = ceil(least * cases - 1e-9) if of_share else int(least)
        return float(binom.sf(wanted - 1, cases, share))

    return power


def few_errors(dangerous: float, rate: float, limit: float, confidence: float | None = None) -> Power:
    """The chance that severe errors, `rate` of the dangerous cases (a share `dangerous` of all), are `limit` or
    fewer of them; with a confidence, that the upper end of the exact interval is. Without a dangerous case nothing
    is known, which is not met."""
    from scipy.stats import binom

    def power(cases: int) -> float:
        mean, reach = cases * dangerous, 8 * sqrt(cases * dangerous * (1 - dangerous)) + 8
        there = np.arange(max(1, int(mean - reach)), min(cases, int(mean + reach)) + 1)
        plain = np.floor(limit * there + 1e-9)
        allowed = plain if confidence is None else most_errors(there, limit, confidence)
        return float((binom.pmf(there, cases, dangerous) * binom.cdf(allowed, there, rate)).sum())

    return power


def most_errors(dangerous: Counts, limit: float, confidence: float) -> Counts:
    """The most errors among so many dangerous answers at which the exact interval (Clopper-Pearson) ends at the
    limit or below; -1 where not even none is enough."""
    from scipy.stats import binom

    tail = (1 - confidence) / 2
    if not 0 < limit < 1:
        return np.asarray(dangerous if limit >= 1 else np.full_like(dangerous, -1))
    first = binom.ppf(tail, dangerous, limit)  # the fewest errors that are no longer so rare
    return np.asarray(np.where(binom.cdf(first, dangerous, limit) <= tail, first, first - 1), dtype=np.int64)


def dangerous_needed(errors: int, limit: float, confidence: float) -> int | None:
    """How many dangerous answers a gate asks for at so many errors; None where no number is enough.

    >>> [dangerous_needed(errors, 0.1, 0.95) for errors in (0, 1, 2)]
    [36, 54, 70]
    """
    from scipy.stats import binom

    if not 0 < limit < 1:
        return None if limit <= 0 else errors + 1

    def enough(number: int) -> bool:
        return float(binom.cdf(errors, number, limit)) <= (1 - confidence) / 2

    return smallest(enough, errors + 1, lowest=1)
