"""On which scale a statistic's error is nearest to symmetric, by its name, and how many items its interval needs.

A correlation or kappa of 0.9 can fall further than it can rise; artanh evens that out, as the logit does for a
share and the logarithm for a size that cannot be negative. The names are those of the agreement table; anything
before the last blank or null character ("human ", "first ") only says whose value it is. Other names are taken as
they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from medjury.statistics._resample import Floats

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
