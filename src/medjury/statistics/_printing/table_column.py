"""One column of a table that is to fit a screen: its head, its cells, and both on several lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from medjury.statistics._estimate import Estimate
from medjury.statistics._printing.printing import Printable, shown, supported

GAP = "  "
_BETWEEN_WORDS = r"(?<=_)|(?<= )"
_BEFORE_INTERVAL = r"(?<=\S)(?= \()"


@dataclass(frozen=True)
class Column:
    """Head and cells, each as the lines it takes."""

    name: str
    head: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    numeric: bool
    estimated: bool  # estimates with their intervals

    @cached_property
    def width(self) -> int:
        return max(len(line) for lines in (self.head, *self.cells) for line in lines)

    @property
    def words(self) -> str:
        """Its name as a reader wants it; files, JSON and whole tables have the name itself."""
        return self.name.replace("_", " ")

    @property
    def counts(self) -> bool:
        """Whether it says on how many a row rests."""
        return self.name == "n" or "unscored" in self.name

    def folded(self, width: int) -> Column:
        """The same in no more than this many columns, as far as words allow; an interval may go below its value."""
        return replace(self, cells=tuple(self._cell(" ".join(lines), width) for lines in self.cells))

    def _cell(self, text: str, width: int) -> tuple[str, ...]:
        whole = self.estimated and not text.startswith("not defined")
        return folded_text(text, width, _BEFORE_INTERVAL if whole else _BETWEEN_WORDS)


def column_of(name: str, values: Sequence[Printable]) -> Column:
    """Values as a reader wants them; nothing is an empty cell."""
    cells = (
        "" if value is None else supported(value) if isinstance(value, Estimate) else shown(value)
        for value in values
    )
    return Column(
        name,
        (name.replace("_", " "),),
        tuple((cell,) for cell in cells),
        numeric=all(isinstance(value, int | float | None) for value in values),
        estimated=any(isinstance(value, Estimate) for value in values),
    )


def folded_text(text: str, width: int, between: str = _BETWEEN_WORDS) -> tuple[str, ...]:
    """A text on several lines; a piece that is longer than a line stays whole."""
    lines = [""]
    for piece in re.split(between, text):
        if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece if lines[-1] else piece.lstrip()
    return tuple(line.rstrip() for line in lines)


def total_width(columns: Sequence[Column]) -> int:
    return sum(each.width for each in columns) + len(GAP) * max(0, len(columns) - 1)
