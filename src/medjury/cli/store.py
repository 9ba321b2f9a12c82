"""`medjury runs store`: copy a store into another, from SQLite to PostgreSQL or back."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from medjury.cli._main import say
from medjury.cli._output import add_json, print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    copy = actions.add_parser("copy", help="copy every rating, reply and log entry; goes on where it stopped")
    copy.add_argument("source", metavar="FROM", help="a path, or postgresql://USER@HOST/DATABASE")
    copy.add_argument("target", metavar="TO", help="a new store, or one that an earlier copy began")
    add_json(copy)


def run(options: argparse.Namespace) -> int:
    from medjury.store.ratings import copy_store, open_store

    with open_store(options.source, create=False) as source, open_store(options.target) as target:
        copied = copy_store(source, target)
        if options.json:
            print_json({"source": source.place, "target": target.place, "tables": [*map(asdict, copied)]})
            return 0
        for each in copied:
            rows = f"{each.rows:>11,} {'row, ' if each.rows == 1 else 'rows,'}"
            say(f"{each.table:<11} {rows} {each.written:,} written now, sha256 {each.hash[:16]}")
        say(f"{target.place} holds what {source.place} holds.")
    return 0
