"""Rows as aligned lines: as wide as they are, or fitted to the reader's screen where the command line set one."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

from medjury.foundation.screen import screen_columns
from medjury.statistics._estimate import Estimate
from medjury.statistics._printing import Printable, shown, supported

# Rows as lines that fit a narrow screen, with numbers rounded to what their interval supports.
#
# What all rows share is said once, what comes in runs becomes a heading, long words are folded, and a column that
# still does not fit is named below. Nothing is rounded but what is printed here: rows, JSON, files and the report
# keep every digit.


# One column of a table that is to fit a screen: its head, its cells, and both on several lines.

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


def column_of(name: str, values: Sequence[Printable], *, whole: bool = False) -> Column:
    """Values as a reader wants them, estimates with the digits that their intervals support or as a `whole`;
    nothing is an empty cell."""
    cells = (
        ""
        if value is None
        else supported(value)
        if isinstance(value, Estimate) and not whole
        else shown(value)
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


_NARROWEST = 14  # a column of words is not folded below this
# How a number was made, which a reader asks for last: these columns go first where there is no room.
_DETAILS = (
    "method",
    "reason",
    "instrument",
    "cluster",
    "resamples",
    "p_value",
    "p_adjusted",
    "macro_sd",
    "win_sd",
)


def fitted_table(rows: Sequence[Mapping[str, Printable]], room: int) -> list[str]:
    """Lines of at most `room` columns, as far as words allow."""
    joined = [_joined(row) for row in rows]
    columns = [column_of(name, [row[name] for row in joined]) for name in joined[0]]
    if total_width(columns) <= room:
        return _lines(columns)
    columns, shared = _without_shared(columns)
    columns = [replace(each, head=_short_head(each)) for each in columns]
    heading, columns, left_out = _that_fit(columns, room)
    lines = textwrap.wrap("In all rows: " + ", ".join(shared), room) if shared else []
    lines += _lines(columns, heading)
    if left_out:
        told = f"not shown: {', '.join(left_out)} (--wide shows all columns)"
        lines += textwrap.wrap(told, room, break_on_hyphens=False)
    return lines


def _joined(row: Mapping[str, Printable]) -> dict[str, Printable]:
    """Value, low and high end as one estimate, wherever a row has all three."""
    joined = dict(row)
    for name, value in row.items():
        low, high = ("low", "high") if name == "value" else (f"{name}_low", f"{name}_high")
        if low not in row or high not in row or not isinstance(value, int | float | None):
            continue
        ends = [end for end in (joined.pop(low), joined.pop(high)) if isinstance(end, int | float | None)]
        if value is None or len(ends) < 2 or ends == [None, None]:
            continue
        if all(isinstance(each, int) for each in (value, *ends)):
            joined[name] = f"{shown(value)} ({' to '.join(map(shown, ends))})"
        else:
            joined[name] = Estimate(value, ends[0], ends[1], 0, "")
    return joined


def _without_shared(columns: Sequence[Column]) -> tuple[list[Column], list[str]]:
    """Columns that differ by row or are estimates, and `name value` of the others."""
    same = [
        each for each in columns if len(each.cells) > 1 and len(set(each.cells)) == 1 and not each.estimated
    ]
    if len(same) == len(columns):
        return list(columns), []
    return [each for each in columns if each not in same], [
        f"{each.words} {each.cells[0][0]}" for each in same
    ]


def _short_head(column: Column) -> tuple[str, ...]:
    """The head on several lines where it is wider than all that stands below it."""
    widest = max(len(cell[0]) for cell in column.cells)
    return column.head if len(column.name) <= widest else folded_text(column.words, max(widest, 8))


def _that_fit(columns: list[Column], room: int) -> tuple[Column | None, list[Column], list[str]]:
    """A heading, columns that fit below it, and the names of those that do not. Details go first; then words
    are folded, runs become headings, intervals go below their values; then the last columns go, and what was
    measured first and how many there were only when nothing else is left."""
    left_out: list[str] = []
    for name in _DETAILS:
        found = [each for each in columns if each.name == name]
        if found and total_width(columns) > room and len(columns) > 1:
            columns.remove(found[0])
            left_out.append(found[0].words)
    heading, rest = None, columns
    while total_width(folded := _folded(rest, room, estimated=False)) > room:
        if heading is None and (heading := _in_runs(columns)) is not None:
            rest = [each for each in columns if each is not heading]
        elif total_width(whole := _folded(rest, room, estimated=True)) <= room:
            folded = whole  # with intervals below their values no word needs to be parted
            break
        elif total_width(folded := _folded(folded, room, estimated=True)) <= room or len(rest) == 1:
            break
        else:
            kept = [each for each in rest if each.estimated][:2] + [each for each in rest if each.counts]
            gone = ([each for each in rest[1:] if each not in kept] or rest[1:])[-1]
            rest = [each for each in rest if each is not gone]
            left_out.append(gone.words)
    return heading, folded, left_out


def _in_runs(columns: Sequence[Column]) -> Column | None:
    """The column of words whose values come in the fewest runs, where these are long enough to be headings."""
    words = [each for each in columns if not each.numeric and not each.estimated]

    def runs(column: Column) -> int:
        return sum(1 for _ in groupby(column.cells))

    def heads(column: Column) -> bool:
        once = runs(column) == len(set(column.cells)) and 3 * runs(column) <= 2 * len(column.cells)
        return all(cell[0] for cell in column.cells) and (once or 4 * runs(column) <= len(column.cells))

    return min(filter(heads, words), key=runs, default=None) if len(columns) > 2 else None


def _folded(columns: Sequence[Column], room: int, *, estimated: bool) -> list[Column]:
    """Columns of words, or of estimates, on several lines, the widest first, until all fit or none can be."""
    made = list(columns)
    able = {index for index, each in enumerate(made) if not each.numeric and each.estimated is estimated}
    while (over := total_width(made) - room) > 0 and able:
        place = max(able, key=lambda index: made[index].width)
        narrower = made[place].folded(max(_NARROWEST, made[place].width - over))
        if narrower.width < made[place].width:
            made[place] = narrower
        else:
            able.remove(place)
    return made


def _lines(columns: Sequence[Column], heading: Column | None = None) -> list[str]:
    """The rows below the heads; with a heading, all rows of each of its values below that value, once."""
    lines = _padded([each.head for each in columns], columns)
    rows = list(zip(*(each.cells for each in columns), strict=True))
    if heading is None:
        return [*lines, *(line for row in rows for line in _padded(row, columns))]
    for value in dict.fromkeys(heading.cells):
        lines.append(f"{heading.words}: {value[0]}")
        own = (row for row, cell in zip(rows, heading.cells, strict=True) if cell == value)
        lines += (line for row in own for line in _padded(row, columns))
    return lines


def _padded(row: Sequence[tuple[str, ...]], columns: Sequence[Column]) -> list[str]:
    lines = []
    for place in range(max(len(cell) for cell in row)):
        parts = [cell[place] if place < len(cell) else "" for cell in row]
        padded = [
            part.rjust(each.width) if each.numeric else part.ljust(each.width)
            for part, each in zip(parts, columns, strict=True)
        ]
        lines.append(GAP.join(padded).rstrip())
    return lines


def text_table(rows: Sequence[Mapping[str, Printable]]) -> list[str]:
    """Rows as aligned lines, numbers to the right; columns that hold nothing at all are left out."""
    names = [name for name in (rows[0] if rows else ()) if any(row[name] not in (None, "") for row in rows)]
    if (room := screen_columns()) is not None and names:
        return fitted_table([{name: row[name] for name in names} for row in rows], room)
    columns = (column_of(name, [row[name] for row in rows], whole=True) for name in names)
    return _lines([replace(each, head=(each.name,)) for each in columns]) if names else []
