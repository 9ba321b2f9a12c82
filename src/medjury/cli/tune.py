"""`medjury tune STUDY`: improve a judge on clinicians' labels, and prove on other cases what that was worth."""

from __future__ import annotations

import argparse

from medjury.cli._options import add_json, for_reader, print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "Settings are in the part `tuning:` of the study file; options go before it. The tuning folder "
        "holds tuned.yaml (an ordinary instrument), lineage.jsonl, report.md and tuning.json. The same "
        "command goes on where it was stopped. See docs/tuning.md."
    )
    parser.add_argument("study", metavar="STUDY", help="the study file")
    parser.add_argument(
        "--dry-run", action="store_true", help="check everything and print split, calls, price"
    )
    parser.add_argument("--preset", metavar="NAME", help="paper-002 (prompt by GEPA) or paper-004 (examples)")
    parser.add_argument(
        "--way", choices=("gepa", "examples"), help="what is tuned: the words, or the examples"
    )
    parser.add_argument("--judge", metavar="NAME", help="which judge, where the study has several")
    parser.add_argument(
        "--group", metavar="WHAT", help="what every split keeps together: patient, case, none, or a column"
    )
    parser.add_argument("--budget", metavar="N", help="judgements of cases: a number, light, medium or heavy")
    parser.add_argument("--seed", type=int, metavar="N", help="of the split and the search")
    parser.add_argument("--out", metavar="FOLDER", help="the tuning folder (default: beside the run folder)")
    parser.add_argument(
        "--skip-bad-cases", action="store_true", help="go on without rows that cannot be read"
    )
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    from medjury.cli._main import EXIT_INCOMPLETE
    from medjury.studies import load_study
    from medjury.tuning import plan_study_tuning, read_settings, tune_study

    study = load_study(options.study, skip_bad_cases=options.skip_bad_cases)
    budget = int(options.budget) if (options.budget or "").isdecimal() else options.budget
    named = {name: getattr(options, name) for name in ("preset", "way", "judge", "group", "seed")}
    part = read_settings(study, **named, budget=budget)
    if options.dry_run:
        plan = plan_study_tuning(study, part, out=options.out)
        print(plan.text(), file=for_reader(options))
        if options.json:
            print_json(plan.content())
        return 0
    result = tune_study(study, part, out=options.out)
    print(result.text(), file=for_reader(options))
    if options.json:
        print_json(result.content())
    return 0 if result.status == "complete" else EXIT_INCOMPLETE
