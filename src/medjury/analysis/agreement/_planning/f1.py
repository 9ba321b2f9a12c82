"""How many cases does an F1 score need? Rare findings cost cases."""

from __future__ import annotations

from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import special

from medjury.analysis.agreement._planning.plan import Plan, Simulated, check_goal, smallest, two_sided
from medjury.foundation.errors import MedjuryError


def plan_f1(
    value: float,
    prevalence: float,
    *,
    width: float | None = None,
    null: float | None = None,
    power: float = 0.8,
    confidence: float = 0.95,
) -> Plan:
    """Cases by formula, for precision and recall both equal to `value`.

    F1 = 2 J / (1 + J) with J = tp / (tp + fp + fn), and tp is binomial among the m cases that are positive to
    someone, so n Var(F1) = 4 J (1 - J) / ((1 + J)^4 s) with s = m / n = prevalence (2 - value) by the delta
    method (cf. Takahashi et al. 2022, Applied Intelligence 52:4961-4972).

    >>> plan_f1(0.85, 0.3, width=0.1).cases
    376
    """
    check_goal(width, null, value, power)
    variance = _variance(value, prevalence)
    if width is not None:
        cases = ceil((2 * two_sided(confidence) / width) ** 2 * variance)
        return Plan("f1", value, cases, 2, width, None, None, confidence, "delta method")
    assert null is not None
    reach = float(special.ndtri(confidence)) * sqrt(_variance(null, prevalence)) + float(
        special.ndtri(power)
    ) * sqrt(variance)
    cases = ceil((reach / (value - null)) ** 2)
    return Plan("f1", value, cases, 2, None, power, null, confidence, "delta method")


def simulate_f1(
    cases: int,
    value: float,
    prevalence: float,
    *,
    null: float | None = None,
    confidence: float = 0.95,
    simulations: int = 4_000,
    seed: int = 0,
) -> Simulated:
    """Draw studies of `cases` cases and measure the Wilson interval of J, carried over to F1.

    >>> 0.93 < simulate_f1(376, 0.85, 0.3, seed=1).coverage < 0.97
    True
    """
    _check(value, prevalence)
    hit = prevalence * value
    miss = prevalence - hit
    if hit + 2 * miss > 1:
        raise MedjuryError(
            f"an F1 of {value} at a prevalence of {prevalence} needs more false positives than fit."
        )
    shares = [hit, miss, miss, max(0.0, 1 - hit - 2 * miss)]
    draws = np.random.default_rng(seed).multinomial(cases, shares, size=simulations)
    found, touched = draws[:, 0], draws[:, :3].sum(axis=1)
    known = touched > 0
    low, high = _wilson(found[known], touched[known], two_sided(confidence))
    low, high = 2 * low / (1 + low), 2 * high / (1 + high)
    bound, _ = _wilson(found[known], touched[known], float(special.ndtri(confidence)))
    above = None if null is None else float((2 * bound / (1 + bound) > null).sum() / simulations)
    return Simulated(
        cases,
        2,
        float((high - low).mean()) if known.any() else 1.0,
        float(((low <= value) & (value <= high)).sum() / simulations),
        above,
        float(1 - known.mean()),
        simulations,
        seed,
        "multinomial draws, Wilson interval of tp / (tp + fp + fn)",
    )


def plan_f1_by_simulation(
    value: float,
    prevalence: float,
    *,
    width: float | None = None,
    null: float | None = None,
    power: float = 0.8,
    confidence: float = 0.95,
    simulations: int = 4_000,
    seed: int = 0,
) -> Plan:
    """The smallest number of cases that keeps its promise in simulated studies.

    >>> plan_f1_by_simulation(0.85, 0.3, width=0.1, simulations=500, seed=1).cases > 300
    True
    """
    formula = plan_f1(value, prevalence, width=width, null=null, power=power, confidence=confidence)

    def enough(cases: int) -> bool:
        seen = simulate_f1(
            cases, value, prevalence, null=null, confidence=confidence, simulations=simulations, seed=seed
        )
        return seen.width <= width if width is not None else (seen.power or 0.0) >= power

    cases = smallest(enough, formula.cases)
    method = f"{simulations} simulated studies, seed {seed}"
    return Plan("f1", value, cases, 2, width, formula.power, null, confidence, method)


def _variance(value: float, prevalence: float) -> float:
    _check(value, prevalence)
    share = value / (2 - value)
    return 4 * share * (1 - share) / ((1 + share) ** 4 * prevalence * (2 - value))


def _wilson(
    successes: NDArray[np.int64], n: NDArray[np.int64], z: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    center = (successes + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * np.sqrt(successes * (n - successes) / n + z * z / 4)
    return np.clip(center - half, 0, 1), np.clip(center + half, 0, 1)


def _check(value: float, prevalence: float) -> None:
    if not 0 < value < 1 or not 0 < prevalence < 1:
        raise MedjuryError(f"F1 and prevalence must lie between 0 and 1, not {value} and {prevalence}.")
