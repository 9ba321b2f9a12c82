"""The difference of two values with an interval made of their own: rates on the same answers, and sizes."""

from __future__ import annotations

from math import hypot
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from medjury.statistics._bootstrap import Clusters
from medjury.statistics._estimate import Estimate, undefined
from medjury.statistics._resample import Floats, Integers, cluster_codes
from medjury.statistics._shares.counted_share import counted_share

# Of cases with several answers.
FEWEST_DIFFERING = 15


def paired_rate_difference(
    first: ArrayLike, second: ArrayLike, clusters: Clusters = None, *, confidence: float = 0.95
) -> Estimate:
    """How much higher the second rate is than the first, on the same answers.

    Only answers on which the two differ tell anything: with b the share that only the second hits and c the share
    that only the first hits, the difference is b − c. With one answer to a case each of the two has Wilson's
    interval (`counted_share`), and they are combined as `difference_of` does, so that the interval has a width
    where both rates are 0 and where they are the same. With several answers to a case it is Student's t of the sums
    of cases, on fewer degrees of freedom where few cases decide (their excess kurtosis), and takes 15 cases in
    which the two differ: with fewer, nothing tells how far answers of one case go together.

    >>> found = paired_rate_difference([1, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    >>> found.value, round(found.low, 2), round(found.high, 2)
    (-0.1, -0.4, 0.22)
    """
    one, two = np.asarray(first, dtype=bool), np.asarray(second, dtype=bool)
    if not len(one):
        return undefined("no answer to compare on", 0, "paired rates")
    whose = _names(clusters, len(one))
    differ, several = len(set(whose[one != two].tolist())), len(set(whose.tolist())) < len(one)
    if several and differ < FEWEST_DIFFERING:
        why = f"no interval: the two differ in {differ} cases, at least {FEWEST_DIFFERING} are needed"
        return Estimate(float(two.mean() - one.mean()), None, None, len(one), why)
    if several:
        return _by_case(two.astype(np.float64) - one, cluster_codes(whose, len(one)), differ, confidence)
    only_second = counted_share(two & ~one, clusters, confidence=confidence)
    only_first = counted_share(one & ~two, clusters, confidence=confidence)
    return difference_of(
        only_second, only_first, f"{100 * confidence:g} % of the discordant answers, counted"
    )


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


def _names(clusters: Clusters, n: int) -> NDArray[Any]:
    return np.arange(n) if clusters is None else np.asarray(list(clusters), dtype=object)


def _by_case(gaps: Floats, codes: Integers, differ: int, confidence: float) -> Estimate:
    value, count = float(gaps.mean()), int(codes.max()) + 1
    sums = np.bincount(codes, gaps - value)
    square = float((sums**2).sum())
    excess = max(count * float((sums**4).sum()) / square**2 - 3.0, 0.0) if square > 0 else 0.0
    freedom = max(2.0 / (2.0 / (count - 1.0) + excess / count), 2.0)
    half = (
        float(special.stdtrit(freedom, 0.5 + confidence / 2.0))
        * (count / (count - 1.0) * square) ** 0.5
        / len(gaps)
    )
    method = (
        f"{100 * confidence:g} % Student t with {freedom:.1f} df by case; they differ in {differ} of {count}"
    )
    return Estimate(value, value - half, value + half, len(gaps), method)
