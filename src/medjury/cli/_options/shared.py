"""What every command that prints a result understands, added in one place."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from medjury.cli._terminal.variables import VARIABLES, stated


def complete_options(parser: argparse.ArgumentParser) -> None:
    """`--wide` for every command that prints a result, and defaults from the environment."""
    for command in leaves(parser):
        if "--json" in command._option_string_actions:
            command.add_argument(
                "--wide",
                action="store_true",
                help="on a terminal too, whole tables with every column and digit, as in a pipe",
            )
        for variable, name in VARIABLES.items():
            if f"--{name}" in command._option_string_actions:
                command.set_defaults(**{name: stated(variable)})


def add_overrides(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        dest="overrides",
        metavar="PATH=VALUE",
        help="a value in place of the study file's, such as budget.calls=50 or judges.0.temperature=0; may be "
        "repeated; the manifest keeps it",
    )


def for_programs(options: argparse.Namespace) -> bool:
    """Whether the output is read by a program, which must find it as it is."""
    named = any(getattr(options, name, False) for name in ("json", "csv", "schema"))
    return named or options.command == "completion"


def leaves(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The commands that take no further command."""
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not below:
        yield parser
    for action in below:
        for each in dict.fromkeys(action.choices.values()):
            yield from leaves(each)
