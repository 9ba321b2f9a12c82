"""`medjury bench judges`: real judges on public data beside clinicians, as a table and a page."""

from __future__ import annotations

import argparse
import sys

from medjury.cli._main import say
from medjury.cli._options import add_draws, add_json, for_reader, print_json
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
    for name, metavar, words in (
        ("--entry", "FILE", "a source of your own, or judges added to one (.yaml)"),
        ("--only", "NAME", "this source alone"),
        ("--fetch", "HOST", "fetch missing files from this host"),
    ):
        add(name, action="append", default=[], metavar=metavar, help=f"{words}; may be repeated")
    add_draws(parser, usual=("2,000, fewer for large tables", "0"))
    add_json(parser)


def judges_command(options: argparse.Namespace) -> int:
    from medjury.suites import judges_table

    table = judges_table(
        options.data, more=options.entry, only=options.only, fetch=options.fetch,
        say=lambda text: say(text, sys.stderr), resamples=options.resamples, seed=options.seed,
    )  # fmt: skip
    if options.json:
        print_json(table.content())
    else:
        print(table.text())
    if options.out:
        say(f"Page: {table.write(options.out)}", for_reader(options))
    return 0
