"""Bootstrap intervals: from resampled values of a statistic to its two ends.

Efron & Tibshirani (1993), An Introduction to the Bootstrap, chapters 13 and 14; Davison & Hinkley (1997),
chapter 5. Ends are the order statistics at (R + 1)·α with interpolation on the normal scale between them, as
in R's `boot`.

"bca_t" is the default. Plain BCa is too narrow with few cases and with skewed grades: its normal quantiles take
the spread for known. Here BCa is read at Student's quantiles instead, stretched by √(n/(n − 1)) (Hesterberg 2015,
Am Stat 69:371-386), on as many degrees of freedom as the spread is known to: 2 / (2/(n − 1) + κ/n), where κ is
the excess kurtosis of the leave-one-out values (Satterthwaite 1946, Biometrics Bull 2:110-114). And neither end
lies nearer than that of the jackknife's t interval on the statistic's symmetric scale (Tukey 1958, Ann Math Stat
29:614). Coefficients of matches have the jackknife's t interval alone, as Gwet (2014, Handbook of Inter-Rater
Reliability, 4th ed., ch. 5) has it for them: they take few values, and of a resample's quantiles, which are such
values, the next one out is taken every time. What this covers in simulated studies is in docs/tables/coverage.md.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np
from scipy import special

from medjury.foundation.documents import choose
from medjury.statistics._resample import Floats
from medjury.statistics._symmetric import Turn, of_matches, symmetric

IntervalMethod = Literal["bca_t", "bca", "percentile", "basic"]

# Two values of a statistic closer than this are the same value, computed in another order.
SAME = 1e-12

JACKKNIFE = "jackknife t"

# What sums, squares and a ratio of them lose of sixteen digits, with room to spare.
_ROUNDING = 1e-9


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
    left, right = special.ndtri(below / (size + 1)), special.ndtri((below + 1) / (size + 1))
    share = (special.ndtri(level) - left) / (right - left)
    return float(ordered[below - 1] + (ordered[below] - ordered[below - 1]) * share)


def bias_correction(value: float, resampled: Floats) -> float:
    """BCa's z0 = Φ⁻¹(share of resamples below the value), half of the ties counted as below.

    Agreement statistics are discrete: many resamples hit the observed value exactly, and a strict count (R's
    `boot`) would call that bias. Ties are equal up to the rounding of a
    coefficient, which a shift of all scores alters.
    """
    tolerance = _ROUNDING * max(1.0, abs(value))
    below = np.count_nonzero(resampled < value - tolerance)
    not_above = np.count_nonzero(resampled <= value + tolerance)
    return float(special.ndtri((below + not_above) / (2 * len(resampled))))


def acceleration(left_out: Floats, multiplicity: Floats) -> float:
    """BCa's a = Σ(θ̄ − θᵢ)³ / (6 (Σ(θ̄ − θᵢ)²)^1.5) from leave-one-cluster-out values θᵢ."""
    known = ~np.isnan(left_out)
    values, times = left_out[known], multiplicity[known]
    if not values.size:
        return 0.0
    deviation = (values * times).sum() / times.sum() - values
    spread = float(times @ deviation**2)
    if spread <= (SAME * max(1.0, float(np.abs(values).max()))) ** 2:
        return 0.0
    return float(times @ deviation**3) / (6.0 * math.pow(spread, 1.5))


def bca_levels(z0: float, a: float, confidence: float) -> tuple[float, float]:
    """The two levels at which BCa reads the resampled values, in place of α/2 and 1 − α/2."""

    def shifted(level: float) -> float:
        z = z0 + special.ndtri(level)
        # Beyond its pole the transformation would turn back; the level stays at the end it was running to.
        return float(special.ndtr(z0 + z / (1.0 - a * z))) if a * z < 1.0 else float(z > 0)

    tail = (1.0 - confidence) / 2.0
    return shifted(tail), shifted(1.0 - tail)


def jackknife(left_out: Floats, multiplicity: Floats, turn: Turn) -> tuple[float, float, float] | None:
    """The standard error √((n − 1)/n Σ(θᵢ − θ̄)²) of the turned values, its degrees of freedom, and n; None where
    there are not two of them."""
    known = np.isfinite(left_out)
    times = multiplicity[known]
    n = float(times.sum())
    if n < 2:
        return None
    values = turn.there(left_out[known])
    deviation = values - float(times @ values) / n
    spread = float(times @ deviation**2) / n
    excess = max(float(times @ deviation**4) / n / spread**2 - 3.0, 0.0) if spread > 0 else 0.0
    freedom = max(2.0 / (2.0 / (n - 1.0) + excess / n), 2.0)
    return math.sqrt((n - 1.0) * spread), freedom, n


def interval(
    value: float,
    resampled: Floats,
    left_out: Floats,
    multiplicity: Floats,
    *,
    method: IntervalMethod,
    confidence: float,
    name: str = "",
) -> tuple[float, float, str]:
    """Low end, high end, and the name of the method that gave them; `name` is the statistic's.

    Where every resample lies on one side of the value BCa does not exist; the percentile interval is given
    instead and says so.
    """
    choose(method, get_args(IntervalMethod), "bootstrap interval")
    ordered = np.sort(resampled)
    turn = symmetric(name, np.concatenate([ordered[[0, -1]], left_out]))
    spread = jackknife(left_out, multiplicity, turn) if method == "bca_t" else None
    near, far, wide = math.inf, -math.inf, confidence
    if spread is not None:
        error, freedom, clusters = spread
        reach = float(special.stdtrit(freedom, 0.5 + confidence / 2.0))
        centre = float(turn.there(np.asarray(value)))
        near, far = turn.back(centre - reach * error), turn.back(centre + reach * error)
        if error > SAME and of_matches(name):
            return near, far, JACKKNIFE
        stretched = reach * math.sqrt(clusters / (clusters - 1.0))
        wide = 1.0 - 2.0 * float(special.ndtr(-stretched))
    tail = (1.0 - wide) / 2.0
    low_level, high_level, said = tail, 1.0 - tail, "percentile"
    if method in ("bca", "bca_t"):
        z0 = bias_correction(value, ordered)
        if math.isfinite(z0):
            low_level, high_level = bca_levels(z0, acceleration(left_out, multiplicity), wide)
            said = "BCa"
        else:
            said = "percentile (no BCa: all resamples lie on one side of the value)"
    low, high = quantile(ordered, low_level), quantile(ordered, high_level)
    if method == "basic":
        return 2.0 * value - high, 2.0 * value - low, "basic"
    if spread is not None:
        low, high = min(low, near), max(high, far)
        said = said.replace("BCa", "BCa-t", 1) if said == "BCa" else said
    return low, high, said
