"""The parts of a study: groups of cases by specialty, site, patient group, length and time, where these are known.

Whatever is a column of the ratings can be a part. A length is the column `length`, else the tokens that judges were
given; the order in time is the column `date`, else the moment the rater on trial answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from medjury.records import dataclass
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


@dataclass(frozen=True, slots=True, eq=False)
class KnownPart:
    """What is known of one attribute: its value by answer, and by item for answers without one, which is looked for
    where there are such. `shares` are the names of those into which its values are cut, whatever they are."""

    by_answer: Mapping[tuple[str, str], Any]
    by_item: Callable[[], Mapping[str, Any]]
    shares: Sequence[str] = ()

    def of(self, answers: Sequence[tuple[str, str]]) -> list[str]:
        """For each answer, an item and a system, its group, "" where none is known."""
        if not self.by_answer:  # then no item has a value either
            return [""] * len(answers)
        found = [self.by_answer.get(answer) for answer in answers]
        if None in found:
            by_item = self.by_item()
            found = [
                by_item.get(item) if value is None else value
                for (item, _), value in zip(answers, found, strict=True)
            ]
        if self.shares:
            return _cut(found, self.shares)
        numbers = [value for value in found if value is not None]
        kinds = set(map(type, numbers))
        if all(issubclass(kind, int | float) and kind is not bool for kind in kinds) and (
            len(set(numbers)) > _MOST_NUMBERS
        ):
            return _cut(found, _THIRDS)
        return ["" if value is None else _level(value) for value in found]


class StudyParts:
    """The parts of a study by one rater's ratings. Dimensions with the same answers have the same parts, which are
    found once."""

    def __init__(self, table: RatingTable, rater: str) -> None:
        names = dict.fromkeys((*USUAL, *(table.rules.parts or ())))
        self._asked = table.rules.parts or ()
        self._known = {name: _known(*_source(table, rater, name)) for name in names}
        self._found: list[tuple[Grid, tuple[tuple[Part, ...], tuple[str, ...]]]] = []

    def of(self, grid: Grid) -> tuple[tuple[Part, ...], tuple[str, ...]]:
        """The parts of these answers, systems among them; and the names that the rules ask for and nothing is
        known of."""
        for other, parts in self._found:
            if np.array_equal(other.items, grid.items) and np.array_equal(other.systems, grid.systems):
                return parts
        made: dict[str, list[str]] = {SYSTEM: grid.systems.tolist()}
        answers = list(zip(grid.items.tolist(), made[SYSTEM], strict=True))
        for name, each in self._known.items():
            values = each.of(answers)
            if any(values):
                made[name] = values
        unknown = tuple(name for name in self._asked if name not in made)
        found = tuple(part for name, values in made.items() for part in _split(name, values)), unknown
        self._found.append((grid, found))
        return found


def _split(name: str, values: Sequence[str]) -> list[Part]:
    """A part for each value, where there are two or more."""
    column = np.asarray(values, dtype=str)
    known = column != ""
    levels = sorted(set(column[known].tolist()))
    if not 2 <= len(levels) <= _MOST_NAMES:
        return []
    return [Part(name, level, column == level, known & (column != level)) for level in levels]


def _source(table: RatingTable, rater: str, name: str) -> tuple[polars.DataFrame, str, Sequence[str]]:
    """Which ratings tell of an attribute, in which column, and the shares into which it is cut."""
    rows = table.rows
    if name == TIME:
        if "date" in rows.columns:
            return rows, "date", _HALVES
        # A jury has no moment of its own: its judges answered when they did.
        judges = rows.filter(rows["rater_kind"] == "judge")
        own = rows.filter(rows["rater"] == rater)
        answers = judges if table.raters.get(rater) != "judge" and judges.height else own
        return answers, "created_at", _HALVES
    if name == LENGTH and name not in rows.columns:
        return rows.filter(rows["rater_kind"] == "judge"), "tokens_in", _THIRDS
    return rows, name, ()


def _level(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value).strip()


def _known(rows: polars.DataFrame, column: str, shares: Sequence[str]) -> KnownPart:
    """The value of each answer: the mean of numbers, else the first that is there; an answer without one has that
    of its item."""
    import polars as pl

    if column not in rows.columns or not rows.height:
        return KnownPart({}, dict, shares)
    numbers = rows[column].cast(pl.Float64, strict=False) if rows[column].dtype == pl.String else None
    if numbers is not None and (numbers.is_not_null() == rows[column].is_not_null()).all():
        rows = rows.with_columns(numbers.alias(column))  # a text file has no other way to write numbers
    value = pl.col(column).drop_nulls()
    one = (value.mean() if rows[column].dtype.is_numeric() else value.sort().first()).alias("found")
    by_answer = {
        (item, system): found
        for item, system, found in rows.group_by("item", "system").agg(one).iter_rows()
        if found is not None
    }

    @cache
    def by_item() -> dict[str, Any]:
        return {
            item: found for item, found in rows.group_by("item").agg(one).iter_rows() if found is not None
        }

    return KnownPart(by_answer, by_item, shares)


def _cut(values: Sequence[Any], names: Sequence[str]) -> list[str]:
    """Each value's place in the order, in as many equal shares as there are names; equal values stay together."""
    known = sorted(value for value in values if value is not None)
    if not known or known[0] == known[-1]:
        return [""] * len(values)
    starts = [known[round(len(known) * share / len(names))] for share in range(1, len(names))]
    passed = [[value is not None and value >= start for value in values] for start in starts]
    return [
        "" if value is None else names[sum(each)]
        for value, each in zip(values, zip(*passed, strict=True), strict=True)
    ]
