"""Options that many commands share: how wide a result is printed, and what the environment says beforehand."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator

from medjury.errors import MedjuryError

# Variable -> the option whose default it is, wherever a command has that option.
VARIABLES = {
    "MEDJURY_QUIET": "quiet",
    "MEDJURY_WIDE": "wide",
    "MEDJURY_RESAMPLES": "resamples",
    "MEDJURY_SEED": "seed",
}
_YES, _NO = ("1", "yes", "true", "on"), ("", "0", "no", "false", "off")


def complete_options(parser: argparse.ArgumentParser) -> None:
    """`--wide` for every command that prints a result, and defaults from the environment."""
    for command in leaves(parser):
        known = {action.dest: action for action in command._actions}
        if "json" in known and "wide" not in known:
            known["wide"] = command.add_argument(
                "--wide", action="store_true", help="all columns of tables, however wide the lines become"
            )
        for variable, name in VARIABLES.items():
            if name in known and (text := os.environ.get(variable)) is not None:
                command.set_defaults(**{name: _value(variable, text, switch=known[name].nargs == 0)})


def leaves(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The commands that take no further command."""
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not below:
        yield parser
    for action in below:
        for each in dict.fromkeys(action.choices.values()):
            yield from leaves(each)


def _value(variable: str, text: str, *, switch: bool) -> bool | int:
    said = text.strip().lower()
    if switch:
        if said in _YES or said in _NO:
            return said in _YES
        raise MedjuryError(f"the environment variable {variable} is {text!r}; set it to 1 or 0, or unset it")
    try:
        return int(said)
    except ValueError:
        raise MedjuryError(
            f"the environment variable {variable} is {text!r}, which is no whole number; correct it or unset it"
        ) from None
