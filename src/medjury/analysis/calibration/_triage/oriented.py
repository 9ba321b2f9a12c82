"""One dimension with low as the dangerous end, whichever way its scale runs."""

from __future__ import annotations

from dataclasses import replace

from medjury.analysis.calibration._part import Part, parts_of
from medjury.foundation.errors import MedjuryError
from medjury.tables import Grades, Measured, Names, RatingTable, Roles


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
