"""`medjury run` and `medjury draft`: one study file in, a run folder out; or its drafts alone."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from medjury.cli._main import EXIT_FAILED, EXIT_INCOMPLETE, say
from medjury.cli._options import add_json, add_overrides, for_reader, print_json
from medjury.cli._verdict_output import STATUSES
from medjury.foundation.errors import MedjuryError
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
    stream = sys.stderr if as_json else sys.stdout
    if dry_run:
        from medjury.studies import check_study, gate_outlook

        plan = check_study(study, preflight=preflight, cluster=cluster is not None)
        outlook = gate_outlook(study, plan)
        say(f"{plan.text()}\n\n{outlook.text()}", stream)
        if as_json:
            print_json({**plan.content(), "gate": outlook.to_dicts()})
        return 0
    for note in danger_note(study):
        say(f"medjury: {note}.", sys.stderr)
    from medjury.cli._display import display

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
    say(result.text(), stream)
    word = print_report(result.folder, quiet=quiet, stream=stream) if result.judged else None
    if as_json:
        page = str(result.folder / files.REPORT) if word else None
        print_json({**result.content(), "report": page, "verdict": word})
    status = exit_status(result.status, result.why)
    return STATUSES[word or "INCOMPLETE"] if gate else status


def exit_status(status: str, why: str) -> int:
    """0 where a run is complete; else its status, with the reason printed where the result went elsewhere."""
    if status == "complete":
        return 0
    if not sys.stdout.isatty():
        say(f"medjury: {status.upper()}: {why}", sys.stderr)
    return EXIT_FAILED if status == "failed" else EXIT_INCOMPLETE


def print_report(folder: Path, *, quiet: bool = False, stream: TextIO | None = None) -> Word | None:
    """Write the report of a run folder, say where it is and what it says first; None where it could not be made."""
    from medjury.cli._display import display
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
    first = found.of(found.raters[0]) if found.raters else ()
    for each in first:
        scope = f"Scope: {each.earned_scope}" if each.earned_scope else ""
        if len(first) > 1:
            say(f"  {each.label}: {each.word}{f'. {scope}' if scope else ''}", stream)
        elif scope:
            say(f"  {scope}", stream)
    return word


def name_pages(pages: Sequence[tuple[str, Path]]) -> None:
    """Say which pages there are to open, each with what it shows."""
    there = [(what, page.resolve()) for what, page in pages if page.exists()]
    if there:
        say("\nOpen the pages:" if len(there) > 1 else "\nOpen the page:")
    for what, page in there:
        say(f"  {what}: {page}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("study", help="the study file; `medjury init` writes one")
    add("--dry-run", action="store_true", help="check everything and print calls, tokens, price")
    add("--skip-bad-cases", action="store_true", help="go on without rows that cannot be read")
    add("--retry-unscored", action="store_true",
        help="ask again for every unscored rating, not only transient failures")  # fmt: skip
    add("--no-preflight", action="store_true",
        help="do not ask each model one short question before the first case")  # fmt: skip
    add("--keep-going", action="store_true",
        help="continue even if the first answers cannot be used, or a model is unavailable")  # fmt: skip
    add("--gate", action="store_true",
        help="end with the verdict's status: 0 VALIDATED, 3 AUXILIARY, 4 NOT VALIDATED, 5 INCOMPLETE")  # fmt: skip
    add("--no-wait", action="store_true",
        help="submit batch jobs and end; the next run fetches the answers")  # fmt: skip
    add("--engine", choices=["ray"],
        help="judge on a Ray cluster, with a PostgreSQL store (see docs/scale.md)")  # fmt: skip
    add("--workers", type=int, metavar="N",
        help="with --engine ray: number of workers; by default one for each CPU of the cluster")  # fmt: skip
    add("--address", default="auto",
        help="with --engine ray: address of the cluster; `local` starts one on this machine")  # fmt: skip
    add("--quiet", action="store_true", help="no progress line")
    add_json(parser)
    add_overrides(parser)


def run(options: argparse.Namespace) -> int:
    if options.engine is None and (options.workers is not None or options.address != "auto"):
        raise MedjuryError("--workers and --address are for a cluster: add --engine ray")
    return run_file(
        options.study,
        dry_run=options.dry_run,
        skip_bad_cases=options.skip_bad_cases,
        retry_unscored=options.retry_unscored,
        keep_going=options.keep_going,
        preflight=not options.no_preflight,
        wait=not options.no_wait,
        quiet=options.quiet,
        gate=options.gate,
        as_json=options.json,
        overrides=options.overrides,
        cluster=(options.address, options.workers) if options.engine else None,
    )


def add_draft_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", help="a study file with a `drafting:` part")
    parser.add_argument(
        "--cases", metavar="FILE", help="write the cases with their drafts to this file (JSONL)"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="check everything and print calls, tokens, price of the drafts"
    )
    parser.add_argument(
        "--skip-bad-cases", action="store_true", help="go on without rows that cannot be read"
    )
    parser.add_argument(
        "--retry-unscored",
        action="store_true",
        help="ask again for every draft that failed, not only for transient failures",
    )
    parser.add_argument(
        "--no-preflight",
        action="store_true",
        help="do not ask the model one short question before the first case",
    )
    parser.add_argument(
        "--keep-going",
        action="store_true",
        help="continue even if the first answers show that none can be used, or the model is unavailable",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress line")
    add_json(parser)
    add_overrides(parser)


def run_draft(options: argparse.Namespace) -> int:
    from medjury.studies import check_study, draft_study, load_study

    study = load_study(options.study, skip_bad_cases=options.skip_bad_cases, overrides=options.overrides)
    if options.dry_run:
        plan = check_study(study, preflight=not options.no_preflight, only_drafts=True)
        print(plan.text(), file=for_reader(options))
        if options.json:
            print_json(plan.content())
        return 0
    from medjury.cli._display import display

    with display(quiet=options.quiet) as shown:
        result = draft_study(
            study,
            watch=shown,
            retry_unscored=options.retry_unscored,
            keep_going=options.keep_going,
            preflight=not options.no_preflight,
        )
        if shown is not None:
            shown.finish(result.progress, result.outcome.money, result.currency)
    stream = for_reader(options)
    say(result.text(), stream)
    if options.cases and not result.stopped:
        from medjury.intake.cases import write_cases

        written = write_cases(result.study.cases, options.cases)
        failed = sum(result.counts.failed.values())
        without = f", {failed:,} of them without a draft" if failed else ""
        print(f"Cases: {written:,} in {options.cases}{without}", file=stream)
    if options.json:
        print_json(result.content())
    return exit_status(result.status, result.why)
