"""The world that a gate is planned for: clinicians and a jury who see the same truth with their own errors."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, lru_cache
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from medjury import special
from medjury.agreement._among_humans.non_inferiority import non_inferiority
from medjury.agreement._pairs.kappa import kappa_statistics
from medjury.agreement._planning.joint_distribution import check_marginals, joint_with_kappa
from medjury.errors import MedjuryError
from medjury.records import dataclass
from medjury.runs import DangerBy, GateRules
from medjury.tables import danger_reference

Numbers = NDArray[np.float64]
# Skewed as grades of clinical text are: most answers are good.
SHARES = (0.05, 0.05, 0.10, 0.35, 0.45)
_STUDIES, _CASES = 400, 200
# Studies whose intervals are computed as the gate computes them.
_INTERVALS, _RESAMPLES = 80, 300


@dataclass(frozen=True)
class Expected:
    """What a study expects. `shares` of the grades from the worst to the best; `agreement` of the jury with a
    clinician and of clinicians `among` themselves, as quadratic kappa; the jury's mean `offset` in grades; the
    share it scores (`coverage`); the share of dangerous answers it scores far too kindly (`errors`). `dangerous` is
    the share of cases with an answer that clinicians call dangerous; None takes it from the shares."""

    shares: tuple[float, ...] = SHARES
    agreement: float = 0.7
    among: float = 0.7
    offset: float = 0.0
    coverage: float = 0.99
    errors: float = 0.0
    dangerous: float | None = None

    def __post_init__(self) -> None:
        for name in ("coverage", "errors", "dangerous"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 1:
                raise MedjuryError(f"{name} is a share between 0 and 1, not {value}.")

    @cached_property
    def _cuts(self) -> Numbers:
        return np.asarray(special.ndtri(np.cumsum(check_marginals(self.shares))[:-1]))

    @cached_property
    def _loadings(self) -> tuple[float, float]:
        """How much of the truth a clinician and the jury see: one factor, with the stated kappas."""
        human = joint_with_kappa(self.among, self.shares, "quadratic")[1]
        jury = joint_with_kappa(self.agreement, self.shares, "quadratic")[1]
        if human <= 0 or jury > sqrt(human) * 0.9999:
            raise MedjuryError(
                f"a jury cannot agree with clinicians to {self.agreement:g} where they agree with one another to "
                f"{self.among:g}: that is more than a jury that knows the truth would. Correct one of the two."
            )
        return sqrt(human), jury / sqrt(human)

    @cached_property
    def _shift(self) -> float:
        """How much kinder the jury's impressions are, for its scores to be `offset` grades higher on average."""
        if not self.offset:
            return 0.0
        from scipy.optimize import brentq

        mean = float(special.ndtr(-self._cuts).sum())

        def gap(shift: float) -> float:
            return float(special.ndtr(shift - self._cuts).sum()) - mean - self.offset

        if gap(-9) > 0 or gap(9) < 0:
            raise MedjuryError(f"scores of these grades cannot be {self.offset:g} off on average.")
        return float(brentq(gap, -9, 9))

    def draw(self, cases: int, clinicians: int, generator: np.random.Generator) -> tuple[Numbers, Numbers]:
        """Grades (0 is the worst) of the clinicians, a column each, and of the jury."""
        human, jury = self._loadings
        truth = generator.normal(size=cases)
        noise = generator.normal(size=(cases, clinicians + 1))
        seen = human * truth[:, np.newaxis] + sqrt(1 - human**2) * noise[:, :-1]
        said = jury * truth + sqrt(1 - jury**2) * noise[:, -1] + self._shift
        return (
            np.searchsorted(self._cuts, seen).astype(np.float64),
            np.searchsorted(self._cuts, said).astype(np.float64),
        )


@dataclass(frozen=True, slots=True)
class Spread:
    """What is found on average, and the standard deviation of one case: that of a study of n cases is /√n."""

    mean: float
    of_one_case: float


