"""Which numbers of a report's tables a test really compared: a cell tells it when it is held against something.

Tables are read as rows of cells. A cell remembers its table and column, also as a number, and notes both when it is
found equal to another value. Reading a cell, or finding it greater or less, notes nothing.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

Place = tuple[str, str]
SEEN: set[Place] = set()


class Cell(str):
    """What a table shows at one place."""

    place: Place

    def __eq__(self, other: object) -> Any:
        return _noted(self.place, str.__eq__(self, other))

    __hash__ = str.__hash__


class Number(float):
    """A cell's number."""

    place: Place

    def __eq__(self, other: object) -> Any:
        same = float.__eq__(self, other)
        if same is NotImplemented:  # numbers of numpy, and what is only approximately so
            same = bool(other == float(self))
        return _noted(self.place, same)

    __hash__ = float.__hash__


def _noted(place: Place, same: Any) -> Any:
    if same is not NotImplemented and same:
        SEEN.add(place)
    return same


def amount(shown: str) -> float:
    """The number of a cell, which notes what it is compared with."""
    found = Number(shown)
    if not isinstance(shown, Cell):
        return float(shown)
    found.place = shown.place
    return found


def note(row: Mapping[str, str], *columns: str) -> None:
    """For what is compared otherwise than by equality: within what chance leaves open."""
    SEEN.update(cell.place for cell in map(row.__getitem__, columns) if isinstance(cell, Cell))


def read_table(file: Path) -> list[dict[str, str]]:
    """The rows of a report's table as cells."""
    name = re.sub(r"^(gate|preconditions)-\d+-.*", r"\1", file.stem)
    with file.open(encoding="utf-8", newline="") as opened:
        return [
            {column: _cell(shown, (name, column)) for column, shown in row.items()}
            for row in csv.DictReader(opened)
        ]


def _cell(shown: str, place: Place) -> Cell:
    made = Cell(shown)
    made.place = place
    return made


@cache
def numeric_columns(file: Path) -> frozenset[Place]:
    """Columns with a number in them; the ends of a value as one more, `VALUE ends`."""
    return frozenset(
        (row[column].place[0], re.sub(r" (low|high)$", " ends", column))  # type: ignore[attr-defined]
        for row in read_table(file)
        for column in row
        if re.fullmatch(r"-?\d+(\.\d+)?(e-?\d+)?", row[column]) and not column.endswith((" n", " method"))
    )


def compared() -> set[Place]:
    """Columns that were compared since the last `SEEN.clear()`; both ends of a value make one `VALUE ends`."""
    ends = {
        (table, f"{column.removesuffix(' low')} ends")
        for table, column in SEEN
        if column.endswith(" low") and (table, f"{column.removesuffix(' low')} high") in SEEN
    }
    return {place for place in SEEN if not place[1].endswith((" low", " high"))} | ends
