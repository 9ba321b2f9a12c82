"""`medjury tune STUDY`: improve a judge on clinicians' labels, and prove on other cases what that was worth."""

from __future__ import annotations

import argparse

from medjury.cli._options import add_flags, add_json, tell


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "Settings are in the part `tuning:` of the study file; options go before it. The tuning folder "
        "holds tuned.yaml (an ordinary instrument), lineage.jsonl, report.md and tuning.json. The same "
        "command goes on where it was stopped. See docs/tuning.md."
    )
    add = parser.add_argument
    add("study", metavar="STUDY", help="the study file")
    add("--preset", metavar="NAME", help="paper-002 (prompt by GEPA) or paper-004 (examples)")
    add("--way", choices=("gepa", "examples"), help="what is tuned: the words, or the examples")
    add("--judge", metavar="NAME", help="which judge, where the study has several")
    add("--group", metavar="WHAT", help="what every split keeps together: patient, case, none, or a column")
    add("--budget", metavar="N", help="judgements of cases: a number, light, medium or heavy")
    add("--seed", type=int, metavar="N", help="of the split and the search")
    add("--out", metavar="FOLDER", help="the tuning folder (default: beside the run folder)")
    add_flags(parser, "--dry-run", "--skip-bad-cases")
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
        tell(options, plan.text(), plan.content())
        return 0
    result = tune_study(study, part, out=options.out)
    tell(options, result.text(), result.content())
    return 0 if result.status == "complete" else EXIT_INCOMPLETE
