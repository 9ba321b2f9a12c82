"""A share of answers that come several to a case: an exact interval for as many answers as they are worth."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from medjury.statistics._bootstrap import Clusters
from medjury.statistics._estimate import Estimate, undefined
from medjury.statistics._resample import Floats, cluster_codes
from medjury.statistics._shares.proportion import proportion

# A design effect read from few cases with an event is noise: until more have one, it is taken as larger than seen.
EVENTS_NEEDED = 3.0


def clustered_proportion(hits: ArrayLike, clusters: Clusters = None, *, confidence: float = 0.95) -> Estimate:
    """The share of `hits` with an interval that stays honest with many answers to a case, and at 0 and 1.

    Clopper and Pearson's interval for p·n* events of n* answers, where n* = n / deff · (t_{n−1} / t_{K−1})² is what
    the n answers of K clusters are worth (Korn & Graubard 1998, Surv Methodol 24:193-201). The design effect is the
    variance between clusters over that of independent answers:

        deff = K/(K − 1) · Σ_c (x_c − p·m_c)² / n² · (n − 1) / (p (1 − p)),   x_c events of m_c answers in cluster c

    With events in e clusters only (or non-events, whichever are fewer) it is never taken below
    1 + (m* − 1) · min(1, 3/e), where m* = Σ m_c² / n is the design effect of answers that all go the way of their
    cluster; and n* is at most n. So with no event at all each cluster counts once, which is the safe side: nothing
    tells how far answers of one cluster go together. The interval is then wider than it need be, never narrower.
    Without clusters, or with one answer to each, this is Clopper and Pearson's interval.

    >>> found = clustered_proportion([False] * 60, [case // 6 for case in range(60)])
    >>> found.value, round(found.high, 3)
    (0.0, 0.308)
    """
    flags = np.asarray(hits, dtype=np.float64)
    n, events = len(flags), int(flags.sum())
    if clusters is None or not n:
        return proportion(events, n, confidence=confidence)
    names = clusters if isinstance(clusters, np.ndarray) else np.asarray(list(clusters), dtype=object)
    codes = cluster_codes(names, n)
    sizes = np.bincount(codes).astype(np.float64)
    count = len(sizes)
    if count == n:
        return proportion(events, n, confidence=confidence)
    share = f"{100 * confidence:g} %"
    if events in (0, n):
        found = proportion(count if events else 0, count, confidence=confidence)
        why = f"no {'exception' if events else 'event'}, so each of {count} clusters counts once"
        return Estimate(events / n, found.low, found.high, n, f"{found.method}; {why}")
    if count < 2:
        return undefined("all answers belong to one cluster", n, f"{share} Clopper-Pearson, clustered")
    worth = worth_of(np.bincount(codes, flags).astype(np.float64), sizes, confidence)
    low, high = _clopper_pearson(events / n * worth, worth, confidence)
    method = f"{share} Clopper-Pearson; {n} answers of {count} clusters are worth {worth:.1f}"
    return Estimate(events / n, low, high, n, f"{method} (Korn & Graubard 1998)")


def worth_of(events: Floats, sizes: Floats, confidence: float) -> float:
    """How many independent answers those of all clusters are worth, never too many."""
    n, count = float(sizes.sum()), len(sizes)
    share = float(events.sum()) / n
    between = count / (count - 1.0) * float(((events - share * sizes) ** 2).sum()) / n**2
    seen = between * (n - 1.0) / (share * (1.0 - share))
    largest = float((sizes**2).sum()) / n
    fewer = min(int((events > 0).sum()), int((events < sizes).sum()))
    effect = max(1.0, seen, 1.0 + (largest - 1.0) * min(1.0, EVENTS_NEEDED / fewer))
    tail = 0.5 + confidence / 2.0
    student = float((special.stdtrit(n - 1.0, tail) / special.stdtrit(count - 1.0, tail)) ** 2)
    return min(n, n / effect * student)


def _clopper_pearson(events: float, n: float, confidence: float) -> tuple[float, float]:
    tail = (1.0 - confidence) / 2.0
    low = float(special.betaincinv(events, n - events + 1.0, tail))
    return low, float(special.betaincinv(events + 1.0, n - events, 1.0 - tail))
