"""`medjury run`: one study file in, a run folder out."""

from __future__ import annotations

import argparse
import sys

from medjury.cli._main import EXIT_FAILED, EXIT_INCOMPLETE


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", help="the study file; `medjury init` writes one")
    parser.add_argument(
        "--dry-run", action="store_true", help="check everything and print calls, tokens, price"
    )
    parser.add_argument(
        "--skip-bad-cases", action="store_true", help="go on without rows that cannot be read"
    )
    parser.add_argument(
        "--retry-unscored",
        action="store_true",
        help="ask again for every unscored rating, not only transient failures",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress line")


def run(options: argparse.Namespace) -> int:
    from medjury.studies import check_study, load_study, run_study

    study = load_study(options.study, skip_bad_cases=options.skip_bad_cases)
    if options.dry_run:
        print(check_study(study).text())
        return 0
    from medjury.cli._progress import ProgressLine
    from medjury.report import write_page

    line = None if options.quiet else ProgressLine()
    result = run_study(study, watch=line, retry_unscored=options.retry_unscored)
    if line is not None:
        line.finish(result.progress, result.money, result.currency)
    print(result.text())
    try:
        if result.judged:
            print(f"Report: {write_page(result.folder)}")
    except Exception as error:  # the ratings are safe, and a report can be made again
        print(
            f"medjury: the ratings are stored, but the report could not be written "
            f"({type(error).__name__}: {error}); try `medjury report {result.folder}`",
            file=sys.stderr,
        )
    if result.status == "complete":
        return 0
    print(f"medjury: {result.status.upper()}: {result.why}", file=sys.stderr)
    return EXIT_FAILED if result.status == "failed" else EXIT_INCOMPLETE
