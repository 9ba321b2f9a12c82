"""Collects the items of a source, and every row that did not become one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.intake import EMPTY
from medjury.intake.cases import read_rows
from medjury.suites._item import Item, Loaded

BLANK = "blank row"


class RowError(ValueError):
    """Why a row cannot be an item. The message holds nothing of its text."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a source: its values by column, and where it was found."""

    where: str
    number: int
    values: Mapping[str, Any]

    def value(self, column: str) -> Any:
        """What a column holds, be it text or not. A row of JSON may lack it altogether."""
        if column not in self.values:
            raise RowError(f"has no {column}")
        return self.values[column]

    def text(self, column: str) -> str:
        """The text of a column that must not be empty."""
        found = self.optional(column)
        if not found:
            raise RowError(f"{column} is empty")
        return found

    def optional(self, column: str) -> str:
        """The text of a column, empty where there is none."""
        value = self.values.get(column)
        if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
            value = int(value)  # a spreadsheet and Parquet write 3 as 3.0
        if value is None or (isinstance(value, str | int | float) and not isinstance(value, bool)):
            return checked_text("" if value is None else str(value), column)
        raise RowError(f"{column} is no text")

    def label(self, column: str, known: Sequence[str]) -> str:
        """One of a few words that the column may hold, in any letter case."""
        found = self.text(column)
        for each in known:
            if each.lower() == found.lower():
                return each
        raise RowError(f"{column} is none of {', '.join(known)}")

    def whole_number(self, column: str) -> int:
        found = self.text(column)
        if not found.removeprefix("-").isascii() or not found.removeprefix("-").isdigit():
            raise RowError(f"{column} is no whole number")
        return int(found)


def checked_text(text: str, name: str) -> str:
    """The text without blanks around it and with one kind of line end; refused where a byte of it was no text."""
    if "\x00" in text:
        raise RowError(f"{name} holds signs that were lost when the file was saved; fetch it again")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise RowError(f"{name} is not valid UTF-8; save the file as UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


class Gathering:
    """What a loader has made of a source so far."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.left_out: Counter[str] = Counter()
        self.problems: list[str] = []
        self._seen: dict[str, str] = {}

    def rows(self, path: Path, columns: Sequence[str], *, within: str | None = None) -> Iterator[Row]:
        """The rows of a table or of JSON; `within` leads to them inside a JSON document. A file that lacks one of
        the columns is refused, since it is not the file that was expected."""
        first = True
        for raw in read_rows(path, rows=within):
            where = f"{raw.origin.file}, row {raw.origin.row}"
            self.left_out[BLANK] += raw.remarks.get(EMPTY, 0)
            if raw.problem:
                self.problems.append(f"{where}: {raw.problem}")
            elif not raw.is_remark:
                if first:
                    require_columns(path, raw.values, columns)
                    first = False
                yield Row(where, raw.origin.row, raw.values)

    @contextmanager
    def row(self, row: Row) -> Iterator[None]:
        """Whatever is wrong with this row is told, and the next one is read."""
        try:
            yield
        except RowError as problem:
            self.problems.append(f"{row.where}: {problem}")

    def leave_out(self, reason: str) -> None:
        self.left_out[reason] += 1

    def add(self, item: Item, where: str) -> None:
        if item.id in self._seen:
            raise RowError(f"its id appears twice, first in {self._seen[item.id]}")
        self._seen[item.id] = where
        self.items.append(item)

    def loaded(self, database: Path | None = None) -> Loaded:
        counts = {reason: count for reason, count in self.left_out.items() if count}
        return Loaded(tuple(self.items), counts, tuple(self.problems), database)


def require_columns(path: Path, found: Mapping[str, Any], columns: Sequence[str]) -> None:
    missing = [each for each in columns if each not in found]
    if missing:
        raise MedjuryError(
            f"{path.name}: has no column {', '.join(map(repr, missing))}; is it the file that the benchmark names?"
        )
