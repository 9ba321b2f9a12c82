"""How many cases and how many raters does an intraclass correlation need?"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log

import numpy as np
from scipy import special

from medjury.analysis.agreement._planning.joint_distribution import check_marginals, joint_with_kappa
from medjury.analysis.agreement._planning.plan import Plan, Simulated, check_goal, smallest, two_sided
from medjury.foundation.errors import MedjuryError


def plan_icc(
    value: float,
    raters: int,
    *,
    width: float | None = None,
    null: float | None = None,
    power: float = 0.8,
    confidence: float = 0.95,
) -> Plan:
    """Cases for `raters` ratings each, by formula, for the reliability of one rating (ICC of single scores).

    Width: n = 8 z^2 (1 - r)^2 (1 + (k - 1) r)^2 / (k (k - 1) w^2) + 1 (Bonett 2002, Stat Med 21:1331-1335),
    plus 5 r cases where k = 2 and r >= 0.7, as he advises. Power to show r > null, one-sided: n = 1 + 2 k
    (z_conf + z_power)^2 / ((k - 1) ln(C)^2), C = (1 + k t0) / (1 + k t), t = r / (1 - r) (Walter, Eliasziw
    and Donner 1998, Stat Med 17:101-110).

    >>> plan_icc(0.8, 3, width=0.2).cases
    36
    """
    check_goal(width, null, value, power)
    _check(value, raters)
    if width is not None:
        spread = (1 - value) ** 2 * (1 + (raters - 1) * value) ** 2 / (raters * (raters - 1))
        exact = 8 * two_sided(confidence) ** 2 * spread / width**2 + 1
        cases = ceil(exact + (5 * value if raters == 2 and value >= 0.7 else 0))
        return Plan("icc", value, max(cases, 3), raters, width, None, None, confidence, "Bonett 2002")
    assert null is not None
    _check(null, raters)
    odds, null_odds = value / (1 - value), null / (1 - null)
    contrast = log((1 + raters * null_odds) / (1 + raters * odds)) ** 2
    reach = (float(special.ndtri(confidence)) + float(special.ndtri(power))) ** 2
    cases = ceil(1 + 2 * raters * reach / ((raters - 1) * contrast))
    return Plan("icc", value, max(cases, 3), raters, None, power, null, confidence, "Walter et al. 1998")


def simulate_icc(
    cases: int,
    raters: int,
    value: float,
    *,
    marginals: Sequence[float] | None = None,
    null: float | None = None,
    confidence: float = 0.95,
    simulations: int = 2_000,
    seed: int = 0,
) -> Simulated:
    """Draw studies and measure what the one-way F interval of ICC(1,1) does in them.

    Impressions are normal; with `marginals` (expected shares of the grades) they are cut into grades, and the
    ICC of the graded scores is `value`: the coarse scale and its ceiling are then part of the simulation.

    >>> simulate_icc(36, 3, 0.8, seed=1).width < 0.25
    True
    """
    _check(value, raters)
    generator = np.random.default_rng(seed)
    latent = value if marginals is None else joint_with_kappa(value, marginals, "quadratic")[1]
    thresholds = None if marginals is None else special.ndtri(np.cumsum(check_marginals(marginals))[:-1])
    scores = np.sqrt(max(latent, 0.0)) * generator.standard_normal((simulations, cases, 1))
    scores = scores + np.sqrt(1 - max(latent, 0.0)) * generator.standard_normal((simulations, cases, raters))
    if thresholds is not None:
        scores = np.searchsorted(thresholds, scores).astype(float)
    of_case = scores.mean(axis=2)
    between = raters * of_case.var(axis=1, ddof=1)
    within = ((scores - of_case[:, :, None]) ** 2).sum(axis=(1, 2)) / (cases * (raters - 1))
    known = (within > 0) & (between > 0)
    ratio = between[known] / within[known]
    freedom, rest = cases - 1, cases * (raters - 1)
    tail = (1 - confidence) / 2
    low = _from_ratio(ratio / special.fdtri(freedom, rest, 1 - tail), raters)
    high = _from_ratio(ratio * special.fdtri(rest, freedom, 1 - tail), raters)
    bound = _from_ratio(ratio / special.fdtri(freedom, rest, confidence), raters)
    return Simulated(
        cases,
        raters,
        float((high - low).mean()) if known.any() else 2.0,
        float(((low <= value) & (value <= high)).sum() / simulations),
        None if null is None else float((bound > null).sum() / simulations),
        float(1 - known.mean()),
        simulations,
        seed,
        "normal impressions" + ("" if marginals is None else " cut into grades") + ", one-way F interval",
    )


def plan_icc_by_simulation(
    value: float,
    raters: int,
    *,
    marginals: Sequence[float] | None = None,
    width: float | None = None,
    null: float | None = None,
    power: float = 0.8,
    confidence: float = 0.95,
    simulations: int = 2_000,
    seed: int = 0,
) -> Plan:
    """The smallest number of cases that keeps its promise in simulated studies.

    >>> plan_icc_by_simulation(0.8, 3, width=0.2, simulations=300, seed=1).cases > 30
    True
    """
    formula = plan_icc(value, raters, width=width, null=null, power=power, confidence=confidence)

    def enough(cases: int) -> bool:
        seen = simulate_icc(
            cases,
            raters,
            value,
            marginals=marginals,
            null=null,
            confidence=confidence,
            simulations=simulations,
            seed=seed,
        )
        return seen.width <= width if width is not None else (seen.power or 0.0) >= power

    cases = smallest(enough, formula.cases)
    method = f"{simulations} simulated studies, seed {seed}"
    return Plan("icc", value, cases, raters, width, formula.power, null, confidence, method)


def _from_ratio(ratio: np.ndarray, raters: int) -> np.ndarray:
    return np.asarray((ratio - 1) / (ratio + raters - 1))


def _check(value: float, raters: int) -> None:
    if not 0 <= value < 1:
        raise MedjuryError(f"plan for an ICC from 0 to below 1, not {value}.")
    if raters < 2:
        raise MedjuryError(f"agreement needs two raters or more, not {raters}.")
