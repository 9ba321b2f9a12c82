"""`medjury register STUDY`: freeze rules, instrument, prompts and data before a score is seen."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "Writes protocol-HASH.json beside the study file; the hash is the SHA-256 of the file. A later run of the "
        "same data, under whatever name, is compared with it: the report and `medjury gate` show what "
        "changed since. "
        "Without a registered protocol a jury is AUXILIARY at best. Each protocol has a line in "
        "registrations.jsonl beside the study file; the first for the same cases counts. Publish the line "
        "that is printed."
    )
    parser.add_argument("study", metavar="STUDY", help="the study file")
    parser.add_argument(
        "--out", metavar="FOLDER", help="where to write the protocol (default: beside the study file)"
    )
    parser.add_argument(
        "--skip-bad-cases", action="store_true", help="go on without rows that cannot be read"
    )
    parser.add_argument(
        "--json", action="store_true", help="print the file, its hash and its content as JSON"
    )


def run(options: argparse.Namespace) -> int:
    from medjury.studies import load_study, register_study

    study = load_study(options.study, skip_bad_cases=options.skip_bad_cases)
    found = register_study(study, options.out)
    print(found.to_json() if options.json else found.text())
    return 0
