"""What `run`, `demo` and `transcripts` do alike: run a study file, write its report, say what came of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from medjury.cli._main import EXIT_FAILED, EXIT_INCOMPLETE, print_json, say
from medjury.cli._verdict_output import STATUSES
from medjury.runs import files

if TYPE_CHECKING:
    from medjury.studies import RunPlan, RunResult
    from medjury.validation import Word

Step = Callable[[int, int, str], None]


def run_file(
    file: str,
    *,
    dry_run: bool = False,
    skip_bad_cases: bool = False,
    retry_unscored: bool = False,
    keep_going: bool = False,
    preflight: bool = True,
    quiet: bool = False,
    gate: bool = False,
    overrides: Sequence[str] = (),
    as_json: bool = False,
) -> int:
    """Run a study file, write its report, say what came of it; the exit status, with `gate` that of the verdict."""
    from medjury.studies import check_study, gate_outlook, load_study, run_study

    study = load_study(file, skip_bad_cases=skip_bad_cases, overrides=overrides)
    if dry_run:
        plan = check_study(study, preflight=preflight)
        if as_json:
            print_json(_plan_json(plan))
        else:
            print(f"{plan.text()}\n\n{gate_outlook(study, plan).text()}")
        return 0
    from medjury.cli._progress import display

    line = display(quiet=quiet)
    try:
        result = run_study(
            study, watch=line, retry_unscored=retry_unscored, keep_going=keep_going, preflight=preflight
        )
        if line is not None:
            line.finish(result.progress, result.money, result.currency)
    finally:
        if line is not None:
            line.close()
    told = sys.stderr if as_json else sys.stdout
    say(result.text(), told)
    word = print_report(result.folder, quiet=quiet, stream=told) if result.judged else None
    if as_json:
        print_json(result_json(result, word))
    status = exit_status(result.status, result.why)
    return STATUSES[word or "INCOMPLETE"] if gate else status


def _plan_json(plan: RunPlan) -> dict[str, object]:
    most = {"calls": plan.most.calls, "money": plan.most.money}
    judges = [{"name": each.name, "calls": each.calls, "money": each.money} for each in plan.judges]
    return {
        "cases": plan.cases,
        "calls": plan.calls,
        "money": plan.money,
        "currency": plan.currency,
        "most": most,
        "judges": judges,
        "notes": list(plan.notes),
    }


def result_json(result: RunResult, word: Word | None) -> dict[str, object]:
    """What came of a run, as `--json` prints it."""
    page = result.folder / files.REPORT
    return {
        "status": result.status,
        "why": result.why,
        "run": result.run,
        "folder": str(result.folder),
        "coverage": result.coverage.model_dump(mode="json"),
        "cases_skipped": result.skipped,
        "calls": result.calls,
        "money": result.money,
        "currency": result.currency,
        "answers_stored_already": result.progress.found,
        "warnings": list(result.warnings),
        "report": str(page) if word is not None else None,
        "verdict": word,
    }


def exit_status(status: str, why: str) -> int:
    """0 where a run is complete; else its status, with the reason told."""
    if status == "complete":
        return 0
    say(f"medjury: {status.upper()}: {why}", sys.stderr)
    return EXIT_FAILED if status == "failed" else EXIT_INCOMPLETE


@contextmanager
def report_bar(*, quiet: bool) -> Iterator[Step | None]:
    """What a report tells of its sections, drawn as a bar where there is a terminal."""
    from medjury.cli._progress import display

    line = display(quiet=quiet)
    try:
        yield None if line is None else line.step
    finally:
        if line is not None:
            line.close()


def print_report(folder: Path, *, quiet: bool = False, stream: TextIO | None = None) -> Word | None:
    """Write the report of a run folder, say where it is and what it says first; None where it could not be made."""
    from medjury.report import write_page
    from medjury.tables import open_run
    from medjury.validation import evidence_of, validation_of, worst_word

    try:
        evidence = evidence_of(open_run(folder))
        with report_bar(quiet=quiet) as step:
            page = write_page(folder, evidence=evidence, step=step)
        found = validation_of(evidence)
    except Exception as error:  # the ratings are safe, and a report can be made again
        say(
            f"medjury: the ratings are stored, but the report could not be written "
            f"({type(error).__name__}: {error}); try `medjury report {folder}`",
            sys.stderr,
        )
        return None
    word = worst_word(found, first=True)
    say(f"Report: {page}\nVerdict: {word}", stream)
    for each in found.verdicts:
        if each.rater == found.raters[0] and len(found.verdicts) > 1:
            say(f"  {each.label}: {each.word}", stream)
    return word
