"""`medjury watch STUDY`: judge what is new, and raise an alarm where a jury in use crosses a limit."""

from __future__ import annotations

import argparse
import time


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "The part `watch:` of the study file says what is watched. Exit status: 0 quiet, 7 in alarm, 3 incomplete "
        "(start it again to go on), 6 refused: the passport expired or another jury answers; 2 is wrong input."
    )
    parser.add_argument("study", metavar="STUDY", help="the study file")
    parser.add_argument(
        "--every",
        metavar="SECONDS",
        type=float,
        help="keep watching; without it look once, for use with a timer",
    )
    parser.add_argument(
        "--no-preflight", action="store_true", help="do not ask each model first whether it is available"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def run(options: argparse.Namespace) -> int:
    from medjury.in_use.watching import watch

    while True:
        found = watch(options.study, preflight=not options.no_preflight)
        print(found.to_json() if options.json else found.text(), flush=True)
        if options.every is None or found.status in ("incomplete", "void"):
            return found.exit_status
        time.sleep(options.every)
