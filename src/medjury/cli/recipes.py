"""`medjury recipes check FOLDER`: are my files enough for the recipe's report?"""

from __future__ import annotations

import argparse

from medjury.cli._options import add_json, tell


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    check = actions.add_parser(
        "check",
        help="what each file of a recipe's folder holds, and which tables of the report it is enough for",
        epilog="Nobody is asked and nothing is written. It ends with 2 where a study file cannot be run yet. See "
        "docs/recipes/your-data.md.",
    )
    check.add_argument("folder", metavar="FOLDER", help="the folder that `medjury init --recipe` wrote")
    check.add_argument(
        "--recipe", metavar="NAME", help="the recipe that it was made from, where none of its files is left"
    )
    add_json(check)


def run(options: argparse.Namespace) -> int:
    from medjury.cli._main import EXIT_USAGE
    from medjury.studies.inspection import check_recipe

    found = check_recipe(options.folder, recipe=options.recipe)
    tell(options, found.text(), found.content())
    return 0 if found.is_sound else EXIT_USAGE
