"""`medjury watch STUDY`: judge what is new, and raise an alarm where a jury in use crosses a limit."""

from __future__ import annotations

import argparse
import time

from medjury.cli._options import add_flags, add_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "The part `watch:` of the study file says what is watched. Exit status: 0 quiet, 7 in alarm, 3 incomplete "
        "(start it again to go on), 6 refused: the passport expired or another jury answers; 2 is wrong input."
    )
    parser.add_argument("study", metavar="STUDY", help="the study file")
    words = "keep watching; without it look once, for use with a timer"
    parser.add_argument("--every", metavar="SECONDS", type=float, help=words)
    add_flags(parser, "--no-preflight")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    from medjury.in_use.watching import watch

    while True:
        found = watch(options.study, preflight=not options.no_preflight)
        print(found.to_json() if options.json else found.text(), flush=True)
        if options.every is None or found.status in ("incomplete", "void"):
            return found.exit_status
        time.sleep(options.every)
