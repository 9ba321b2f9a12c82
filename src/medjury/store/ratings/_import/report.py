"""What is wrong with a file of ratings, row by row, and what an import did with it."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import whole_file
from medjury.instruments import Reason
from medjury.intake import FileError

_SHOWN = 100
_LONGEST_VALUE = 40
_UNUSED_COLUMNS = "columns not used"
_UNUSED_FIELDS = "fields of JSON cells not used"
_NAMED = (_UNUSED_COLUMNS, _UNUSED_FIELDS)  # the report names these one by one


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing in a file that cannot be taken as it is. `value` is cut short: a cell may hold anything."""

    file: str
    row: int
    column: str
    value: str
    message: str

    def __str__(self) -> str:
        column = f", column {self.column!r}" if self.column else ""
        value = f"{self.value} " if self.value else ""
        return f"{self.file}, row {self.row}{column}: {value}{self.message}"


def write_problems(problems: Iterable[Problem], path: str | Path) -> None:
    """Every problem as a row of a CSV file."""
    rows = [(each.file, each.row, each.column, each.value, each.message) for each in problems]
    write_rows(path, ("file", "row", "column", "value", "problem"), rows)


@dataclass(slots=True)
class ImportReport:
    """What became of every cell that was read: nothing is left out without being counted."""

    files: list[str] = field(default_factory=list)
    rows: int = 0
    scored: int = 0
    not_applicable: int = 0
    unscored: Counter[Reason] = field(default_factory=Counter)
    not_rated: int = 0  # blank cells
    rows_left_out: int = 0  # by `only:`
    duplicates: int = 0  # the same rating twice, kept once
    unknown_items: int = 0  # ratings of items that are not among the cases, left out
    not_started: int = 0  # checkboxes of forms that nobody started; they are among `not_rated`
    merged_entries: int = 0  # rows of double data entry that a merged record replaces, left out
    filled_down: Counter[str] = field(default_factory=Counter)  # by column, cells that the base row gave
    not_read: Counter[str] = field(default_factory=Counter)  # in words, what the reader of the file left out
    unused_columns: dict[str, list[str]] = field(default_factory=dict)
    unused_fields: Counter[str] = field(default_factory=Counter)  # in JSON cells
    notes: list[str] = field(default_factory=list)  # how the files were read
    warnings: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    @property
    def ratings(self) -> int:
        return self.scored + self.not_applicable + self.unscored.total()

    @property
    def left_out(self) -> dict[str, int]:
        """In words, what is in the files and not among the scores, and how much of it."""
        counts = {
            "not rated (blank cells)": self.not_rated,
            "checkboxes of REDCap forms that were not started, not rated": self.not_started,
            "rows left out by the mapping": self.rows_left_out,
            "rows of double data entry that a merged record replaces, left out": self.merged_entries,
            "ratings that appear twice, kept once": self.duplicates,
            "ratings of unknown items, left out": self.unknown_items,
            **self.not_read,
            _UNUSED_FIELDS: self.unused_fields.total(),
            _UNUSED_COLUMNS: sum(map(len, self.unused_columns.values())),
        }
        return {what: count for what, count in counts.items() if count}

    def content(self) -> dict[str, Any]:
        """The counts, and what a reader should know beside them."""
        return {
            "ratings": self.ratings,
            "rows": self.rows,
            "scored": self.scored,
            "not_applicable": self.not_applicable,
            "unscored": {str(reason): count for reason, count in self.unscored.items()},
            "left_out": self.left_out,
            "notes": self.notes,
            "warnings": self.warnings,
        }

    def text(self) -> str:
        """The report in a few lines."""
        lines = [
            f"{self.ratings:,} ratings from {self.rows:,} rows: {self.scored:,} scored, "
            f"{self.not_applicable:,} not applicable, {self.unscored.total():,} unscored"
        ]
        lines += [f"  unscored, {reason}: {count:,}" for reason, count in self.unscored.most_common()]
        lines += [f"  {what}: {count:,}" for what, count in self.left_out.items() if what not in _NAMED]
        if self.filled_down:
            filled = ", ".join(f"{name} ({count:,})" for name, count in self.filled_down.items())
            lines.append(f"  filled down from a row above: {filled}")
        lines += [
            f"  {file}: columns not used: {', '.join(names)}" for file, names in self.unused_columns.items()
        ]
        if self.unused_fields:
            fields = ", ".join(f"{name} ({count:,})" for name, count in self.unused_fields.most_common(12))
            lines.append(f"  {_UNUSED_FIELDS}: {fields}")
        lines += [f"  {note}" for note in self.notes]
        lines += [f"warning: {warning}" for warning in self.warnings]
        return "\n".join(lines)


def write_rows(path: str | Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A CSV file of these rows."""
    try:
        with whole_file(path) as file:
            writer = csv.writer(file)
            writer.writerow(header)
            writer.writerows(rows)
    except OSError as error:
        raise MedjuryError(f"{path} cannot be written: {error.strerror}") from None


def refuse(problems: Sequence[Problem], advice: str) -> FileError:
    """One error for all problems of all files."""
    shown = [str(problem) for problem in problems[:_SHOWN]]
    if len(problems) > _SHOWN:
        shown.append(f"... and {len(problems) - _SHOWN:,} more")
    count = f"{len(problems):,} problem{'s' if len(problems) > 1 else ''}"
    return FileError("\n".join([f"nothing was imported: {count} in the ratings", *shown, advice]), problems)


def short(value: object) -> str:
    """A cell's value as a message may show it."""
    text = repr(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}...{text[0]}"
