"""One dimension of a rating table as calibration reads it: the raters' scores beside the reference's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument
from medjury.statistics import Floats
from medjury.tables import (
    ABSENT,
    NOT_APPLICABLE,
    Grades,
    Grid,
    Measured,
    Names,
    RatingTable,
    Roles,
    of_instrument,
)

Marks = NDArray[np.bool_]
Unit = tuple[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """`labels` is the mean of the reference raters; `label_not_applicable` marks where all of them that have a row
    stated that the dimension does not apply. `instrument` is its name@version, "" where none is stated."""

    measured: Measured
    grid: Grid
    labels: Floats
    label_not_applicable: Marks
    instrument: str = ""

    @property
    def dimension(self) -> str:
        return self.measured.name

    @property
    def grades(self) -> tuple[float, ...]:
        return () if self.measured.grades is None else tuple(map(float, self.measured.grades.values))

    @property
    def scale(self) -> tuple[float, float]:
        return self.grades[0], self.grades[-1]

    @property
    def cases(self) -> NDArray[np.object_]:
        """The patient of each unit, or the item where no patient is known."""
        return self.grid.clusters.astype(object)

    @property
    def first_items(self) -> dict[str, str]:
        """For every case in this sense its first item by name: what is drawn by it is the same whether or not
        anybody knows the names of patients."""
        pairs = sorted(zip(self.grid.items.tolist(), self.grid.clusters.tolist(), strict=True), reverse=True)
        return {str(cluster): f"item {item}" for item, cluster in pairs}

    @property
    def drawn_as(self) -> NDArray[np.object_]:
        """The same cases under the names of their first items."""
        names = self.first_items
        return np.array([names[cluster] for cluster in self.grid.clusters.tolist()], dtype=object)

    def scores(self, rater: str) -> Floats:
        return self.grid.scores[rater]

    def asked(self, rater: str) -> Marks:
        """Where the rater, or one of a jury's judges, has a row at all."""
        return np.asarray(self.grid.states[rater] != ABSENT)

    def not_applicable(self, rater: str) -> Marks:
        return np.asarray(self.grid.states[rater] == NOT_APPLICABLE)


def units_of(grid: Grid) -> list[Unit]:
    """Item and system of every unit."""
    return list(zip(grid.items.tolist(), grid.systems.tolist(), strict=True))


def judging_roles(
    table: RatingTable,
    raters: Names | None,
    reference: Names | None,
    *,
    kinds: Sequence[str] = ("judge", "jury"),
    need_reference: bool = True,
) -> Roles:
    """Judges and their jury against the reference. A text metric's scale is its own, so it has to be named."""
    roles = table.roles(raters, reference, kinds=kinds, jury=True, need_reference=need_reference)
    both = sorted(set(roles.raters) & set(roles.reference))
    if both:
        raise MedjuryError(f"{both[0]!r} is named as a judge and as the reference; it cannot be both.")
    return roles


def jury_of(roles: Roles) -> str:
    """The one rater whose scores count: the jury, or the only rater there is."""
    if roles.jury or len(roles.raters) == 1:
        return roles.jury or roles.raters[0]
    raise MedjuryError(f"{', '.join(roles.raters)} form no jury; name one of them (raters=RATER)")


def jurors_of(table: RatingTable, roles: Roles) -> tuple[str, ...]:
    """The judges behind the jury, whether it is formed here or its own rows are stored: who has no vote in it is
    none of them, and a judge on its own is all of them."""
    if roles.jurors:
        return roles.jurors
    stored = [name for name in roles.raters if table.raters.get(name) not in ("jury", "metric")]
    if roles.jury in stored:
        return (roles.jury,)
    members = table.members_of(roles.jury)
    voted = tuple(name for name in stored if not members or name in members)
    return voted or roles.raters


def parts_of(
    table: RatingTable,
    roles: Roles,
    dimensions: Sequence[Measured],
    *,
    named: bool = False,
    need_scale: bool = True,
) -> tuple[tuple[Part, ...], tuple[str, ...]]:
    """The dimensions that can be used, and what to tell the reader of the others. Where a scale is needed, one that
    is `named` must have one, and so must one of all."""
    labels = instruments_of(table, roles.raters)
    measured = [scaled(table, each) for each in dimensions]
    usable = [each for each in measured if each.grades or not need_scale]
    unknown = [_no_scale(table, each.name) for each in measured if each not in usable]
    if unknown and (named or not usable):
        raise MedjuryError(unknown[0])
    parts = tuple(
        part_of(table, each, table.grid(each.name, roles), roles.reference, labels.get(each.name, ""))
        for each in usable
    )
    return parts, tuple(f"left out: {each}" for each in unknown)


