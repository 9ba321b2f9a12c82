"""How a file is to be read, what its reader gives for each row, and what it reports of the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from medjury.foundation.errors import MedjuryError

EMPTY = "empty row, left out"
NAMELESS = "column without a name, left out"


class FileError(MedjuryError):
    """A file that somebody gave cannot be used as it is; `problems` has what is wrong with its rows, as far as that
    is kept."""

    def __init__(self, message: str, problems: Sequence[Any] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems)


class NoRowsError(FileError):
    """A file that holds nothing, or a header alone."""


class Row(NamedTuple):
    """One row: its number as a spreadsheet shows it, and its cells, or the JSON value that it is. `problem` says
    why it cannot be read as a row, `reason` the same without names that are the file's own. A row that is `alone`
    is the whole file."""

    number: int
    cells: Any
    problem: str = ""
    reason: str = ""
    alone: bool = False


Rows = Iterator[Row]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a person stated of a file; what is not stated is found in it. `by_row` reads one row at a time, and a
    bad one is a problem of its own (cases); else all rows are in memory, and a bad one ends the reading (ratings).
    While the file is read, `reported` is filled, and `left_out` counts what is not read, in words that hold
    nothing of the file."""

    sheet: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    header_rows: int = 1
    rows: str | None = None  # where the rows are in a nested JSON file
    item: str = ""  # the column that names the item: a separator that does not part it off is not the one
    columns: tuple[str, ...] = ()  # names that the mapping uses; some may be paths into cells
    pattern: str | None = None
    skip_rows: int = 0  # titles and instructions above the header
    by_row: bool = False
    reported: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
