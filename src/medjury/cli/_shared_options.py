"""What every command that prints a result understands, added in one place."""

from __future__ import annotations

import argparse
from collections.abc import Iterator


def complete_options(parser: argparse.ArgumentParser) -> None:
    """`--wide` for every command that prints a result."""
    for command in leaves(parser):
        if any(action.dest == "json" for action in command._actions):
            command.add_argument(
                "--wide",
                action="store_true",
                help="on a terminal too, whole tables with every column and digit, as in a pipe",
            )


def for_programs(options: argparse.Namespace) -> bool:
    """Whether the output is read by a program, which must find it as it is."""
    return any(getattr(options, name, False) for name in ("json", "csv", "schema"))


def leaves(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The commands that take no further command."""
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not below:
        yield parser
    for action in below:
        for each in dict.fromkeys(action.choices.values()):
            yield from leaves(each)
