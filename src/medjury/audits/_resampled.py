"""Around the bootstrap: cases as rows of sums before it, a p-value after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from medjury.errors import MedjuryError

Floats = NDArray[np.float64]
Read = Callable[[Floats], Mapping[str, Floats]]


def check_confidence(confidence: float) -> None:
    if not 0.5 < confidence < 1.0:
        raise MedjuryError(f"The confidence is a share between 0.5 and 1, such as 0.95, not {confidence:g}.")


def sums_by_cluster(features: Floats, clusters: Sequence[object]) -> Floats:
    """One row per cluster (case), in order of first appearance: the sums of its rows.

    Where a statistic is made of sums alone, resampling these rows is resampling whole cases, at a fraction of
    the work.
    """
    known: dict[object, int] = {}
    codes = np.array([known.setdefault(name, len(known)) for name in clusters], dtype=np.int64)
    sums = np.zeros((len(known), features.shape[1]))
    np.add.at(sums, codes, features)
    return sums


def two_sided_p(value: float, resampled: Floats, units: int) -> float | None:
    """P-value of "the value is zero": twice the smaller share of resamples at or beyond zero.

    (1 + count) / (1 + resamples). Where fewer than ten resamples lie there, the share is too coarse to be
    corrected for many comparisons, and the tail is Student's, of value / bootstrap standard deviation with
    `units` − 1 degrees of freedom (units: what was resampled). None where nothing was resampled.

    >>> round(two_sided_p(1.7, np.array([1.0, 2.0, 3.0, -1.0, 2.0, 1.0, 4.0, 2.0, 1.0] * 20), 30), 3)
    0.232
    """
    from scipy.special import stdtr

    kept = resampled[np.isfinite(resampled)]
    if not kept.size or not np.isfinite(value):
        return None
    count = int(min(np.count_nonzero(kept <= 0.0), np.count_nonzero(kept >= 0.0)))
    share = min(1.0, 2.0 * (1 + count) / (1 + kept.size))
    spread = float(kept.std(ddof=1)) if kept.size > 1 else 0.0
    if count >= 10 or spread <= 1e-12 * abs(value) or units < 2:
        return share
    coarsest = min(1.0, 2.0 * 11 / (1 + kept.size))
    return min(coarsest, 2.0 * float(stdtr(units - 1, -abs(value) / spread)))
