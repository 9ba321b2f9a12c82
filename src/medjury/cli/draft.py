"""`medjury draft`: write the drafts of a study, and judge nothing."""

from __future__ import annotations

import argparse

from medjury.cli._main import say
from medjury.cli._options.shared import add_overrides
from medjury.cli._output import add_json, for_reader, print_json
from medjury.cli._run_file import exit_status


def add_arguments(parser: argparse.ArgumentParser) -> None:
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
        help="ask on although the first answers show that none can be used, or the model is away",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress line")
    add_json(parser)
    add_overrides(parser)


def run(options: argparse.Namespace) -> int:
    from medjury.studies import check_study, draft_study, load_study

    study = load_study(options.study, skip_bad_cases=options.skip_bad_cases, overrides=options.overrides)
    if options.dry_run:
        plan = check_study(study, preflight=not options.no_preflight, only_drafts=True)
        print(plan.text(), file=for_reader(options))
        if options.json:
            print_json(plan.content())
        return 0
    from medjury.cli._terminal.displays import display

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
    told = for_reader(options)
    say(result.text(), told)
    if options.cases and not result.stopped:
        from medjury.intake.cases import write_cases

        written = write_cases(result.study.cases, options.cases)
        failed = sum(result.counts.failed.values())
        without = f", {failed:,} of them without a draft" if failed else ""
        print(f"Cases: {written:,} in {options.cases}{without}", file=told)
    if options.json:
        print_json(result.content())
    return exit_status(result.status, result.why)
