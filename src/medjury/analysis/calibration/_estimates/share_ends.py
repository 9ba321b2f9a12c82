"""The ends of an estimated share: between 0 and 1, and wider towards the middle."""

from __future__ import annotations

from dataclasses import replace

from scipy import special

from medjury.statistics import Estimate


def with_share_ends(one: Estimate, confidence: float) -> Estimate:
    """The estimate of a share with the score interval of as many answers as its own interval tells.

    θ ± h, of Student's t, treats both sides alike; an estimate of 0.1 that is off is off upwards more often. An
    interval of half-width h is that of m = z²θ(1 − θ)/h² counted answers, and theirs is Wilson's (1927; Dean &
    Pagano 2015, J Surv Stat Methodol 3:484-503). An estimate of 0 or 1, or beyond, keeps its interval, cut at 0
    and 1.

    >>> found = with_share_ends(Estimate(0.1, 0.0, 0.2, 50, "t"), 0.95)
    >>> round(found.low, 3), round(found.high, 3)
    (0.037, 0.243)
    """
    if one.value is None or one.low is None or one.high is None:
        return one
    value, half = one.value, (one.high - one.low) / 2.0
    if not 0.0 < value < 1.0 or half <= 0.0:
        low, high = (min(max(end, 0.0), 1.0) for end in (one.low, one.high))
        return replace(one, value=min(max(value, 0.0), 1.0), low=low, high=high)
    z = float(special.ndtri(0.5 + confidence / 2.0))
    worth = z**2 * value * (1.0 - value) / half**2
    middle = (value + z**2 / (2.0 * worth)) / (1.0 + z**2 / worth)
    reach = z / (1.0 + z**2 / worth) * (value * (1.0 - value) / worth + z**2 / (4.0 * worth**2)) ** 0.5
    return replace(one, low=max(middle - reach, 0.0), high=min(middle + reach, 1.0))
