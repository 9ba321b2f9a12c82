"""Bootstrap intervals: from resampled values of a statistic to its two ends.

Efron & Tibshirani (1993), An Introduction to the Bootstrap, chapters 13 and 14; Davison & Hinkley (1997),
chapter 5. Ends are the order statistics at (R + 1)·α with interpolation on the normal scale between them, as
in R's `boot`.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np
from scipy.special import ndtr, ndtri

from medjury.statistics._choose import choose
from medjury.statistics._resample import Floats

IntervalMethod = Literal["bca", "percentile", "basic"]

# Two values of a statistic closer than this are the same value, computed in another order.
SAME = 1e-12


def quantile(ordered: Floats, level: float) -> float:
    """The quantile of sorted values at (R + 1)·level, interpolated on the normal scale."""
    size = len(ordered)
    position = (size + 1) * level
    below = math.floor(position + 1e-9)
    if below < 1:
        return float(ordered[0])
    if below >= size:
        return float(ordered[-1])
    if abs(position - below) < 1e-9:
        return float(ordered[below - 1])
    left, right = ndtri(below / (size + 1)), ndtri((below + 1) / (size + 1))
    share = (ndtri(level) - left) / (right - left)
    return float(ordered[below - 1] + (ordered[below] - ordered[below - 1]) * share)


def bias_correction(value: float, resampled: Floats) -> float:
    """BCa's z0 = Φ⁻¹(share of resamples below the value), half of the ties counted as below.

    Agreement statistics are discrete: many resamples hit the observed value exactly, and a strict count (R's
    `boot`) would call that bias.
    """
    tolerance = SAME * max(1.0, abs(value))
    below = np.count_nonzero(resampled < value - tolerance)
    not_above = np.count_nonzero(resampled <= value + tolerance)
    return float(ndtri((below + not_above) / (2 * len(resampled))))


def acceleration(left_out: Floats, multiplicity: Floats) -> float:
    """BCa's a = Σ(θ̄ − θᵢ)³ / (6 (Σ(θ̄ − θᵢ)²)^1.5) from leave-one-cluster-out values θᵢ."""
    known = ~np.isnan(left_out)
    values, times = left_out[known], multiplicity[known]
    if not values.size:
        return 0.0
    deviation = np.average(values, weights=times) - values
    spread = float(times @ deviation**2)
    if spread <= (SAME * max(1.0, float(np.abs(values).max()))) ** 2:
        return 0.0
    return float(times @ deviation**3) / (6.0 * math.pow(spread, 1.5))


def bca_levels(z0: float, a: float, confidence: float) -> tuple[float, float]:
    """The two levels at which BCa reads the resampled values, in place of α/2 and 1 − α/2."""

    def shifted(level: float) -> float:
        z = z0 + ndtri(level)
        # Beyond its pole the transformation would turn back; the level stays at the end it was running to.
        return float(ndtr(z0 + z / (1.0 - a * z))) if a * z < 1.0 else float(z > 0)

    tail = (1.0 - confidence) / 2.0
    return shifted(tail), shifted(1.0 - tail)


def interval(
    value: float,
    resampled: Floats,
    left_out: Floats,
    multiplicity: Floats,
    *,
    method: IntervalMethod,
    confidence: float,
) -> tuple[float, float, str]:
    """Low end, high end, and the name of the method that gave them.

    Where every resample lies on one side of the value BCa does not exist; the percentile interval is given
    instead and says so.
    """
    choose(method, get_args(IntervalMethod), "bootstrap interval")
    ordered = np.sort(resampled)
    tail = (1.0 - confidence) / 2.0
    low_level, high_level, name = tail, 1.0 - tail, "percentile"
    if method == "bca":
        z0 = bias_correction(value, ordered)
        if math.isfinite(z0):
            low_level, high_level = bca_levels(z0, acceleration(left_out, multiplicity), confidence)
            name = "BCa"
        else:
            name = "percentile (no BCa: all resamples lie on one side of the value)"
    low, high = quantile(ordered, low_level), quantile(ordered, high_level)
    if method == "basic":
        return 2.0 * value - high, 2.0 * value - low, "basic"
    return low, high, name
