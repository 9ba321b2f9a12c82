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
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy import special

from medjury.foundation.documents import choose
from medjury.statistics._resample import Floats

# On which scale a statistic's error is nearest to symmetric, by its name, and how many items its interval needs.
#
# A correlation or kappa of 0.9 can fall further than it can rise; artanh evens that out, as the logit does for a
# share and the logarithm for a size that cannot be negative. The names are those of the agreement table; anything
# before the last blank or null character ("human ", "first ") only says whose value it is. Other names are taken as
# they are.


# Below this many clusters no interval here was seen to hold.
FEWEST_CLUSTERS = 10
# What rests on the rare large differences needs more items: with fewer, most samples hold none of them.
FEWEST_ITEMS = {
    "rmse": 30,
    "limit_of_agreement_low": 30,
    "limit_of_agreement_high": 30,
    "gwet_ac2_quadratic": 30,
    "label_mean": 30,
}
_COEFFICIENTS = (
    "kappa",
    "pearson",
    "spearman",
    "kendall",
    "krippendorff",
    "fleiss",
    "conger",
    "gwet",
    "brennan",
    "icc",
    "mcc",
)
# Whoever differs on an item moves these by one match, or by ranks, however far apart the two scores are: no rare
# item decides, and there is no tail for a bootstrap to find.
_OF_MATCHES = (
    "fleiss_kappa",
    "gwet_ac1",
    "brennan_prediger",
    "mcc",
    "krippendorff_alpha_nominal",
    "krippendorff_alpha_ordinal",
    "sensitivity",
    "specificity",
    "precision",
    "recall",
    "f1",
)
_SHARES = (
    "exact_match",
    "accuracy",
    "balanced_accuracy",
    "macro_f1",
    "micro_f1",
    "f1",
    "sensitivity",
    "specificity",
    "precision",
    "recall",
    "auc",
)
_SIZES = ("rmse", "mae", "within_sd")
# Of whole grades these are one of a few steps: an interval is the step itself, or holds in all studies.
_QUARTILES, _FEW_STEPS = ("median_difference", "difference_q1", "difference_q3"), 20
# Of repeats, where often none differs, and of wins: as they are, but no end where no value can be.
_SPREADS, _PARTS = ("sd", "cv"), ("flip_rate", "changed_share", "win_rate")
# An end lies no nearer to a bound than this, so that its turned value is finite.
_NEAR = 1e-4
# An interval of a coefficient, which has a room of 2 (a share: of 1), that is wider than this tells nothing.
_EVERYTHING = 1.9
# 2r / (1 + r) of the mean of two raters, where r of one is -0.9.
_LOWEST_OF_MEANS = -18.0


@dataclass(frozen=True, slots=True)
class Turn:
    """To the symmetric scale and back, both rising, for values from `low` to `high`."""

    there: Callable[[Floats], Floats]
    back: Callable[[float], float]
    low: float = -np.inf
    high: float = np.inf

    def says_nothing(self, low: float, high: float) -> bool:
        """Whether an interval of a coefficient or a share leaves nearly every value open: it rests on one item,
        without which the value would be another altogether."""
        if self is _COEFFICIENT:
            return high - low > _EVERYTHING
        if self is _SHARE:
            return high - low > _EVERYTHING / 2
        return self is _OF_MEANS and low < _LOWEST_OF_MEANS and high > 0

    def fits(self, values: Floats) -> bool:
        """Whether all values lie where the scale is made for: a name alone does not say what stands behind it."""
        if self.low == -np.inf and self.high == np.inf:
            return True
        finite = np.isfinite(values)
        known = values if finite.all() else values[finite]
        return not known.size or bool(known.min() >= self.low - _NEAR and known.max() <= self.high + _NEAR)


AS_IT_IS = Turn(lambda x: x, float)
_NOT_NEGATIVE = Turn(lambda x: x, lambda y: max(0.0, float(y)), 0.0)
_PART = Turn(lambda x: x, lambda y: min(1.0, max(0.0, float(y))), 0.0, 1.0)
_COEFFICIENT = Turn(
    lambda x: np.arctanh(np.clip(x, -1.0 + _NEAR, 1.0 - _NEAR)), lambda y: float(np.tanh(y)), -1.0, 1.0
)
_OF_MEANS = Turn(
    lambda x: -np.log(np.maximum(1.0 - x, _NEAR)), lambda y: 1.0 - float(np.exp(-y)), -np.inf, 1.0
)
_SHARE = Turn(
    lambda x: np.asarray(special.logit(np.clip(x, _NEAR, 1.0 - _NEAR))),
    lambda y: float(special.expit(y)),
    0.0,
    1.0,
)
_SIZE = Turn(lambda x: np.log(np.maximum(x, _NEAR)), lambda y: float(np.exp(y)), 0.0, np.inf)


def symmetric(name: str, values: Floats) -> Turn:
    """The scale for the statistic called `name`, of which these are values."""
    short = plain(name)
    turn = AS_IT_IS
    if short == "cronbach_alpha" or (short.startswith("icc") and short.endswith(("_k", "_k_z"))):
        turn = _OF_MEANS
    elif "_minus_" in short or "_change" in short:
        turn = AS_IT_IS
    elif short.startswith(_COEFFICIENTS):
        turn = _COEFFICIENT
    elif short.startswith(_SHARES):
        turn = _SHARE
    elif short in _SIZES:
        turn = _SIZE
    elif short in _SPREADS:
        turn = _NOT_NEGATIVE
    elif short in _PARTS:
        turn = _PART
    return turn if turn.fits(values) else AS_IT_IS


def of_matches(name: str) -> bool:
    """Whether the statistic called `name` is a coefficient of matches, of which no rare item decides."""
    return plain(name) in _OF_MATCHES or plain(name).startswith("f1_class")


def in_steps(name: str, resampled: Floats) -> bool:
    """Whether the statistic called `name` is a quartile that takes few values, as between whole grades."""
    return plain(name) in _QUARTILES and len(np.unique(np.round(resampled, 9))) < _FEW_STEPS


def fewest_items(name: str) -> int:
    """How many items the interval of the statistic called `name` needs."""
    return FEWEST_ITEMS.get(plain(name), FEWEST_CLUSTERS)


def plain(name: str) -> str:
    """The statistic's own name, without whose value it is."""
    return name.split("\0")[-1].split(" ")[-1]


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
