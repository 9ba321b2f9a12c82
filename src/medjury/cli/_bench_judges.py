"""`medjury bench judges`: real judges on public data beside clinicians, as a table and a page."""

from __future__ import annotations

import argparse
import json
import sys

from medjury.cli._main import say
from medjury.cli._screen import Paragraphs

_ABOUT = """
FOLDER holds checkouts, each under the name of its repository (chattogovar/, MentalBench-Align/, medhelm/,
Med-Bench-Arena/, craft-md/, K-QA/, wer-is-unaware/). A source that is not there is left out and named. Nothing is
fetched unless --fetch names the host. Every verdict is that of `medjury validate`. docs/real-judges.md says how a
judge or a source is added by one file.
"""


def add_judges_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = Paragraphs
    parser.epilog = _ABOUT
    add = parser.add_argument
    add("--data", required=True, metavar="FOLDER", help="the folder of the checkouts")
    add("--out", metavar="SITE", help="write the page and its numbers into this folder")
    add(
        "--entry",
        action="append",
        default=[],
        metavar="FILE",
        help="a source of your own, or judges added to one (.yaml); may be repeated",
    )
    add("--only", action="append", default=[], metavar="NAME", help="this source alone; may be repeated")
    add(
        "--fetch",
        action="append",
        default=[],
        metavar="HOST",
        help="fetch missing files from this host; may be repeated",
    )
    add("--resamples", type=int, metavar="N", help="of the intervals (2000, fewer for large tables)")
    add("--seed", type=int, metavar="N", help="of the intervals (0)")
    add("--json", action="store_true", help="as JSON")


def judges_command(options: argparse.Namespace) -> int:
    from medjury.suites import judges_table

    table = judges_table(
        options.data, more=options.entry, only=options.only, fetch=options.fetch,
        say=lambda text: say(text, sys.stderr), resamples=options.resamples, seed=options.seed,
    )  # fmt: skip
    whole = json.dumps(table.content(), indent=1, ensure_ascii=False, allow_nan=False) if options.json else ""
    print(whole or table.text())
    if options.out:
        say(f"Page: {table.write(options.out)}", sys.stderr if options.json else sys.stdout)
    return 0
