"""`medjury cases check FILE`: what a file of cases holds, and every row that cannot be used."""

from __future__ import annotations

import argparse
import sys

from medjury.cli._options.cases import add_case_options, mapping_of
from medjury.cli._output import add_json, for_reader, print_json
from medjury.intake.cases import read_cases
from medjury.statistics import counted


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    check = actions.add_parser("check", help="read every case, count what is there, report bad rows")
    add_case_options(check)
    add_json(check)
    check.add_argument("--all", action="store_true", help="list up to a thousand problems, not the first few")


def run(options: argparse.Namespace) -> int:
    """Print what was read. Exit status 2 where a row cannot be used or none can."""
    reader = read_cases(options.cases, mapping=mapping_of(options), on_bad="skip")
    found = reader.summary
    told = for_reader(options)
    print(f"{reader.name}: {counted(found.count, 'case')}", file=told)
    for title, counts in (("systems", found.systems), ("inputs", found.inputs)):
        if counts and set(counts) != {""}:
            print(f"{title}:", file=told)
            for name, count in counts.items():
                print(f"  {name or '(none named)'}: {count:,}", file=told)
    for title, counts in (
        ("left out, or kept with a mark", found.left_out.parts),
        ("problems of rows that cannot be used", found.left_out.rows),
    ):
        if counts:
            print(f"{title}:", file=told)
            for reason, count in counts.items():
                print(f"  {reason}: {count:,}", file=told)
    if found.skipped:
        print(f"{counted(found.skipped, 'row')} cannot be used:", file=sys.stderr)
        print(found.problems_text(len(found.bad)) if options.all else found.problems_text(), file=sys.stderr)
    elif not found.count:
        print(f"{reader.name}: holds no cases", file=sys.stderr)
    if options.json:
        print_json({"file": str(reader.name), **found.content()})
    return 2 if found.skipped or not found.count else 0
