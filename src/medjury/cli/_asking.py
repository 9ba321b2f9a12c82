"""Doubts on the command line: asked at a terminal, answered by `--yes`, and else refused with the question."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
import textwrap
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from medjury.foundation.errors import MedjuryError

if TYPE_CHECKING:
    from medjury.tables import Answer, Doubt

_WIDTH = 80


class UnansweredError(MedjuryError):
    """A question that nobody has answered: it says all that there is to say."""


def asker(*, yes: bool, quiet: bool = False) -> Callable[[Doubt], Answer | None]:
    """Who answers: nobody is asked under `--yes`, and where standard input and output are no terminal (or must stay
    what a program can read) nobody can be."""
    if yes:
        return _suggested
    return _asked if is_terminal() and not quiet else _refused


def is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _suggested(doubt: Doubt) -> Answer | None:
    if doubt.suggested is None:
        if doubt.may_stay_open:
            return None
        raise UnansweredError(_words(doubt, "The tables speak for neither, so --yes cannot answer this. "))
    return replace(doubt.suggested, words=f"{doubt.suggested.words} (--yes)")


def _refused(doubt: Doubt) -> Answer | None:
    if doubt.may_stay_open:
        return None
    more = f"\n--yes takes {doubt.suggested.words!r}." if doubt.suggested else ""
    raise UnansweredError(_words(doubt, "") + more)


def _words(doubt: Doubt, start: str) -> str:
    ways = "".join(f"\n  {each.words}: {each.option}" for each in doubt.answers)
    return f"{doubt.question} {start}Answer with one of these options:{ways}"


def _asked(doubt: Doubt) -> Answer | None:
    """Ask at the terminal; Enter takes the answer that the tables speak for."""
    print("\n" + textwrap.fill(doubt.question, _WIDTH))
    for number, each in enumerate(doubt.answers, start=1):
        mark = " (Enter)" if each is doubt.suggested else ""
        print(
            textwrap.fill(
                f"{each.words}{mark}", _WIDTH, initial_indent=f"  {number}  ", subsequent_indent="     "
            )
        )
    more = ", or LOW HIGH" if doubt.typed == "scale" else ""
    numbers = f"1 to {len(doubt.answers)}" if len(doubt.answers) > 1 else "1"
    while True:
        try:
            said = input(f"{numbers}{more}, q to stop: ").strip()
        except EOFError:
            raise UnansweredError(_words(doubt, "Nobody answered. ")) from None
        if said.casefold() in ("q", "quit"):
            raise UnansweredError(_words(doubt, "Stopped. "))
        if not said and doubt.suggested is not None:
            return doubt.suggested
        if said.isdigit() and 1 <= int(said) <= len(doubt.answers):
            return doubt.answers[int(said) - 1]
        if doubt.typed and (ends := re.fullmatch(r"(-?[\d.]+)[\s,]+(?:to\s+)?(-?[\d.]+)", said)) is not None:
            from medjury.tables import Answer

            low, high = map(float, ends.groups())
            if low < high:
                return Answer(f"{low:g} to {high:g}", {doubt.typed: [low, high]})
        print("That is none of the answers.")


def line_of_mapping(text: str) -> tuple[str, Any]:
    """`judges.rater=model` as a line of the mapping; lists are parted by commas."""
    key, sign, value = text.partition("=")
    if not sign or not key.strip():
        raise argparse.ArgumentTypeError(f"{shlex.quote(text)}: write KEY=VALUE, such as judges.rater=model")
    listed = key.strip().rpartition(".")[2] in ("scores", "raters", "dimensions")
    return key.strip(), [each.strip() for each in value.split(",")] if listed else value.strip()
