"""Around the bootstrap: cases as rows of sums before it, a p-value after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from medjury.foundation.errors import MedjuryError
from medjury.statistics import UNDEFINED_ALLOWED, Estimate, Replicates

Floats = NDArray[np.float64]
# With fewer resampled units the share of resamples beyond zero alone separates too often (measured).
FEW_UNITS = 20
# A probability is small, never nothing.
SMALLEST = 1e-300


def check_confidence(confidence: float) -> None:
    if not 0.5 < confidence < 1.0:
        raise MedjuryError(f"The confidence is a share between 0.5 and 1, such as 0.95, not {confidence:g}.")


def sums_by_cluster(features: Floats, clusters: Sequence[object] | NDArray[Any]) -> Floats:
    """One row per cluster (case): the sums of its rows.

    Where a statistic is made of sums alone, resampling these rows is resampling whole cases, at a fraction of
    the work.
    """
    names, codes = np.unique(np.asarray(list(clusters)), return_inverse=True)
    sums = np.zeros((len(names), features.shape[1]))
    np.add.at(sums, codes, features)
    return sums


def resampled_p(drawn: Replicates, name: str, estimate: Estimate, units: int | None = None) -> float | None:
    """The p-value of one of the resampled values; None where too many resamples do not have it. `units` are the
    cases that hold something of it, all of them by default."""
    lacking = np.count_nonzero(~np.isfinite(drawn.resampled[name]))
    if estimate.value is None or lacking > UNDEFINED_ALLOWED * drawn.resamples:
        return None
    return two_sided_p(drawn.observed[name], drawn.resampled[name], drawn.n if units is None else units)


def two_sided_p(value: float, resampled: Floats, units: int) -> float | None:
    """P-value of "the value is zero": twice the smaller share of resamples at or beyond zero.

    (1 + count) / (1 + resamples). Where fewer than ten resamples lie there, the share is too coarse to be
    corrected for many comparisons, and the tail is Student's, of value / standard error with `units` − 1 degrees
    of freedom (units: what was resampled; the standard error is the bootstrap's times √(n/(n − 1))). Of few units
    no resample goes beyond what they hold, so the share alone is too small: p is never below Student's there.
    Where no resample differs, all units agree exactly, and p is at least that of the sign test. None where
    nothing was resampled.

    >>> round(two_sided_p(1.7, np.array([1.0, 2.0, 3.0, -1.0, 2.0, 1.0, 4.0, 2.0, 1.0] * 20), 30), 3)
    0.232
    """
    kept = resampled[np.isfinite(resampled)]
    if not kept.size or not np.isfinite(value):
        return None
    count = int(min(np.count_nonzero(kept <= 0.0), np.count_nonzero(kept >= 0.0)))
    share = min(1.0, 2.0 * (1 + count) / (1 + kept.size))
    spread = float(kept.std(ddof=1)) if kept.size > 1 else 0.0
    if spread <= 1e-12 * abs(value) or units < 2:
        return min(1.0, max(share, 2.0 * 0.5**units))
    t = abs(value) / (spread * np.sqrt(units / (units - 1)))
    student = 2.0 * max(float(special.stdtr(units - 1, -t)), SMALLEST)
    if units < FEW_UNITS:
        return student if count < 10 else max(share, student)
    coarsest = min(1.0, 2.0 * 11 / (1 + kept.size))
    return share if count >= 10 else min(coarsest, student)
