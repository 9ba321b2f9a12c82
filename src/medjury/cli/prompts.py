"""`medjury tune prompts log FOLDER | diff FOLDER [A B] | diff FILE FILE`: what was tried, and what changed."""

from __future__ import annotations

import argparse

from medjury.cli._options import add_json, tell


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    log = actions.add_parser(
        "log", help="every text that a tuning tried, its parent, its scores and its cost"
    )
    log.add_argument("folder", metavar="FOLDER", help="a tuning folder")
    log.add_argument(
        "--feedback", action="store_true", help="with the feedback on the misses (clinical text)"
    )
    add_json(log)
    add = actions.add_parser(
        "diff", help="what changed between two ancestors, or two instruments"
    ).add_argument
    add("first", metavar="FIRST", help="a tuning folder, or an instrument (name or file)")
    add("second", metavar="SECOND", nargs="?", help="an ancestor's number or hash, or an instrument")
    add("third", metavar="THIRD", nargs="?", help="another ancestor; by default the best is compared")


def run(options: argparse.Namespace) -> int:
    from medjury.tuning import prompt_difference, read_lineage

    if options.action == "log":
        tell(options, *read_lineage(options.folder, feedback=options.feedback))
    else:
        print(prompt_difference(options.first, options.second, options.third))
    return 0
