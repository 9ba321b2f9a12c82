"""Reads back a table that we wrote: every field of every rating, exactly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from medjury.store.ratings._files.problems import ImportReport, Problem, short
from medjury.store.ratings._files.table import Table, is_blank
from medjury.store.ratings._formula import unguard
from medjury.store.ratings._frame import rating_of_row
from medjury.store.ratings._import.entries import Entry
from medjury.store.ratings._rating import Rating
from medjury.store.ratings._store.statements import LATER_COLUMNS, RATING_COLUMNS

_REAL = frozenset({"score", "seconds", "cost", "probability"})
_INTEGER = frozenset({"repeat", "tokens_in", "tokens_out", "calls"})
_ABSENT = frozenset({"reason", "model_asked", "model_answered"})  # texts that may not be there at all


def is_ours(table: Table) -> bool:
    """True where the table has every column of a rating."""
    return set(RATING_COLUMNS) - LATER_COLUMNS <= set(table.header)


def read_own(table: Table, report: ImportReport) -> Iterator[tuple[Rating, Entry]]:
    """The ratings of the table, each with the place it stands in."""
    there = [name for name in RATING_COLUMNS if name in table.header]  # later columns stand last
    index = [table.header.index(name) for name in there]
    guarded = table.file.lower().endswith((".csv", ".tsv"))
    if extra := [name for name in table.header if name not in RATING_COLUMNS]:
        report.unused_columns[table.file] = extra
    for number, cells in table.rows:
        report.rows += 1
        try:
            row = [_value(name, cells[at], guarded) for name, at in zip(there, index, strict=True)]
            rating = rating_of_row(row)
        except (ValueError, TypeError) as error:
            report.problems.append(
                Problem(table.file, number, "", "", f"is not a rating: {short(str(error))}")
            )
            continue
        yield rating, Entry(table.file, number, "score", rating.score, {})


def _value(name: str, cell: Any, guarded: bool) -> Any:
    if name in _REAL:
        return None if is_blank(cell) else float(cell)
    if name in _INTEGER:
        return None if is_blank(cell) else int(cell)
    if cell is None or (name in _ABSENT and cell == ""):
        return None if name in _ABSENT else ""
    return unguard(str(cell)) if guarded else str(cell)
