"""The chance to meet each rule of the gate, by the number of cases."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, sqrt

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from medjury.agreement._planning.plan import smallest

Power = Callable[[int], float]


def above(mean: float, of_one_case: float, limit: float, confidence: float | None = None) -> Power:
    """The chance that an estimate reaches a limit; with a confidence, that the lower end of its interval does,
    which leaves `confidence` above it."""
    z = 0.0 if confidence is None else float(ndtri(confidence))

    def power(cases: int) -> float:
        if cases < 3:
            return 0.0
        error = of_one_case / sqrt(cases)
        return float(ndtr((mean - limit) / error - z)) if error > 0 else float(mean >= limit)

    return power


def inside(mean: float, of_one_case: float, limit: float, confidence: float | None = None) -> Power:
    """The chance that an estimate, or with a confidence both ends of its interval, lie within ± a limit."""
    low, high = above(mean, of_one_case, -limit, confidence), above(-mean, of_one_case, -limit, confidence)
    return lambda cases: max(0.0, low(cases) + high(cases) - 1)


def counted(share: float, least: float, *, of_share: bool = False) -> Power:
    """The chance that at least so many of the cases count; or, `of_share`, at least that share of them."""

    def power(cases: int) -> float:
        wanted = ceil(least * cases - 1e-9) if of_share else int(least)
        return float(binom.sf(wanted - 1, cases, share))

    return power


def few_errors(dangerous: float, rate: float, limit: float, confidence: float | None = None) -> Power:
    """The chance that severe errors, `rate` of the dangerous cases (a share `dangerous` of all), are `limit` or
    fewer of them; with a confidence, that the upper end of the exact interval is. Without a dangerous case nothing
    is known, which is not met."""

    def power(cases: int) -> float:
        there = np.arange(1, cases + 1)
        likely = binom.pmf(there, cases, dangerous)
        kept = likely > 1e-9
        allowed = np.asarray(
            [
                int(limit * n + 1e-9) if confidence is None else most_errors(int(n), limit, confidence)
                for n in there[kept]
            ]
        )
        return float((likely[kept] * binom.cdf(allowed, there[kept], rate)).sum())

    return power


def most_errors(dangerous: int, limit: float, confidence: float) -> int:
    """The most errors among so many dangerous answers at which the exact interval (Clopper-Pearson) ends at the
    limit or below; -1 where not even none is enough."""
    if limit >= 1:
        return dangerous
    at_most = binom.cdf(np.arange(dangerous), dangerous, limit) <= (1 - confidence) / 2
    return int(at_most.sum()) - 1


def dangerous_needed(errors: int, limit: float, confidence: float) -> int | None:
    """How many dangerous answers a gate asks for at so many errors; None where no number is enough.

    >>> [dangerous_needed(errors, 0.1, 0.95) for errors in (0, 1, 2)]
    [36, 54, 70]
    """
    if not 0 < limit < 1:
        return None if limit <= 0 else errors + 1

    def enough(number: int) -> bool:
        return float(binom.cdf(errors, number, limit)) <= (1 - confidence) / 2

    return smallest(enough, errors + 1, lowest=1)