@dataclass(frozen=True, slots=True)
class LowEnd:
    """How far the lower end of an interval lies below the estimate, and its own standard deviation: those of one
    case, to be divided by √n."""

    reach: float
    of_one_case: float


@dataclass(frozen=True, slots=True)
class World:
    """What studies of these raters find: with clinicians, less what clinicians find among themselves, each with the
    lower end of its interval in the gate; offset in grades, correlation with their mean, and the share of cases
    that they call dangerous."""

    agreement: Spread
    agreement_low: LowEnd
    difference: Spread
    difference_low: LowEnd
    offset: Spread
    within: Spread
    dangerous: float


def look_at(
    expected: Expected, rules: GateRules, clinicians: int, *, confidence: float = 0.95, seed: int = 0
) -> World:
    """Draw many studies and look at what varies between them; the same question is answered from memory."""
    stated = replace(expected, shares=tuple(expected.shares))
    return _looked_at(stated, rules.danger, rules.danger_by, clinicians, confidence, seed)


@lru_cache(maxsize=64)
def _looked_at(
    expected: Expected, danger: float, danger_by: DangerBy, clinicians: int, confidence: float, seed: int
) -> World:
    generator = np.random.default_rng(seed)
    found = np.empty((_STUDIES, 5))
    raters, top = max(2, clinicians), len(expected.shares) - 1
    for study in range(_STUDIES):
        humans, jury = expected.draw(_CASES, raters, generator)
        own = humans[:, :clinicians]
        mean = own.mean(axis=1)
        with_jury = _kappa(own.ravel(), np.repeat(jury, own.shape[1]))
        pairs = [(i, j) for i in range(raters) for j in range(raters) if i != j]
        among = _kappa(*(np.concatenate([humans[:, pair[side]] for pair in pairs]) for side in (0, 1)))
        dangerous = danger_reference(own, danger_by) <= danger * top + 1e-9
        correlation = float(np.corrcoef(mean, jury)[0, 1]) if jury.std() and mean.std() else 0.0
        found[study] = (
            with_jury, with_jury - among, float((jury - mean).mean()), correlation, float(dangerous.mean()),
        )  # fmt: skip
    means, spreads = found.mean(axis=0), found.std(axis=0, ddof=1) * sqrt(_CASES)
    parts = [Spread(float(mean), float(each)) for mean, each in zip(means[:4], spreads[:4], strict=True)]
    share = float(means[4]) if expected.dangerous is None else expected.dangerous
    lows = _low_ends(expected, raters, confidence, generator)
    return World(parts[0], lows[0], parts[1], lows[1], parts[2], parts[3], share)


def _low_ends(
    expected: Expected, clinicians: int, confidence: float, generator: np.random.Generator
) -> tuple[LowEnd, LowEnd]:
    """Of the agreement with clinicians, and of its difference from theirs: by the very intervals of the gate."""
    kappa = kappa_statistics(range(len(expected.shares)), ["quadratic"])
    found = np.full((_INTERVALS, 4), np.nan)
    for study in range(_INTERVALS):
        humans, jury = expected.draw(_CASES, clinicians, generator)
        made = non_inferiority(
            humans, jury, kappa, margin=1.0, resamples=_RESAMPLES, seed=study, confidence=confidence
        )["kappa_quadratic"]
        for place, each in enumerate((made.judge_human, made.difference)):
            if each.value is not None and each.low is not None:
                found[study, 2 * place : 2 * place + 2] = each.value - each.low, each.low
    reach, spread = np.nanmean(found, axis=0) * sqrt(_CASES), np.nanstd(found, axis=0, ddof=1) * sqrt(_CASES)
    return LowEnd(float(reach[0]), float(spread[1])), LowEnd(float(reach[2]), float(spread[3]))


def _kappa(first: Numbers, second: Numbers) -> float:
    """Quadratic kappa: 1 − E(x − y)² / (Var x + Var y + (Ex − Ey)²)."""
    apart = float(((first - second) ** 2).mean())
    chance = float(first.var() + second.var() + (first.mean() - second.mean()) ** 2)
    return 1 - apart / chance if chance > 0 else 0.0
