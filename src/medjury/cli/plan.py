"""`medjury plan kappa | icc | f1`: how many cases and raters a study needs."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from medjury.errors import MedjuryError

if TYPE_CHECKING:
    from medjury.agreement import Plan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    kinds = parser.add_subparsers(dest="kind", metavar="STATISTIC", required=True)
    kappa = kinds.add_parser("kappa", help="Cohen's kappa of two raters")
    kappa.add_argument("--shares", metavar="P,P2...", type=_shares, required=True,
                       help="how often each grade of the scale is expected, such as 0.1,0.2,0.7")  # fmt: skip
    kappa.add_argument("--weights", choices=("none", "linear", "quadratic"), default="none")
    icc = kinds.add_parser("icc", help="intraclass correlation; without --raters, for 2 to 8 of them")
    icc.add_argument("--raters", metavar="N", type=int, help="ratings per case")
    icc.add_argument("--shares", metavar="P,P2...", type=_shares,
                     help="expected shares of the grades: simulate the coarse scale too")  # fmt: skip
    f1 = kinds.add_parser("f1", help="F1 of a yes-or-no finding")
    f1.add_argument(
        "--prevalence", metavar="P", type=float, required=True, help="how often the finding is there"
    )
    for each in (kappa, icc, f1):
        each.add_argument("--value", metavar="V", type=float, required=True, help="the value you expect")
        each.add_argument("--width", metavar="W", type=float, help="wanted full width of the interval")
        each.add_argument(
            "--null", metavar="V0", type=float, help="or: the value you want to show it exceeds"
        )
        each.add_argument("--power", metavar="P", type=float, default=0.8)
        each.add_argument("--confidence", metavar="C", type=float, default=0.95)
        each.add_argument(
            "--simulate", metavar="N", type=int, help="search by N simulated studies, not by formula"
        )
        each.add_argument("--seed", metavar="N", type=int, default=0)
        each.add_argument("--json", action="store_true", help="print a list of objects")


def run(options: argparse.Namespace) -> int:
    try:
        plans = _plans(options)
    except ModuleNotFoundError as error:
        raise MedjuryError(f"planning needs {error.name}: pip install 'medjury[stats]'") from None
    if options.json:
        print(json.dumps([asdict(plan) for plan in plans], indent=1))
        return 0
    for plan in plans:
        if plan.width is not None:
            goal = f"for an interval {plan.width:g} wide"
        else:
            goal = f"for {plan.power:.0%} power to show more than {plan.null:g}"
        print(
            f"{plan.statistic} of {plan.value:g}: {plan.cases} cases, {plan.raters} ratings each, {goal} "
            f"({plan.confidence:.0%} confidence, {plan.method})"
        )
    return 0


def _plans(options: argparse.Namespace) -> list[Plan]:
    from medjury import agreement

    goal: dict[str, Any] = {
        "width": options.width,
        "null": options.null,
        "power": options.power,
        "confidence": options.confidence,
    }
    simulated = {"simulations": options.simulate, "seed": options.seed}
    if options.kind == "kappa":
        if options.simulate:
            plan = agreement.plan_kappa_by_simulation(
                options.value, options.shares, weights=options.weights, **goal, **simulated
            )
            return [plan]
        return [agreement.plan_kappa(options.value, options.shares, weights=options.weights, **goal)]
    if options.kind == "f1":
        if options.simulate:
            return [agreement.plan_f1_by_simulation(options.value, options.prevalence, **goal, **simulated)]
        return [agreement.plan_f1(options.value, options.prevalence, **goal)]
    if options.shares and not options.simulate:
        raise MedjuryError("--shares are part of a simulation of the ICC; add --simulate 2000.")
    counts = range(2, 9) if options.raters is None else [options.raters]
    if options.simulate:
        return [
            agreement.plan_icc_by_simulation(
                options.value, count, marginals=options.shares, **goal, **simulated
            )
            for count in counts
        ]
    return [agreement.plan_icc(options.value, count, **goal) for count in counts]


def _shares(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(number) for number in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of shares such as 0.1,0.2,0.7") from None
