"""The reader's terminal: how wide it is, whether it draws, and long lines folded between words."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from medjury.screen import screen

PLAIN_COLUMNS = 80  # of a file or a pipe, which has no width
_FEWEST = 40
# What is read or copied whole is one word: a command in backticks, an interval, `n = 120`.
_WORD = re.compile(r"(\s*)(`[^`]*`\S*|\([−\d.,]+ to [−\d.,]+\)\S*|\w+ = \S+|\S+)")
_CELL = re.compile(r"^(.*\S {2,})(\S.*)$")


def columns() -> int:
    """The width of the terminal; that of a page where the output is none."""
    return max(_FEWEST, shutil.get_terminal_size((PLAIN_COLUMNS, 24)).columns)


def draws(stream: TextIO) -> bool:
    """Whether a live display can be drawn: on a terminal that moves its cursor, and for a reader who wants it."""
    return stream.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("NO_COLOR")


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
        self._stream = stream
        self._width = width
        self._begun = False  # a line without an end was written

    def write(self, text: str) -> int:
        if "\x1b" in text or "\r" in text or self._begun:
            self._stream.write(text)
        else:
            *whole, rest = text.split("\n")
            for line in whole:
                self._stream.write("\n".join(fold(line, self._width)) + "\n")
            self._stream.write(rest if not rest else "\n".join(fold(rest, self._width)))
        self._begun = not text.endswith("\n") if text else self._begun
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def reading_screen(*, wide: bool, folded: bool) -> Iterator[None]:
    """Inside, tables fit the screen, unless `wide`; where `folded`, so do the lines that go to a terminal."""
    width = columns()
    before = sys.stdout, sys.stderr
    if folded and not wide:
        sys.stdout, sys.stderr = (Folded(each, width) if each.isatty() else each for each in before)
    try:
        with screen(None if wide else width):
            yield
    finally:
        sys.stdout, sys.stderr = before


class Paragraphs(argparse.HelpFormatter):
    """Help whose paragraphs are filled to the screen; lines that are set in stay as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        parts = []
        for part in re.split(r"\n\s*\n", text.strip("\n")):
            set_in = any(line.startswith(" ") for line in part.splitlines())
            parts.append(
                part if set_in else textwrap.fill(" ".join(part.split()), width, break_on_hyphens=False)
            )
        return "\n\n".join(parts)
