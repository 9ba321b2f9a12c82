"""What a command prints fits the screen it is read on; in a pipe or a file it is whole, with every digit. Help in
paragraphs, and what is said of a command that was not finished.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TextIO, cast

from medjury.foundation.errors import MedjuryError
from medjury.foundation.screen import screen

# Long lines folded between words, on their way to a terminal.

# What is read or copied whole is one word: a command in backticks, an interval, `n = 120`.
_WORD = re.compile(r"(\s*)(`[^`]*`\S*|\([−\d.,]+ to [−\d.,]+\)\S*|\w+ = \S+|\S+)")
_CELL = re.compile(r"^(.*\S {2,})(\S.*)$")


def fold(line: str, width: int) -> list[str]:
    """One line as several of no more than this width, later ones set in, below the last cell where the line is a
    row of cells; a word that is longer stays whole."""
    if len(line) <= width:
        return [line]
    inner = " " * (len(line) - len(line.lstrip()) + 2)
    row = _CELL.match(line)
    if row and len(row[1]) <= width // 2:
        inner = " " * len(row[1])
    elif row:  # a last cell so far to the right has a line of its own
        return [*fold(row[1].rstrip(), width), *fold(inner + row[2], width)]
    lines, current = [], ""
    for space, word in _WORD.findall(line):
        for part in [word] if len(inner) + len(word) <= width else word.split(" "):
            if current.strip() and len(current) + len(space or " ") + len(part) > width:
                lines.append(current)
                current, space = inner, ""
            current += space + part
            space = " "
    return [*lines, current]


class Folded:
    """A stream that folds long lines; what moves the cursor, and what ends no line, passes as it is."""

    def __init__(self, stream: TextIO, width: int) -> None:
        self.unfolded = stream
        self._width = width
        self._begun = False  # a line without an end was written

    def write(self, text: str) -> int:
        if "\x1b" in text or "\r" in text or self._begun:
            self.unfolded.write(text)
        else:
            *whole, rest = text.split("\n")
            for line in whole:
                self.unfolded.write("\n".join(fold(line, self._width)) + "\n")
            self.unfolded.write("\n".join(fold(rest, self._width)) if rest else "")
        self._begun = not text.endswith("\n") if text else self._begun
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.unfolded, name)


WIDTH = "MEDJURY_WIDTH"
_FEWEST = 40


@contextmanager
def reading_screen(*, wide: bool, raw: bool) -> Iterator[None]:
    """Inside, tables and lines fit the reader's screen: that of a terminal, or MEDJURY_WIDTH columns wherever the
    output goes. With `wide` they are as in a pipe; `raw` output is for programs and never touched."""
    stated = _stated()
    if wide or raw:
        yield
        return
    before = sys.stdout, sys.stderr
    widths = [stated or (_columns() if each.isatty() else None) for each in before]
    sys.stdout, sys.stderr = (
        each if width is None else cast("TextIO", Folded(each, width))
        for each, width in zip(before, widths, strict=True)
    )
    try:
        with screen(widths[0]):
            yield
    finally:
        sys.stdout, sys.stderr = before


def _columns() -> int:
    return max(_FEWEST, shutil.get_terminal_size().columns)


def _stated() -> int | None:
    text = os.environ.get(WIDTH, "").strip()
    if not text:
        return None
    if not text.isdecimal() or int(text) < _FEWEST:
        raise MedjuryError(
            f"the environment variable {WIDTH} is {text!r}; set it to a number of columns, {_FEWEST} or more, or "
            "unset it"
        )
    return int(text)


class Paragraphs(argparse.HelpFormatter):
    """Paragraphs are parted by empty lines; lines that are set in stay as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        parts = []
        for part in re.split(r"\n\s*\n", text.strip("\n")):
            set_in = any(line.startswith(" ") for line in part.splitlines())
            filled = textwrap.fill(" ".join(part.split()), width, break_on_hyphens=False)
            parts.append(part if set_in else filled)
        return "\n\n".join(parts)


class Parser(argparse.ArgumentParser):
    """An error is one sentence, without the list of all options, that says what to do: `--help` has the rest."""

    def error(self, message: str) -> NoReturn:
        below = [each for each in self._actions if isinstance(each, argparse._SubParsersAction)]
        message = re.sub(r"^argument (\S+): ", r"\1: ", message)
        if missing := re.fullmatch(r"the following arguments are required: (.*)", message):
            named = missing[1]
            message = f"{named} {'are' if ', ' in named else 'is'} missing"
            if below and named == below[0].metavar:
                message = f"say what to do: {', '.join(below[0].choices)}"
        more = "" if "--help" in message else f" (`{self.prog} --help` shows how to call it)"
        self.exit(2, f"{self.prog}: {message}{more}\n")
