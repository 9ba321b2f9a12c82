"""Long lines folded between words, on their way to a terminal."""

from __future__ import annotations

import re
from typing import Any, TextIO

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
