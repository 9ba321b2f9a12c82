"""`medjury runs record`: the answers of a finished run in one file, to run its study again without a call."""

from __future__ import annotations

import argparse

from medjury.cli._options import add_json, tell


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("run", help="the run folder whose answers are recorded")
    add_json(parser)
    add("--out", metavar="FILE", required=True, help="the file of answers: NAME.jsonl, or NAME.jsonl.gz")
    add("--study", metavar="FILE", help="the study file, where the run does not say where it is")
    add(
        "--replay",
        metavar="FILE",
        help="also write the study file with its models swapped for the recorded ones",
    )


def run(options: argparse.Namespace) -> int:
    from medjury.studies import record_run

    made = record_run(options.run, options.out, study=options.study, replay=options.replay)
    tell(options, made.text(), made.content())
    return 0
