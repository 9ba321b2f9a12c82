"""Around the bootstrap: cases as rows of sums before it, a p-value after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Read = Callable[[Floats], Mapping[str, Floats]]


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


def two_sided_p(resampled: Floats) -> float | None:
    """Bootstrap p-value of "the value is zero": twice the smaller share of resamples at or beyond zero.

    (1 + count) / (1 + resamples), so that it is never 0; None where nothing was resampled.

    >>> two_sided_p(np.array([1.0, 2.0, 3.0, -1.0, 2.0, 1.0, 4.0, 2.0, 1.0]))
    0.4
    """
    kept = resampled[np.isfinite(resampled)]
    if not kept.size:
        return None
    smaller = min(np.count_nonzero(kept <= 0.0), np.count_nonzero(kept >= 0.0))
    return float(min(1.0, 2.0 * (1 + smaller) / (1 + kept.size)))
