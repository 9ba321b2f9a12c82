"""Planning a study: how many cases and raters kappa, an ICC or F1 needs, by formula or by simulation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, log, sqrt
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import special

from medjury.analysis.agreement._joint_distribution import (
    check_marginals,
    credit,
    joint_with_kappa,
    kappa_of,
    kappa_variance,
)
from medjury.analysis.agreement._kappa import NAMES, KappaWeights
from medjury.foundation.documents import choose
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Result, Row, percent

_FEWEST_CASES, _MOST_CASES = 3, 10_000_000
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Plan(Row):
    """`cases` rated by `raters` each. `width` is the interval's expected full width and `power` the chance to
    show that the statistic exceeds `null`; each None where it was not asked for."""

    statistic: str
    value: float
    cases: int
    raters: int
    width: float | None
    power: float | None
    null: float | None
    confidence: float
    method: str


@dataclass(frozen=True, slots=True)
class Simulated:
    """What really happens at a sample size: mean width, share of intervals that hold the true value, share of
    studies whose one-sided lower bound lies above `null`, and share in which the statistic was undefined."""

    width: float
    coverage: float
    power: float | None
    undefined: float
    method: str


def two_sided(confidence: float) -> float:
    """The normal quantile of a two-sided interval."""
    if not 0 < confidence < 1:
        raise MedjuryError(f"confidence is a share between 0 and 1, not {confidence}.")
    return float(special.ndtri(1 - (1 - confidence) / 2))


def check_goal(width: float | None, null: float | None, value: float, power: float) -> None:
    """A plan has one goal: a width, or power against a null value below the expected one."""
    if (width is None) == (null is None):
        raise MedjuryError(
            "say what the study is for: either a width of the interval or a null value to beat."
        )
    if width is not None and not 0 < width < 2:
        raise MedjuryError(f"the width of the interval must lie between 0 and 2, not {width}.")
    if null is not None and not null < value:
        raise MedjuryError(f"the null value {null} must lie below the expected value {value}.")
    if not 0 < power < 1:
        raise MedjuryError(f"power is a share between 0 and 1, not {power}.")


def _by_simulation(formula: Plan, simulate: Callable[[int], Simulated], said: str) -> Plan:
    """The smallest number of cases that keeps the promise of a plan in simulated studies; below 100 cases a formula
    may not."""

    def enough(cases: int) -> bool:
        seen = simulate(cases)
        return seen.width <= formula.width if formula.width is not None else (seen.power or 0.0) >= goal

    goal = formula.power or 0.0
    low, high = _FEWEST_CASES - 1, max(formula.cases, _FEWEST_CASES)
    while not enough(high):
        if high > _MOST_CASES:
            raise MedjuryError(f"more than {_MOST_CASES:,} cases would be needed; ask for less.")
        high *= 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return replace(formula, cases=high, method=said)


def _from_variance(
    statistic: str,
    variance: Callable[[float], float],
    value: float,
    width: float | None,
    null: float | None,
    power: float,
    confidence: float,
    method: str,
) -> Plan:
    """Cases for a statistic whose variance, times the number of cases, is a function of its true value."""
    if width is not None:
        cases = ceil((2 * two_sided(confidence) / width) ** 2 * variance(value))
        return Plan(statistic, value, cases, 2, width, None, None, confidence, method)
    assert null is not None
    reach = float(special.ndtri(confidence)) * sqrt(variance(null))
    reach += float(special.ndtri(power)) * sqrt(variance(value))
    cases = ceil((reach / (value - null)) ** 2)
    return Plan(statistic, value, cases, 2, None, power, null, confidence, method)


def _seen(
    value: float,
    null: float | None,
    known: NDArray[np.bool_],
    ends: tuple[Numbers, Numbers],
    width: Numbers,
    bound: Numbers,
    *,
    widest: float,
    method: str,
) -> Simulated:
    """What the intervals of the simulated studies did: those in which the statistic is `known` have ends, a width
    and a one-sided lower bound."""
    (low, high), simulations = ends, len(known)
    return Simulated(
        float(width.mean()) if known.any() else widest,
        float(((low <= value) & (value <= high)).sum() / simulations),
        None if null is None else float((bound > null).sum() / simulations),
        float(1 - known.mean()),
        method,
    )


# How many cases does an F1 score need? Rare findings cost cases.


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
    variance = partial(_variance, prevalence=prevalence)
    return _from_variance("f1", variance, value, width, null, power, confidence, "delta method")


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
    _check_f1(value, prevalence)
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
    return _seen(
        value,
        null,
        known,
        (low, high),
        high - low,
        2 * bound / (1 + bound),
        widest=1.0,
        method="multinomial draws, Wilson interval of tp / (tp + fp + fn)",
    )


def _variance(value: float, prevalence: float) -> float:
    _check_f1(value, prevalence)
    share = value / (2 - value)
    return 4 * share * (1 - share) / ((1 + share) ** 4 * prevalence * (2 - value))


def _wilson(successes: NDArray[np.int64], n: NDArray[np.int64], z: float) -> tuple[Numbers, Numbers]:
    center = (successes + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * np.sqrt(successes * (n - successes) / n + z * z / 4)
    return np.clip(center - half, 0, 1), np.clip(center + half, 0, 1)


def _check_f1(value: float, prevalence: float) -> None:
    if not 0 < value < 1 or not 0 < prevalence < 1:
        raise MedjuryError(f"F1 and prevalence must lie between 0 and 1, not {value} and {prevalence}.")


# How many cases and how many raters does an intraclass correlation need?


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
    _check_icc(value, raters)
    if width is not None:
        spread = (1 - value) ** 2 * (1 + (raters - 1) * value) ** 2 / (raters * (raters - 1))
        exact = 8 * two_sided(confidence) ** 2 * spread / width**2 + 1
        cases = ceil(exact + (5 * value if raters == 2 and value >= 0.7 else 0))
        return Plan("icc", value, max(cases, 3), raters, width, None, None, confidence, "Bonett 2002")
    assert null is not None
    _check_icc(null, raters)
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
    _check_icc(value, raters)
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
    grades = "" if marginals is None else " cut into grades"
    return _seen(
        value,
        null,
        known,
        (low, high),
        high - low,
        bound,
        widest=2.0,
        method=f"normal impressions{grades}, one-way F interval",
    )


def _from_ratio(ratio: Numbers, raters: int) -> Numbers:
    return np.asarray((ratio - 1) / (ratio + raters - 1))


def _check_icc(value: float, raters: int) -> None:
    if not 0 <= value < 1:
        raise MedjuryError(f"plan for an ICC from 0 to below 1, not {value}.")
    if raters < 2:
        raise MedjuryError(f"agreement needs two raters or more, not {raters}.")


# How many cases does a kappa need?


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

    def variance(kappa: float) -> float:
        return float(kappa_variance(joint_with_kappa(kappa, marginals, weights)[0], weight))

    name, method = NAMES[weights], "large-sample formula"
    return _from_variance(name, variance, value, width, null, power, confidence, method)


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
    return _seen(
        value,
        null,
        known,
        (found - half, found + half),
        2 * half,
        found - float(special.ndtri(confidence)) * error,
        widest=2.0,
        method="multinomial draws, Wald interval",
    )


# One call from what a study is for to how many cases and raters it needs.


Planned = Literal["kappa", "icc", "f1"]


@dataclass(frozen=True, slots=True)
class StudyPlan(Result[Plan]):
    """A plan for each number of raters that was asked for."""

    rows: tuple[Plan, ...]
    warnings: tuple[str, ...] = ()

    def text(self) -> str:
        return "\n".join(_sentence(plan) for plan in self.rows)


def plan_study(
    statistic: Planned,
    value: float,
    *,
    width: float | None = None,
    null: float | None = None,
    power: float = 0.8,
    confidence: float = 0.95,
    shares: Sequence[float] | None = None,
    weights: KappaWeights = "none",
    prevalence: float | None = None,
    raters: int | Sequence[int] = tuple(range(2, 9)),
    simulations: int | None = None,
    seed: int = 0,
) -> StudyPlan:
    """How many cases for an interval of full `width`, or for the `power` to show more than `null`.

    Kappa needs the expected `shares` of the grades, F1 the `prevalence` of the finding; an ICC is planned for each
    number of `raters`, and may be simulated on a coarse scale by its `shares`. With `simulations` the search is by
    simulated studies instead of a formula.

    >>> [(plan.raters, plan.cases) for plan in plan_study("icc", 0.7, width=0.2, raters=(2, 3, 5)).rows]
    [(2, 105), (3, 68), (5, 51)]
    """
    choose(statistic, get_args(Planned), "statistic to plan for")
    goal: dict[str, Any] = {"width": width, "null": null, "power": power, "confidence": confidence}
    drawn: dict[str, Any] = {"null": null, "confidence": confidence, "simulations": simulations, "seed": seed}
    plans: list[tuple[Plan, Callable[[int], Simulated]]] = []
    if statistic == "kappa":
        if shares is None:
            raise MedjuryError("planning kappa needs the expected shares of the grades (--shares).")
        made = plan_kappa(value, shares, weights=weights, **goal)
        plans = [(made, lambda cases: simulate_kappa(cases, value, shares, weights=weights, **drawn))]
    elif statistic == "f1":
        if prevalence is None:
            raise MedjuryError("planning F1 needs the prevalence of the finding (--prevalence).")
        made = plan_f1(value, prevalence, **goal)
        plans = [(made, lambda cases: simulate_f1(cases, value, prevalence, **drawn))]
    else:
        if shares and not simulations:
            raise MedjuryError("--shares are part of a simulation of the ICC; add --simulate 2000.")
        for count in [raters] if isinstance(raters, int) else raters:
            study = partial(simulate_icc, raters=count, value=value, marginals=shares, **drawn)
            plans.append((plan_icc(value, count, **goal), study))
    if not simulations:
        return StudyPlan(tuple(plan for plan, _ in plans))
    said = f"{simulations} simulated studies, seed {seed}"
    return StudyPlan(tuple(_by_simulation(*each, said) for each in plans))


def _sentence(plan: Plan) -> str:
    if plan.width is not None:
        goal = f"for an interval {plan.width:g} wide"
    else:
        goal = f"for {percent(plan.power)} power to show more than {plan.null:g}"
    return (
        f"{plan.statistic} of {plan.value:g}: {plan.cases:,} cases, {plan.raters} ratings each, {goal} "
        f"({percent(plan.confidence)} confidence, {plan.method})"
    )
