"""`medjury plan kappa | icc | f1`: how many cases and raters a study needs."""

from __future__ import annotations

import argparse

from medjury.cli._table_options import numbers


def add_arguments(parser: argparse.ArgumentParser) -> None:
    kinds = parser.add_subparsers(dest="statistic", metavar="STATISTIC", required=True)
    kappa = kinds.add_parser("kappa", help="Cohen's kappa of two raters")
    kappa.add_argument("--shares", metavar="P,P2...", type=numbers, required=True,
                       help="how often each grade of the scale is expected, such as 0.1,0.2,0.7")  # fmt: skip
    kappa.add_argument("--weights", choices=("none", "linear", "quadratic"), default="none")
    icc = kinds.add_parser("icc", help="intraclass correlation; without --raters, for 2 to 8 of them")
    icc.add_argument("--raters", metavar="N", type=int, default=argparse.SUPPRESS, help="ratings per case")
    icc.add_argument("--shares", metavar="P,P2...", type=numbers,
                     help="expected shares of the grades: simulate the coarse scale too")  # fmt: skip
    f1 = kinds.add_parser("f1", help="F1 of a yes-or-no finding")
    f1.add_argument(
        "--prevalence", metavar="P", type=float, required=True, help="how often the finding is there"
    )
    for each in (kappa, icc, f1):
        add = each.add_argument
        add("--value", metavar="V", type=float, required=True, help="the value you expect")
        add("--width", metavar="W", type=float, help="wanted full width of the interval")
        add("--null", metavar="V0", type=float, help="or: the value you want to show it exceeds")
        add("--power", metavar="P", type=float, default=0.8)
        add("--confidence", metavar="C", type=float, default=0.95)
        add("--simulate", metavar="N", type=int, dest="simulations",
            help="search by N simulated studies, not by formula")  # fmt: skip
        add("--seed", metavar="N", type=int, default=0)
        add("--json", action="store_true", help="print a list of objects")


def run(options: argparse.Namespace) -> int:
    from medjury.agreement import plan_study

    taken = ("shares", "weights", "raters", "prevalence", "value", "width", "null", "power", "confidence",
             "simulations", "seed")  # fmt: skip
    asked = {name: getattr(options, name) for name in taken if hasattr(options, name)}
    found = plan_study(options.statistic, **asked)
    print(found.to_json() if options.json else found.text())
    return 0
