"""What `run`, `demo` and `transcripts` do alike: run a study file, write its report, say what came of it."""

from __future__ import annotations

import sys
from pathlib import Path

from medjury.cli._main import EXIT_FAILED, EXIT_INCOMPLETE


def run_file(
    file: str,
    *,
    dry_run: bool = False,
    skip_bad_cases: bool = False,
    retry_unscored: bool = False,
    quiet: bool = False,
) -> int:
    """Run a study file, write its report, say what came of it; the exit status."""
    from medjury.studies import check_study, gate_outlook, load_study, run_study

    study = load_study(file, skip_bad_cases=skip_bad_cases)
    if dry_run:
        plan = check_study(study)
        print(f"{plan.text()}\n\n{gate_outlook(study, plan).text()}")
        return 0
    from medjury.cli._progress import ProgressLine

    line = None if quiet else ProgressLine()
    result = run_study(study, watch=line, retry_unscored=retry_unscored)
    if line is not None:
        line.finish(result.progress, result.money, result.currency)
    print(result.text())
    if result.judged:
        print_report(result.folder)
    return exit_status(result.status, result.why)


def exit_status(status: str, why: str) -> int:
    """0 where a run is complete; else its status, with the reason told."""
    if status == "complete":
        return 0
    print(f"medjury: {status.upper()}: {why}", file=sys.stderr)
    return EXIT_FAILED if status == "failed" else EXIT_INCOMPLETE


def print_report(folder: Path) -> None:
    """Write the report of a run folder and say where it is."""
    from medjury.report import write_page

    try:
        print(f"Report: {write_page(folder)}")
    except Exception as error:  # the ratings are safe, and a report can be made again
        print(
            f"medjury: the ratings are stored, but the report could not be written "
            f"({type(error).__name__}: {error}); try `medjury report {folder}`",
            file=sys.stderr,
        )
