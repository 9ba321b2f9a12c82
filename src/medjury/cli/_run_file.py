"""What `run`, `demo` and `transcripts` do alike: run a study file, write its report, say what came of it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from medjury.cli._main import EXIT_FAILED, EXIT_INCOMPLETE, say
from medjury.cli._verdict_output import STATUSES

if TYPE_CHECKING:
    from medjury.validation import Word


def run_file(
    file: str,
    *,
    dry_run: bool = False,
    skip_bad_cases: bool = False,
    retry_unscored: bool = False,
    keep_going: bool = False,
    preflight: bool = True,
    wait: bool = True,
    quiet: bool = False,
    gate: bool = False,
) -> int:
    """Run a study file, write its report, say what came of it; the exit status, with `gate` that of the verdict."""
    from medjury.studies import check_study, gate_outlook, load_study, run_study

    study = load_study(file, skip_bad_cases=skip_bad_cases)
    if dry_run:
        plan = check_study(study, preflight=preflight)
        print(f"{plan.text()}\n\n{gate_outlook(study, plan).text()}")
        return 0
    from medjury.cli._progress import ProgressLine

    line = None if quiet else ProgressLine()
    result = run_study(
        study,
        watch=line,
        retry_unscored=retry_unscored,
        keep_going=keep_going,
        preflight=preflight,
        wait=wait,
    )
    if line is not None:
        line.finish(result.progress, result.money, result.currency)
    say(result.text())
    word = print_report(result.folder) if result.judged else None
    status = exit_status(result.status, result.why)
    return STATUSES[word or "INCOMPLETE"] if gate else status


def exit_status(status: str, why: str) -> int:
    """0 where a run is complete; else its status, with the reason told."""
    if status == "complete":
        return 0
    say(f"medjury: {status.upper()}: {why}", sys.stderr)
    return EXIT_FAILED if status == "failed" else EXIT_INCOMPLETE


def print_report(folder: Path) -> Word | None:
    """Write the report of a run folder, say where it is and what it says first; None where it could not be made."""
    from medjury.report import write_page
    from medjury.tables import open_run
    from medjury.validation import evidence_of, validation_of, worst_word

    try:
        evidence = evidence_of(open_run(folder))
        page = write_page(folder, evidence=evidence)
        found = validation_of(evidence)
    except Exception as error:  # the ratings are safe, and a report can be made again
        say(
            f"medjury: the ratings are stored, but the report could not be written "
            f"({type(error).__name__}: {error}); try `medjury report {folder}`",
            sys.stderr,
        )
        return None
    word = worst_word(found, first=True)
    say(f"Report: {page}\nVerdict: {word}")
    for each in found.verdicts:
        if each.rater == found.raters[0] and len(found.verdicts) > 1:
            say(f"  {each.label}: {each.word}")
    return word
