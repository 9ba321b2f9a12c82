"""Composite scores from calibrated parts: a composite is never calibrated itself where its parts can be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from medjury.analysis.calibration._maps.calibrator import Floats
from medjury.analysis.calibration._maps.cross_fit import OutOfFold
from medjury.analysis.calibration._part import Marks, instrument_grades
from medjury.analysis.calibration._study_result import ComparedScores, RaterCalibration
from medjury.instruments import Instrument, derive_columns
from medjury.tables import Grid

Unit = tuple[str, str]


def derived_scores(
    instrument: Instrument, rater: str, parts: Mapping[str, RaterCalibration]
) -> list[ComparedScores]:
    """Reversed dimensions and composites of one rater: raw, calibrated and the reference's own, with the grades
    to round to for kappa. A unit that lacks a part of a composite has none."""
    units: dict[Unit, tuple[str, int]] = {}
    for each in parts.values():
        places = zip(each.part.cases.tolist(), each.pairs.fold.tolist(), strict=True)
        units |= dict(zip(units_of(each.part.grid), places, strict=True))
    tables = {
        side: derived_values(instrument, units, {name: _side(each, side) for name, each in parts.items()})
        for side in ("scores", "calibrated", "labels")
    }
    cases = np.array([case for case, _ in units.values()], dtype=object)
    fold = np.array([number for _, number in units.values()], dtype=np.int64)
    how = next(iter(parts.values())).pairs.how
    found = []
    for name in tables["calibrated"]:
        grades = instrument_grades(instrument, name)
        if grades is None:
            continue
        raw, calibrated, labels = (tables[side][name] for side in ("scores", "calibrated", "labels"))
        pairs = OutOfFold(raw, calibrated, labels, cases, fold, np.zeros(len(cases), dtype=bool), how)
        if pairs.n:
            found.append(ComparedScores(rater, name, grades, pairs))
    return found


def parts_behind(instrument: Instrument, name: str) -> list[str]:
    """The graded dimensions that a dimension follows from, itself where it is graded."""
    turned = {each.name: each.of for each in instrument.reversed}
    weights = {each.name: each.weights for each in instrument.composites}
    if name in turned:
        return [turned[name]]
    if name not in weights:
        return [name]
    found = [
        part
        for each, weight in weights[name].items()
        if weight > 0
        for part in parts_behind(instrument, each)
    ]
    return list(dict.fromkeys(found))


def followed_scores(
    instrument: Instrument, calibrations: Iterable[RaterCalibration]
) -> dict[tuple[str, str], dict[Unit, float]]:
    """By rater and dimension, what follows from calibrated parts: the score of every unit that has one."""
    by_rater: dict[str, dict[str, RaterCalibration]] = {}
    for each in calibrations:
        by_rater.setdefault(each.rater, {})[each.dimension] = each
    found: dict[tuple[str, str], dict[Unit, float]] = {}
    for rater, parts in by_rater.items():
        units = list(dict.fromkeys(unit for each in parts.values() for unit in units_of(each.part.grid)))
        sides = {name: _side(each, "calibrated") for name, each in parts.items()}
        for name, values in derived_values(instrument, units, sides).items():
            found[rater, name] = {
                unit: value for unit, value in zip(units, values.tolist(), strict=True) if value == value
            }
    return found


def units_of(grid: Grid) -> list[Unit]:
    """Item and system of every unit."""
    return list(zip(grid.items.tolist(), grid.systems.tolist(), strict=True))


def derived_values(
    instrument: Instrument, units: Iterable[Unit], parts: Mapping[str, tuple[Grid, Floats, Marks]]
) -> dict[str, Floats]:
    """What follows, unit by unit, from each part's values; the marks tell where a part does not apply."""
    place = {unit: number for number, unit in enumerate(dict.fromkeys(units))}
    given = {}
    for name, (grid, values, applies_not) in parts.items():
        scores, skipped = np.full(len(place), np.nan), np.zeros(len(place), dtype=bool)
        told, of = np.flatnonzero(applies_not | ~np.isnan(values)), units_of(grid)
        here = np.array([place[of[row]] for row in told.tolist()], dtype=np.int64)
        scores[here], skipped[here] = np.where(applies_not, np.nan, values)[told], applies_not[told]
        given[name] = scores, skipped
    return {name: scores for name, (scores, _) in derive_columns(instrument, given, len(place)).items()}


def _side(each: RaterCalibration, side: str) -> tuple[Grid, Floats, Marks]:
    part = each.part
    skipped = part.label_not_applicable if side == "labels" else part.not_applicable(each.rater)
    return part.grid, getattr(each.pairs, side), skipped
