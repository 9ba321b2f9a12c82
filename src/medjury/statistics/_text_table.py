"""Rows as aligned lines that fit the reader's screen.

What all rows share is told once, what comes in runs becomes a heading, long words are folded, and a column that
still does not fit is named below. Without a screen every column is printed as it is: the command line sets one,
and `--wide` takes it away again."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from medjury.screen import screen_columns
from medjury.statistics._estimate import Estimate
from medjury.statistics._printing import Printable, shown

_GAP = "  "
_NARROWEST = 14  # a column of words is not folded below this
_MOST_DIGITS = 3
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


def supported(estimate: Estimate) -> str:
    """An estimate with the digits that its interval supports: two of the interval's width, and never so few that an
    end which is not 0 or 1 reads as 0 or 1.

    >>> supported(Estimate(0.7468, 0.5249, 0.9081, 40, "bca")), supported(Estimate(0.121, 0.004, 0.238, 40, "bca"))
    ('0.75 (0.52 to 0.91)', '0.121 (0.004 to 0.238)')
    """
    if estimate.low is None or estimate.high is None or not estimate.high > estimate.low:
        return shown(estimate)
    digits = min(max(1 - math.floor(math.log10(estimate.high - estimate.low)), 0), _MOST_DIGITS)
    ends = (estimate.low, estimate.high)
    while digits < _MOST_DIGITS and any(round(end, digits) in (0, 1) and end not in (0, 1) for end in ends):
        digits += 1
    return shown(estimate, digits)


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    head: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]  # each row's lines
    numeric: bool
    estimated: bool

    @property
    def width(self) -> int:
        return max(len(line) for lines in (self.head, *self.cells) for line in lines or ("",))

    def folded(self, width: int) -> _Column:
        """The same in no more than this many columns, as far as words allow; an interval may go below its value."""
        return replace(
            self, cells=tuple(_folded_cell(" ".join(lines), width, self.estimated) for lines in self.cells)
        )


def _folded_cell(text: str, width: int, estimated: bool) -> tuple[str, ...]:
    pieces = re.split(r"(?<=\S)(?= \()" if estimated else r"(?<=_)|(?<= )", text)
    lines = [""]
    for piece in pieces:
        if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece.lstrip() if not lines[-1] else piece
    return tuple(line.rstrip() for line in lines)


def text_table(rows: Sequence[Mapping[str, Printable]]) -> list[str]:
    """Rows as aligned lines, numbers to the right; columns that hold nothing at all are left out."""
    room = screen_columns()
    if room is not None:
        rows = [_joined(row) for row in rows]
    names = [name for name in (rows[0] if rows else ()) if any(row[name] not in (None, "") for row in rows)]
    columns = [_column(name, [row[name] for row in rows], fitted=room is not None) for name in names]
    if room is None or _width(columns) <= room:
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
        if low in row and high in row and isinstance(value, int | float | None):
            ends = joined.pop(low), joined.pop(high)
            if value is not None and any(end is not None for end in ends):
                if all(isinstance(each, int) for each in (value, *ends)):
                    joined[name] = f"{shown(value)} ({' to '.join(map(shown, ends))})"
                else:
                    joined[name] = Estimate(value, *ends, 0, "")  # type: ignore[arg-type]
    return joined


def _column(name: str, values: Sequence[Printable], *, fitted: bool) -> _Column:
    cells = [
        "" if value is None else supported(value) if fitted and isinstance(value, Estimate) else shown(value)
        for value in values
    ]
    numeric = all(isinstance(value, int | float | None) for value in values)
    return _Column(
        name,
        (name,),
        tuple((cell,) for cell in cells),
        numeric,
        any(isinstance(value, Estimate) for value in values),
    )


def _width(columns: Sequence[_Column]) -> int:
    return sum(each.width for each in columns) + len(_GAP) * max(0, len(columns) - 1)


def _without_shared(columns: Sequence[_Column]) -> tuple[list[_Column], list[str]]:
    """Columns that differ by row or are estimates, and `name value` of the others."""
    same = [
        each for each in columns if len(each.cells) > 1 and len(set(each.cells)) == 1 and not each.estimated
    ]
    if len(same) == len(columns):
        return list(columns), []
    told = [f"{each.name} {each.cells[0][0]}" for each in same]
    return [each for each in columns if each not in same], told


def _short_head(column: _Column) -> tuple[str, ...]:
    """The head on lines of its own where it is wider than all that stands below it."""
    widest = max(len(cell[0]) for cell in column.cells)
    if len(column.name) <= widest:
        return column.head
    return _folded_cell(column.name, max(widest, 8), estimated=False)


def _that_fit(columns: list[_Column], room: int) -> tuple[_Column | None, list[_Column], list[str]]:
    """A heading, columns that fit below it, and the names of those that do not. Details go first; then words
    are folded, runs become headings, intervals go below their values; then the last columns go, and what was
    measured first and how many there were only when nothing else is left."""
    left_out: list[str] = []
    for name in _DETAILS:
        found = [each for each in columns if each.name == name]
        if found and _width(columns) > room and len(columns) > 1:
            columns.remove(found[0])
            left_out.append(name)
    heading, rest = None, columns
    while _width(folded := _folded(rest, room, estimated=False)) > room:
        if heading is None and (heading := _in_runs(columns)) is not None:
            rest = [each for each in columns if each is not heading]
        elif _width(folded := _folded(folded, room, estimated=True)) <= room or len(rest) == 1:
            break
        else:
            rest = list(rest)
            kept = [each for each in rest if each.estimated][:2] + [each for each in rest if _counts(each)]
            gone = ([each for each in rest[1:] if each not in kept] or rest[1:])[-1]
            rest.remove(gone)
            left_out.append(gone.name)
    return heading, folded, left_out


def _counts(column: _Column) -> bool:
    return column.name == "n" or "unscored" in column.name


def _in_runs(columns: Sequence[_Column]) -> _Column | None:
    """The column of words whose values come in the fewest runs, where these are long enough to be headings."""
    words = [each for each in columns if not each.numeric and not each.estimated]

    def runs(column: _Column) -> int:
        return sum(1 for _ in groupby(column.cells))

    def heads(column: _Column) -> bool:
        once = runs(column) == len(set(column.cells)) and 3 * runs(column) <= 2 * len(column.cells)
        return all(cell[0] for cell in column.cells) and (once or 4 * runs(column) <= len(column.cells))

    return min(filter(heads, words), key=runs, default=None) if len(columns) > 2 else None


def _folded(columns: Sequence[_Column], room: int, *, estimated: bool) -> list[_Column]:
    """Columns of words, or of estimates, on several lines, the widest first, until all fit or none can be."""
    made = list(columns)
    able = {index for index, each in enumerate(made) if not each.numeric and each.estimated is estimated}
    while (over := _width(made) - room) > 0 and able:
        place = max(able, key=lambda index: made[index].width)
        narrower = made[place].folded(max(_NARROWEST, made[place].width - over))
        if narrower.width < made[place].width:
            made[place] = narrower
        else:
            able.remove(place)
    return made


def _lines(columns: Sequence[_Column], heading: _Column | None = None) -> list[str]:
    if not columns:
        return []
    widths = [each.width for each in columns]
    rows = [[each.head for each in columns], *zip(*(each.cells for each in columns), strict=True)]
    lines: list[str] = []
    for number, row in enumerate(rows):
        if (
            heading is not None
            and number
            and (number == 1 or heading.cells[number - 1] != heading.cells[number - 2])
        ):
            lines.append(f"{heading.name}: {heading.cells[number - 1][0] or 'none'}")
        for place in range(max(len(cell) for cell in row)):
            parts = [cell[place] if place < len(cell) else "" for cell in row]
            padded = [
                part.rjust(width) if each.numeric else part.ljust(width)
                for part, width, each in zip(parts, widths, columns, strict=True)
            ]
            lines.append(_GAP.join(padded).rstrip())
    return lines
