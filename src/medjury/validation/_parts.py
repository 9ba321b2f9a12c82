"""The parts of a study: groups of cases by specialty, site, patient group, length and time, where these are known.

Whatever is a column of the ratings can be a part. A length is the column `length`, else the tokens that judges were
given; the order in time is the column `date`, else the moment the rater on trial answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from medjury.tables import CASE_PARTS, Grid, RatingTable

if TYPE_CHECKING:
    import polars

USUAL = (*(name for name in CASE_PARTS if name != "date"), "time")
SYSTEM, LENGTH, TIME = "system", "length", "time"
# More numbers than this are cut into thirds; more names than this are ids, and no groups.
_MOST_NUMBERS, _MOST_NAMES = 6, 40
_THIRDS = ("lowest third", "middle third", "highest third")
_HALVES = ("first half", "second half")
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Answers that have something in common: `of` the attribute, `level` its value; `rest` are the answers with
    another value."""

    of: str
    level: str
    inside: Flags
    rest: Flags

    @property
    def name(self) -> str:
        return f"{self.of} {self.level}"


def parts_of(table: RatingTable, grid: Grid, rater: str) -> tuple[tuple[Part, ...], tuple[str, ...]]:
    """The parts of these answers, systems among them; and the names that the rules ask for and nothing is known
    of."""
    stated = table.rules.parts
    made: dict[str, list[str]] = {SYSTEM: grid.systems.tolist()}
    for name in dict.fromkeys((*USUAL, *(stated or ()))):
        values = _values(table, grid, rater, name)
        if any(values):
            made[name] = values
    unknown = tuple(name for name in stated or () if name not in made)
    return tuple(part for name, values in made.items() for part in _split(name, values)), unknown


def _split(name: str, values: Sequence[str]) -> list[Part]:
    """A part for each value, where there are two or more."""
    column = np.asarray(values, dtype=str)
    known = column != ""
    levels = sorted(set(column[known].tolist()))
    if not 2 <= len(levels) <= _MOST_NAMES:
        return []
    return [Part(name, level, column == level, known & (column != level)) for level in levels]


def _values(table: RatingTable, grid: Grid, rater: str, name: str) -> list[str]:
    """For each answer its group, "" where none is known."""
    rows = table.rows
    if name == TIME:
        if "date" in rows.columns:
            return _cut(_of_answers(rows, "date", grid), _HALVES)
        # A jury has no moment of its own: its judges answered when they did.
        judges = rows.filter(rows["rater_kind"] == "judge")
        own = rows.filter(rows["rater"] == rater)
        answers = judges if table.raters.get(rater) != "judge" and judges.height else own
        return _cut(_of_answers(answers, "created_at", grid), _HALVES)
    if name == LENGTH and name not in rows.columns:
        return _cut(_of_answers(rows.filter(rows["rater_kind"] == "judge"), "tokens_in", grid), _THIRDS)
    found = _of_answers(rows, name, grid)
    numbers = [value for value in found if value is not None]
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in numbers) and (
        len(set(numbers)) > _MOST_NUMBERS
    ):
        return _cut(found, _THIRDS)
    return ["" if value is None else _level(value) for value in found]


def _level(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value).strip()


def _of_answers(rows: polars.DataFrame, column: str, grid: Grid) -> list[Any]:
    """The value of each answer: the mean of numbers, else the first that is there; an answer without one has that
    of its item."""
    import polars as pl

    if column not in rows.columns or not rows.height:
        return [None] * len(grid.items)
    numbers = rows[column].cast(pl.Float64, strict=False) if rows[column].dtype == pl.String else None
    if numbers is not None and (numbers.is_not_null() == rows[column].is_not_null()).all():
        rows = rows.with_columns(numbers.alias(column))  # a text file has no other way to write numbers
    value = pl.col(column).drop_nulls()
    one = value.mean() if rows[column].dtype.is_numeric() else value.sort().first()
    by_answer: Mapping[tuple[str, str], Any] = {
        (item, system): found
        for item, system, found in rows.group_by("item", "system").agg(one).iter_rows()
        if found is not None
    }
    by_item: Mapping[str, Any] = {
        item: found for item, found in rows.group_by("item").agg(one).iter_rows() if found is not None
    }
    pairs = zip(grid.items.tolist(), grid.systems.tolist(), strict=True)
    return [by_answer.get((item, system), by_item.get(item)) for item, system in pairs]


def _cut(values: Sequence[Any], names: Sequence[str]) -> list[str]:
    """Each value's place in the order, in as many equal shares as there are names; equal values stay together."""
    known = sorted(value for value in values if value is not None)
    if not known or known[0] == known[-1]:
        return [""] * len(values)
    starts = [known[round(len(known) * share / len(names))] for share in range(1, len(names))]
    return ["" if value is None else names[sum(value >= start for start in starts)] for value in values]
