"""`medjury compare`: what changed between two runs."""

from __future__ import annotations

import argparse

from medjury.cli._options import add_draws, add_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("first", metavar="RUN_A", help="the run folder to compare with")
    add("second", metavar="RUN_B", help="the run folder to compare")
    add("--out", metavar="FILE.html", help="also write a page")
    add_json(parser)
    add("--all", action="store_true", help="print everything that differs, and every number")
    add("--confidence", type=float, default=0.95, help="of the intervals (0.95)")
    add_draws(parser, usual=("default: those of RUN_A", "default: that of RUN_A"))


def run(options: argparse.Namespace) -> int:
    from medjury.validation import compare_runs

    how = {name: getattr(options, name) for name in ("confidence", "resamples", "seed")}
    comparison = compare_runs(options.first, options.second, **how)
    text = comparison.text if options.all else comparison.short_text
    print(comparison.to_json() if options.json else text())
    if options.out:
        from medjury.report import write_comparison

        write_comparison(comparison, options.out)
    return 0
