"""A rate of errors, of which the upper end is the promise: that end is exact, the other close to its 2.5 %."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from medjury.statistics._bootstrap import Clusters
from medjury.statistics._estimate import Estimate
from medjury.statistics._resample import cluster_codes
from medjury.statistics._shares.clustered_proportion import clustered_proportion
from medjury.statistics._shares.weighted import effective_n, weighted_proportion


def error_rate(
    errors: ArrayLike,
    clusters: Clusters = None,
    *,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Estimate:
    """The share of `errors` among answers, where "at most" is what is asked for.

    The upper end is that of `clustered_proportion` (of `weighted_proportion` where `weights` are given), which is
    exact or wider. Held exactly too, the lower end would make the interval hold in 99 % of small studies. It is
    Jeffreys' instead (Brown, Cai & DasGupta 2001, Stat Sci 16:101-133), for m = min(n, n/(n − 1) · p(1 − p)/V)
    answers, where V is the variance of the share p between clusters as it was seen:

        low = the 2.5 % quantile of Beta(p·m + 1/2, (1 − p)·m + 1/2), and 0 where there is no error

    So "too many, beyond doubt" is said a little sooner, and "few, beyond doubt" exactly as late as before. Not for
    a rate that is to be high, as coverage is: there the lower end is the promise.

    >>> found = error_rate([True] * 2 + [False] * 18)
    >>> found.value, round(found.low, 3), round(found.high, 3)
    (0.1, 0.021, 0.317)
    """
    flags = np.asarray(errors, dtype=np.float64)
    n = len(flags)
    if weights is None:
        usual, own = clustered_proportion(flags, clusters, confidence=confidence), np.ones(n)
    else:
        usual = weighted_proportion(flags, weights, clusters, confidence=confidence)
        own = np.asarray(weights, dtype=np.float64)
    share = usual.value
    if share is None or usual.low is None:
        return usual
    names = np.arange(n) if clusters is None else np.asarray(list(clusters), dtype=object)
    codes = cluster_codes(names, n)
    sizes = np.bincount(codes, own) / own.sum()
    if 0.0 < share < 1.0 and len(sizes) < 2:
        return usual
    low, tail = 0.0, (1.0 - confidence) / 2.0
    if share > 0.0:
        worth = effective_n(sizes)
        if share < 1.0:
            gaps = np.bincount(codes, own * (flags - share)) / own.sum()
            between = len(sizes) / (len(sizes) - 1.0) * float((gaps**2).sum())
            most = n / (n - 1.0) * share * (1.0 - share)
            worth = float(n) if between * n <= most else most / between
        low = float(special.betaincinv(share * worth + 0.5, (1.0 - share) * worth + 0.5, tail))
    kind, _, rest = usual.method.removeprefix(f"{100 * confidence:g} % ").partition("; ")
    upper = "exact (Clopper-Pearson)" if weights is None else kind
    said = f"{100 * confidence:g} %: lower end Jeffreys', upper end {upper}"
    return replace(usual, low=min(low, share), method=f"{said}: {rest}" if rest else said)
