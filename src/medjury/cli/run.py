"""`medjury run` and `medjury draft`: one study file in, a run folder out; or its drafts alone."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from medjury.cli._main import EXIT_FAILED, EXIT_INCOMPLETE, say
from medjury.cli._options import add_flags, add_json, add_overrides, for_reader, print_json, tell
from medjury.cli._verdict_output import STATUSES
from medjury.foundation.errors import MedjuryError
from medjury.store.runs import files

if TYPE_CHECKING:
    from medjury.studies import Study
    from medjury.validation import Word


def run_file(
    file: str | Study, *, quiet: bool = False, gate: bool = False, as_json: bool = False, **how: Any
) -> int:
    """Run a study, write its report, say what came of it; the exit status, with `gate` that of the verdict. `how`
    are further arguments of `run_study`."""
    from medjury.studies import Study, load_study, run_study

    study = file if isinstance(file, Study) else load_study(file)
    for note in study.cautions:
        say(f"medjury: {note}.", sys.stderr)
    from medjury.cli._display import display

    with display(quiet=quiet) as shown:
        result = run_study(study, watch=shown, **how)
        if shown is not None:
            shown.finish(result.progress, result.money, result.currency)
    stream = sys.stderr if as_json else sys.stdout
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
    add_flags(parser, "--dry-run", "--skip-bad-cases", "--retry-unscored", "--no-preflight", "--keep-going")
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
    add_flags(parser, "--quiet")
    add_json(parser)
    add_overrides(parser)


def run(options: argparse.Namespace) -> int:
    if options.engine is None and (options.workers is not None or options.address != "auto"):
        raise MedjuryError("--workers and --address are for a cluster: add --engine ray")
    from medjury.studies import check_study, gate_outlook, load_study

    study = load_study(options.study, skip_bad_cases=options.skip_bad_cases, overrides=options.overrides)
    if options.dry_run:
        plan = check_study(study, preflight=not options.no_preflight, cluster=options.engine is not None)
        outlook = gate_outlook(study, plan)
        found = {**plan.content(), "gate": outlook.to_dicts()} if options.json else None
        tell(options, f"{plan.text()}\n\n{outlook.text()}", found)
        return 0
    return run_file(
        study, quiet=options.quiet, gate=options.gate, as_json=options.json, wait=not options.no_wait,
        cluster=(options.address, options.workers) if options.engine else None, **_asked(options),
    )  # fmt: skip


def _asked(options: argparse.Namespace) -> dict[str, bool]:
    """How models are asked."""
    asked = {name: getattr(options, name) for name in ("retry_unscored", "keep_going")}
    return {**asked, "preflight": not options.no_preflight}


def add_draft_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", help="a study file with a `drafting:` part")
    words = "write the cases with their drafts to this file (JSONL)"
    parser.add_argument("--cases", metavar="FILE", help=words)
    add_flags(parser, "--dry-run", "--skip-bad-cases", "--retry-unscored", "--no-preflight", "--keep-going",
              "--quiet")  # fmt: skip
    add_json(parser)
    add_overrides(parser)


def run_draft(options: argparse.Namespace) -> int:
    from medjury.studies import check_study, draft_study, load_study

    study = load_study(options.study, skip_bad_cases=options.skip_bad_cases, overrides=options.overrides)
    if options.dry_run:
        plan = check_study(study, preflight=not options.no_preflight, only_drafts=True)
        tell(options, plan.text(), plan.content())
        return 0
    from medjury.cli._display import display

    with display(quiet=options.quiet) as shown:
        result = draft_study(study, watch=shown, **_asked(options))
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
