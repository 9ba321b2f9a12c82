"""The difference of two values with an interval made of their own: rates on the same answers, and sizes."""

from __future__ import annotations

from math import hypot

import numpy as np
from numpy.typing import ArrayLike

from medjury.statistics._bootstrap import Clusters
from medjury.statistics._estimate import Estimate, undefined
from medjury.statistics._shares.clustered_proportion import clustered_proportion


def paired_rate_difference(
    first: ArrayLike, second: ArrayLike, clusters: Clusters = None, *, confidence: float = 0.95
) -> Estimate:
    """How much higher the second rate is than the first, on the same answers.

    Only answers on which the two differ tell anything: with b the share that only the second hits and c the share
    that only the first hits, the difference is b − c. Each of the two has its exact, clustered interval
    (`clustered_proportion`), and they are combined as `difference_of` does, so that the interval has a width where
    both rates are 0 and where they are the same.

    >>> found = paired_rate_difference([1, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    >>> found.value, round(found.low, 2), round(found.high, 2)
    (-0.1, -0.45, 0.22)
    """
    one, two = np.asarray(first, dtype=bool), np.asarray(second, dtype=bool)
    if not len(one):
        return undefined("no answer to compare on", 0, "paired rates")
    only_second = clustered_proportion(two & ~one, clusters, confidence=confidence)
    only_first = clustered_proportion(one & ~two, clusters, confidence=confidence)
    return difference_of(only_second, only_first, f"{100 * confidence:g} % of the discordant answers, exact")


def difference_of(first: Estimate, second: Estimate, what: str) -> Estimate:
    """first − second with the interval that their own intervals imply:

    low = d − √((f − f_low)² + (s_high − s)²), high likewise. Zou & Donner (2008) Stat Med 27:1693-1702, after
    Newcombe (1998) Stat Med 17:2635-2650. It takes the two as independent, so where they go together it is wide.
    """
    for each in (first, second):
        if each.value is None:
            return undefined(each.reason, each.n, what)
    f, s = float(first.value or 0.0), float(second.value or 0.0)
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return Estimate(f - s, None, None, first.n, f"no interval: {what}")
    low = f - s - hypot(f - first.low, second.high - s)
    high = f - s + hypot(first.high - f, s - second.low)
    return Estimate(f - s, low, high, first.n, f"{what} (Zou & Donner 2008)")
