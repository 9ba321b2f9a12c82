"""Commands and options that are not there: the one that was meant, and no advice to use what a command lacks."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Iterable
from typing import NoReturn

# An option in brackets at the end of an advice: `name the run (--run).`
_IN_BRACKETS = re.compile(r" \((--[a-z][a-z-]*)[^()]*\)")

# An argument of a function in brackets, which a command has as an option: `name them (reference=RATER)`.
_ARGUMENT = re.compile(r"\((reference|raters)=(\w+)\)")


def without_foreign_options(text: str, command: argparse.ArgumentParser) -> str:
    """A message without the options in brackets that the command does not have: the rooms that find a fault do not
    know who asked."""
    known = _options(command)
    text = _ARGUMENT.sub(r"(--\1 \2)", text)
    return _IN_BRACKETS.sub(lambda found: found.group() if found.group(1) in known else "", text)


def refuse_unknown(command: argparse.ArgumentParser, unknown: list[str]) -> NoReturn:
    """Ends as argparse does, with the option that was probably meant."""
    word = unknown[0]
    if not word.startswith("-"):
        command.error(f"{word!r} is one word too many; put names with spaces in quotes (see --help)")
    option = word.partition("=")[0]
    command.error(
        f"there is no option {option}{meant(option, _options(command))}; `{command.prog} --help` lists them"
    )


def meant(word: str, known: Iterable[str]) -> str:
    """What was probably meant, in brackets, where a known word is near; else nothing."""
    listed = list(known)
    # Two letters that changed places in a short word (`rnu`) are far apart by the share of letters in order.
    close = difflib.get_close_matches(word, listed, n=1, cutoff=0.75) or [
        each for each in listed if sorted(each) == sorted(word)
    ]
    return f" (did you mean {close[0]}?)" if close else ""


def _options(parser: argparse.ArgumentParser) -> set[str]:
    """Every option of a command, those of its actions included."""
    found = set(parser._option_string_actions)
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for each in action.choices.values():
                found |= _options(each)
    return found
