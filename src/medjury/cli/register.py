"""`medjury register STUDY`: freeze rules, instrument, prompts and data before a score is seen."""

from __future__ import annotations

import argparse

from medjury.cli._options import add_flags, add_json, show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "Writes protocol-HASH.json beside the study file; the hash is the SHA-256 of the file. A later run of the "
        "same data, under whatever name, is compared with it: the report and `medjury gate` show what "
        "changed since. "
        "Without a registered protocol a jury is AUXILIARY at best. Each protocol has a line in "
        "registrations.jsonl beside the study file; the first for the same cases counts. Publish the line "
        "that is printed."
    )
    add = parser.add_argument
    add("study", metavar="STUDY", help="the study file")
    add("--out", metavar="FOLDER", help="where to write the protocol (default: beside the study file)")
    add_flags(parser, "--skip-bad-cases")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    from medjury.studies import load_study, register_study

    study = load_study(options.study, skip_bad_cases=options.skip_bad_cases)
    show(options, register_study(study, options.out))
    return 0
