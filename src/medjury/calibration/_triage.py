"""Triage of a rating table: one dimension, its judges, and what the clinicians said where they did."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from medjury.calibration._automatic import Decide, automatic_decisions
from medjury.calibration._calibrator import check_confidence
from medjury.calibration._conformal_sets import measure_sets
from medjury.calibration._folds import FOLDS
from medjury.calibration._part import Part, judging_roles, jurors_of, jury_of, parts_of
from medjury.calibration._review_order import review_order
from medjury.calibration._triage_result import Asked, Triage
from medjury.errors import MedjuryError
from medjury.tables import Grades, Measured, Names, RatingTable, Roles, rating_table


def triage(
    table: object,
    *,
    raters: Names | None = None,
    reference: Names | None = None,
    dimensions: Names | None = None,
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
    high_is_dangerous: bool | None = None,
    threshold: float | None = None,
    gap: float | None = None,
    boundary: float | None = None,
    level: float = 0.9,
    catch: float = 0.8,
    decide_at: float | None = None,
    decide: Decide = "both",
    error: float = 0.05,
    folds: int = FOLDS,
) -> Triage:
    """Rank the units of a rating table for review on one dimension.

    A dangerous answer is one that the reference scored `threshold` or less, by default the table's own rule of
    danger; with `gap`, only severe errors count: those that the jury in addition scored `gap` or more higher.
    Scores of a dimension on which lower is better (the table says so, or `high_is_dangerous`) are read the
    other way round first; `threshold`, `boundary` and `decide_at` are then on the reversed scale, low
    being dangerous. `decide_at` asks which units can be decided automatically at that score.
    """
    table = rating_table(table)
    check_confidence(confidence)
    roles = judging_roles(table, raters, reference, need_reference=False)
    part, turned = oriented_part(table, roles, one_dimension(table, dimensions), high_is_dangerous)
    jury, judges = jury_of(roles), jurors_of(table, roles)
    danger = part.measured.danger(table.rules)
    assert danger is not None
    asked = Asked(danger[0] if threshold is None else threshold, gap, catch, level, decide_at, error)
    effort: dict[str, Any] = {
        "resamples": table.resamples(resamples),
        "seed": table.seed(seed),
        "confidence": confidence,
    }
    found = review_order(
        part.scores(jury),
        {name: part.scores(name) for name in judges},
        cases=part.cases,
        grades=part.grades,
        labels=part.labels if roles.reference else None,
        danger=table.danger_word(part.grid, part.measured, roles.reference) if roles.reference else None,
        threshold=asked.threshold,
        gap=gap,
        boundary=boundary,
        level=level,
        catch=catch,
        folds=folds,
        **effort,
    )
    sets, automatic = None, None
    if found.sets is not None:
        sets = measure_sets(found.sets, part.labels, cases=part.cases, **effort)
    if decide_at is not None:
        if not roles.reference:
            raise MedjuryError(
                "automatic decisions need a reference: without labels no error can be counted."
            )
        automatic = automatic_decisions(
            part.scores(jury),
            part.labels,
            cases=part.cases,
            scale=part.scale,
            threshold=decide_at,
            error=error,
            decide=decide,
            **effort,
        )
    return Triage(part, jury, judges, asked, found, sets, automatic, turned, table.warnings)


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
