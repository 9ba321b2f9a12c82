"""`medjury compare`: what changed between two runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from medjury.errors import MedjuryError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", metavar="RUN_A", help="the run folder to compare with")
    parser.add_argument("second", metavar="RUN_B", help="the run folder to compare")
    parser.add_argument("--out", metavar="FILE.html", help="also write a page")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    parser.add_argument(
        "--resamples", type=int, default=2000, metavar="N", help="bootstrap resamples (default: 2000)"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the intervals (default: 0)")


def run(options: argparse.Namespace) -> int:
    try:
        import numpy  # noqa: F401
        import scipy  # noqa: F401
    except ModuleNotFoundError as error:
        raise MedjuryError(f"a comparison needs {error.name}: pip install 'medjury[report]'") from None
    from medjury.report import write_comparison
    from medjury.validation import compare_runs

    comparison = compare_runs(options.first, options.second, resamples=options.resamples, seed=options.seed)
    print(comparison.to_json() if options.json else comparison.text())
    if options.out:
        write_comparison(comparison, Path(options.out))
    return 0
