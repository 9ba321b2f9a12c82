"""`medjury compare`: what changed between two runs."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("first", metavar="RUN_A", help="the run folder to compare with")
    add("second", metavar="RUN_B", help="the run folder to compare")
    add("--out", metavar="FILE.html", help="also write a page")
    add("--json", action="store_true", help="print JSON instead of text")
    add("--all", action="store_true", help="print everything that differs, and every number")
    add("--confidence", type=float, default=0.95, help="of the intervals (0.95)")
    add("--resamples", type=int, metavar="N", help="bootstrap resamples (default: those of RUN_A)")
    add("--seed", type=int, metavar="N", help="seed of the intervals (default: that of RUN_A)")


def run(options: argparse.Namespace) -> int:
    from medjury.validation import compare_runs

    comparison = compare_runs(
        options.first,
        options.second,
        confidence=options.confidence,
        resamples=options.resamples,
        seed=options.seed,
    )
    text = comparison.text if options.all else comparison.short_text
    print(comparison.to_json() if options.json else text())
    if options.out:
        from medjury.report import write_comparison

        write_comparison(comparison, options.out)
    return 0
