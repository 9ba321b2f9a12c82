"""How many cases does a kappa need?"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt

import numpy as np
from scipy import special

from medjury.analysis.agreement._pairs.kappa import NAMES, KappaWeights
from medjury.analysis.agreement._planning.joint_distribution import (
    credit,
    joint_with_kappa,
    kappa_of,
    kappa_variance,
)
from medjury.analysis.agreement._planning.plan import Plan, Simulated, check_goal, smallest, two_sided


def plan_kappa(
    value: float,
    marginals: Sequence[float],
    *,
    weights: KappaWeights = "none",
    width: float | None = None,
    null: float | None = None,
    power: float = 0.8,
    confidence: float = 0.95,
) -> Plan:
    """Cases for two raters by formula: an interval of full width `width`, or power to show kappa > `null`.

    With v(k) = n Var(kappa) of Fleiss, Cohen and Everitt at kappa k, n = (2 z / width)^2 v(value), or n =
    [(z_conf sqrt(v(null)) + z_power sqrt(v(value))) / (value - null)]^2, one-sided at 1 - confidence (Flack
    et al. 1988, Psychometrika 53:321-325). `marginals` are the expected shares of all grades of the scale;
    rare grades cost cases. The joint distribution is two normal impressions cut at the same thresholds.

    >>> plan_kappa(0.6, [0.5, 0.5], width=0.2).cases
    246
    """
    check_goal(width, null, value, power)
    weight = credit(len(marginals), weights)
    variance = float(kappa_variance(joint_with_kappa(value, marginals, weights)[0], weight))
    if width is not None:
        cases = ceil((2 * two_sided(confidence) / width) ** 2 * variance)
    else:
        assert null is not None
        under_null = float(kappa_variance(joint_with_kappa(null, marginals, weights)[0], weight))
        reach = float(special.ndtri(confidence)) * sqrt(under_null) + float(special.ndtri(power)) * sqrt(
            variance
        )
        cases = ceil((reach / (value - null)) ** 2)
    goal = None if null is None else power
    return Plan(NAMES[weights], value, cases, 2, width, goal, null, confidence, "large-sample formula")


def simulate_kappa(
    cases: int,
    value: float,
    marginals: Sequence[float],
    *,
    weights: KappaWeights = "none",
    null: float | None = None,
    confidence: float = 0.95,
    simulations: int = 4_000,
    seed: int = 0,
) -> Simulated:
    """Draw studies of `cases` cases and measure what the Wald interval of kappa does in them.

    >>> simulate_kappa(246, 0.6, [0.5, 0.5], seed=1).width < 0.21
    True
    """
    weight = credit(len(marginals), weights)
    joint, _ = joint_with_kappa(value, marginals, weights)
    draws = np.random.default_rng(seed).multinomial(cases, joint.ravel(), size=simulations)
    tables = draws.reshape(simulations, *joint.shape).astype(float)
    estimates = kappa_of(tables, weight)
    known = ~np.isnan(estimates)
    error = np.sqrt(np.maximum(kappa_variance(tables[known], weight), 0) / cases)
    half, found = two_sided(confidence) * error, estimates[known]
    held = (found - half <= value) & (value <= found + half)
    above = (
        None
        if null is None
        else float((found - float(special.ndtri(confidence)) * error > null).sum() / simulations)
    )
    return Simulated(
        cases,
        2,
        float(2 * half.mean()) if known.any() else 2.0,
        float(held.sum() / simulations),
        above,
        float(1 - known.mean()),
        simulations,
        seed,
        "multinomial draws, Wald interval",
    )


def plan_kappa_by_simulation(
    value: float,
    marginals: Sequence[float],
    *,
    weights: KappaWeights = "none",
    width: float | None = None,
    null: float | None = None,
    power: float = 0.8,
    confidence: float = 0.95,
    simulations: int = 4_000,
    seed: int = 0,
) -> Plan:
    """The smallest number of cases that keeps its promise in simulated studies; use it below 100 cases.

    >>> plan_kappa_by_simulation(0.6, [0.5, 0.5], width=0.2, simulations=500, seed=1).cases > 200
    True
    """
    formula = plan_kappa(
        value, marginals, weights=weights, width=width, null=null, power=power, confidence=confidence
    )

    def enough(cases: int) -> bool:
        seen = simulate_kappa(
            cases,
            value,
            marginals,
            weights=weights,
            null=null,
            confidence=confidence,
            simulations=simulations,
            seed=seed,
        )
        return seen.width <= width if width is not None else (seen.power or 0.0) >= power

    cases = smallest(enough, formula.cases)
    method = f"{simulations} simulated studies, seed {seed}"
    return Plan(formula.statistic, value, cases, 2, width, formula.power, null, confidence, method)
