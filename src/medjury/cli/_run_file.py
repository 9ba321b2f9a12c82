"""What `run`, `demo` and `transcripts` do alike: run a study file, write its report, say what came of it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from medjury.cli._main import EXIT_FAILED, EXIT_INCOMPLETE, say
from medjury.cli._output import print_json
from medjury.cli._verdict_output import STATUSES
from medjury.store.runs import files

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
    as_json: bool = False,
    overrides: Sequence[str] = (),
    cluster: tuple[str, int | None] | None = None,
) -> int:
    """Run a study file, write its report, say what came of it; the exit status, with `gate` that of the verdict.
    `cluster` is the address of one and how many workers judge there."""
    from medjury.studies import danger_note, load_study, run_study

    study = load_study(file, skip_bad_cases=skip_bad_cases, overrides=overrides)
    told = sys.stderr if as_json else sys.stdout
    if dry_run:
        from medjury.studies import check_study, gate_outlook

        plan = check_study(study, preflight=preflight, cluster=cluster is not None)
        outlook = gate_outlook(study, plan)
        say(f"{plan.text()}\n\n{outlook.text()}", told)
        if as_json:
            print_json({**plan.content(), "gate": outlook.to_dicts()})
        return 0
    for note in danger_note(study):
        say(f"medjury: {note}.", sys.stderr)
    from medjury.cli._terminal.displays import display

    engine = None
    if cluster is not None:
        from medjury.studies import RayCluster

        engine = RayCluster(*cluster)
    with display(quiet=quiet) as shown:
        result = run_study(
            study,
            watch=shown,
            retry_unscored=retry_unscored,
            keep_going=keep_going,
            preflight=preflight,
            wait=wait,
            cluster=engine,
        )
        if shown is not None:
            shown.finish(result.progress, result.money, result.currency)
    say(result.text(), told)
    word = print_report(result.folder, quiet=quiet, stream=told) if result.judged else None
    if as_json:
        page = str(result.folder / files.REPORT) if word else None
        print_json({**result.content(), "report": page, "verdict": word})
    status = exit_status(result.status, result.why)
    return STATUSES[word or "INCOMPLETE"] if gate else status


def exit_status(status: str, why: str) -> int:
    """0 where a run is complete; else its status, with the reason told where the result went elsewhere."""
    if status == "complete":
        return 0
    if not sys.stdout.isatty():
        say(f"medjury: {status.upper()}: {why}", sys.stderr)
    return EXIT_FAILED if status == "failed" else EXIT_INCOMPLETE


def print_report(folder: Path, *, quiet: bool = False, stream: TextIO | None = None) -> Word | None:
    """Write the report of a run folder, say where it is and what it says first; None where it could not be made."""
    from medjury.cli._terminal.displays import display
    from medjury.report import write_page
    from medjury.tables import open_run
    from medjury.validation import evidence_of, validation_of

    try:
        evidence = evidence_of(open_run(folder))
        found = validation_of(evidence)
        with display(quiet=quiet) as shown:
            step = None if shown is None else shown.step
            page = write_page(folder, evidence=evidence, validation=found, step=step)
    except Exception as error:  # the ratings are safe, and a report can be made again
        say(
            f"medjury: the ratings are stored, but the report could not be written "
            f"({type(error).__name__}: {error}); try `medjury report {folder}`",
            sys.stderr,
        )
        return None
    word = found.worst(first=True)
    say(f"Report: {page}\nVerdict: {word}", stream)
    for each in found.verdicts:
        if each.rater == found.raters[0] and len(found.verdicts) > 1:
            say(f"  {each.label}: {each.word}", stream)
    return word


def name_pages(pages: Sequence[tuple[str, Path]]) -> None:
    """Say which pages there are to open, each with what it shows."""
    there = [(what, page.resolve()) for what, page in pages if page.exists()]
    if there:
        say("\nOpen the pages:" if len(there) > 1 else "\nOpen the page:")
    for what, page in there:
        say(f"  {what}: {page}")
