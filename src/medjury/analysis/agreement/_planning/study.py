"""One call from what a study is for to how many cases and raters it needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from medjury.analysis.agreement._pairs.kappa import KappaWeights
from medjury.analysis.agreement._planning.f1 import plan_f1, plan_f1_by_simulation
from medjury.analysis.agreement._planning.icc import plan_icc, plan_icc_by_simulation
from medjury.analysis.agreement._planning.kappa import plan_kappa, plan_kappa_by_simulation
from medjury.analysis.agreement._planning.plan import Plan
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Result, choose, percent

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
    simulated: dict[str, Any] = {"simulations": simulations, "seed": seed}
    if statistic == "kappa":
        if shares is None:
            raise MedjuryError("planning kappa needs the expected shares of the grades (--shares).")
        if simulations:
            return StudyPlan((plan_kappa_by_simulation(value, shares, weights=weights, **goal, **simulated),))
        return StudyPlan((plan_kappa(value, shares, weights=weights, **goal),))
    if statistic == "f1":
        if prevalence is None:
            raise MedjuryError("planning F1 needs the prevalence of the finding (--prevalence).")
        if simulations:
            return StudyPlan((plan_f1_by_simulation(value, prevalence, **goal, **simulated),))
        return StudyPlan((plan_f1(value, prevalence, **goal),))
    if shares and not simulations:
        raise MedjuryError("--shares are part of a simulation of the ICC; add --simulate 2000.")
    counts = [raters] if isinstance(raters, int) else raters
    if simulations:
        return StudyPlan(
            tuple(
                plan_icc_by_simulation(value, count, marginals=shares, **goal, **simulated)
                for count in counts
            )
        )
    return StudyPlan(tuple(plan_icc(value, count, **goal) for count in counts))


def _sentence(plan: Plan) -> str:
    if plan.width is not None:
        goal = f"for an interval {plan.width:g} wide"
    else:
        goal = f"for {percent(plan.power)} power to show more than {plan.null:g}"
    return (
        f"{plan.statistic} of {plan.value:g}: {plan.cases:,} cases, {plan.raters} ratings each, {goal} "
        f"({percent(plan.confidence)} confidence, {plan.method})"
    )