def part_of(
    table: RatingTable, measured: Measured, grid: Grid, reference: Sequence[str], instrument: str = ""
) -> Part:
    nothing = np.zeros((len(grid.items), 0), dtype=np.uint8)
    states = np.column_stack([nothing, *(grid.states[name] for name in reference)])
    silent = ((states == NOT_APPLICABLE) | (states == ABSENT)).all(axis=1)
    excused = (states == NOT_APPLICABLE).any(axis=1) & silent
    return Part(measured, grid, table.reference_scores(grid, reference), np.asarray(excused), instrument)


def scaled(table: RatingTable, measured: Measured) -> Measured:
    """The dimension with its scale; a composite has that of its parts."""
    if measured.grades is not None:
        return measured
    found = None if table.instrument is None else instrument_grades(table.instrument, measured.name)
    if found is None:
        weighty = {name for name, weight in measured.weights.items() if weight > 0}
        found = _span(each.grades for each in table.dimensions if each.name in weighty)
    return measured if found is None else replace(measured, grades=Grades(found, "its parts"))


def instrument_grades(instrument: Instrument, dimension: str) -> tuple[float, ...] | None:
    """The grades of a dimension or reversed dimension; for a composite those that its parts span. None for a name
    the instrument does not know."""
    known = {each.name: each.grades for each in of_instrument(instrument)}
    if (own := known.get(dimension)) is not None:
        return own.values
    weights = next((each.weights for each in instrument.composites if each.name == dimension), {})
    return _span(known.get(part) for part, weight in weights.items() if weight > 0)


def _span(parts: Iterable[Grades | None]) -> tuple[float, ...] | None:
    """The grades that all parts share, or the whole numbers they span where they differ."""
    values = {part.values for part in parts if part is not None}
    if len(values) < 2:
        return values.pop() if values else None
    low, high = min(each[0] for each in values), max(each[-1] for each in values)
    return tuple(float(grade) for grade in range(int(np.floor(low)), int(np.ceil(high)) + 1))


def _no_scale(table: RatingTable, dimension: str) -> str:
    scores = table.rows.filter(table.rows["dimension"] == dimension)["score"].drop_nulls().to_numpy()
    seen = f"; scores run from {scores.min():g} to {scores.max():g}" if len(scores) else ""
    return (
        f"dimension {dimension!r}: the scale is not known{seen}. Give it with --scale LOW HIGH, or name the "
        "instrument."
    )


def instruments_of(table: RatingTable, raters: Sequence[str]) -> dict[str, str]:
    """The name@version of the instrument of each dimension; two of them in one dimension are refused."""
    import polars as pl

    stated = (
        table.rows.filter(pl.col("rater").is_in(list(raters)))
        .filter(pl.col("instrument").fill_null("") != "")
        .group_by("dimension", maintain_order=True)
        .agg(pl.col("instrument").unique().sort())
    )
    labels: dict[str, str] = {}
    for dimension, found in stated.iter_rows():
        if len(found) > 1:
            raise MedjuryError(
                f"dimension {dimension!r} was judged with {' and '.join(found)}; scores of two "
                "instruments cannot be calibrated together. Keep the ratings of one."
            )
        labels[dimension] = found[0]
    if table.instrument is None:
        return labels
    own = f"{table.instrument.name}@{table.instrument.version}"
    for dimension, label in labels.items():
        if label not in (own, table.instrument.name):
            raise MedjuryError(f"dimension {dimension!r} was judged with {label}, not with {own}.")
    return dict.fromkeys((each.name for each in table.dimensions), own)


# One dimension with low as the dangerous end, whichever way its scale runs.


def one_dimension(table: RatingTable, dimensions: Names | None, *, but: str = "") -> Measured:
    """The dimension that is named, or the only one there is."""
    chosen = [each for each in table.chosen(dimensions) if each.name != but]
    if len(chosen) != 1:
        known = ", ".join(each.name for each in table.dimensions if each.name != but)
        raise MedjuryError(f"triage is by one dimension; name one of {known}.")
    return chosen[0]


def oriented_part(
    table: RatingTable, roles: Roles, dimension: Measured, high_is_dangerous: bool | None
) -> tuple[Part, bool]:
    """The dimension with low as the dangerous end, and whether it was turned round for that."""
    (part,), _ = parts_of(table, roles, [dimension], named=True)
    measured = part.measured
    if high_is_dangerous is not None:
        measured = replace(measured, higher_is_better=not high_is_dangerous)
    if measured.higher_is_better or measured.grades is None:
        return replace(part, measured=measured), False
    grid = part.grid
    ends = measured.grades.lowest + measured.grades.highest
    grades = Grades(tuple(sorted(ends - grade for grade in measured.grades.values)), measured.grades.source)
    turned = replace(
        part,
        grid=replace(grid, scores={name: measured.oriented(given) for name, given in grid.scores.items()}),
        labels=measured.oriented(part.labels),
        measured=replace(measured, grades=grades, higher_is_better=True),
    )
    return turned, True
