"""Applying saved calibrations to a rating table: what they make of its scores, and how well they hold there."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from medjury.analysis.calibration._calibrated_ratings import CalibratedRatings, RatingMaker
from medjury.analysis.calibration._jury_of_calibrated import jury_of_calibrated
from medjury.analysis.calibration._maps.calibrator import Floats, check_confidence
from medjury.analysis.calibration._maps.cross_fit import OutOfFold
from medjury.analysis.calibration._part import Marks, Part, instruments_of, part_of
from medjury.analysis.calibration._saved import SavedCalibration
from medjury.analysis.calibration._study import JURY_OF_CALIBRATED
from medjury.analysis.calibration._study_result import CalibrationStudy, ComparedScores
from medjury.foundation.errors import MedjuryError
from medjury.store.ratings import Rating
from medjury.tables import Grades, Grid, Names, RatingTable, add_jury, rating_table


def apply_calibrations(
    table: object,
    saved: Sequence[SavedCalibration],
    *,
    raters: Names | None = None,
    dimensions: Names | None = None,
    created_at: str | None = None,
    with_jury: bool = False,
) -> CalibratedRatings:
    """Calibrate a table with a saved file. A case that taught a calibration gets the map fitted without it.

    Another instrument, or another version of it, is refused. A score on the scale but beyond what the fit saw is
    calibrated, counted and warned of. A jury is formed anew from its judges, by the rule it was fitted with;
    `with_jury` adds the jury of the calibrated jurors, `jury_of_calibrated`, by the table's rule. Cases that served
    development are calibrated like all others: nothing is concluded from them here.
    """
    table = rating_table(table)
    asked = chosen_calibrations(saved, raters, dimensions)
    every, parts = _parts(table, asked, (), everything=True)
    when = created_at or datetime.now(UTC).isoformat(timespec="seconds")
    made: list[Rating] = []
    rows = []
    makers: dict[str, RatingMaker] = {}
    known: dict[str, dict[str, tuple[Grid, Floats, Marks]]] = {}
    for each, part in parts:
        jury = len(each.members) > 1 or table.raters[each.rater] == "jury"
        maker = makers.setdefault(each.rater, RatingMaker(each, "jury" if jury else "judge", when))
        applied = each.apply(part.scores(each.rater), cases=part.cases)
        rows.append(applied)
        values = (part.grid, applied.scores, part.not_applicable(each.rater))
        known.setdefault(each.rater, {})[each.dimension] = values
        made += maker.of_part(part, applied.scores)
    told: list[str] = []
    if with_jury:
        seated, told = jury_of_calibrated(table, parts, known)
        if seated:
            maker = makers[JURY_OF_CALIBRATED] = RatingMaker(
                parts[0][0], "jury", when, JURY_OF_CALIBRATED, "a juror gave no score to calibrate"
            )
        for dimension, (part, scores, asked_units, skipped) in seated.items():
            known.setdefault(JURY_OF_CALIBRATED, {})[dimension] = (part.grid, scores, skipped)
            made += maker.of_units(part, scores, asked_units, skipped)
    if every.instrument is not None:
        for rater, maker in makers.items():
            made += maker.derived(every.instrument, known[rater])
    unused = [each for each in asked if all(each is not one for one, _ in parts)]
    warnings = [f"not in the ratings: {each.rater}, {each.dimension}" for each in unused]
    warnings += [
        f"{row.rater}, {row.dimension}: {row.n_outside} scores lie beyond the range that the calibration was "
        "fitted on"
        for row in rows
        if row.n_outside
    ]
    return CalibratedRatings(
        tuple(made),
        tuple(rows),
        tuple((each.rater, each.dimension) for each in unused),
        (*every.warnings, *warnings, *told),
        table.everything,
    )


def evaluate_calibrations(
    table: object,
    saved: Sequence[SavedCalibration],
    *,
    raters: Names | None = None,
    reference: Names | None = None,
    dimensions: Names | None = None,
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
) -> CalibrationStudy:
    """What a saved file does on a labelled table: how well does last year's calibration hold? Cases that taught it
    are calibrated by the maps fitted without them."""
    table = rating_table(table)
    check_confidence(confidence)
    labels = table.roles(None, reference).reference
    table, parts = _parts(table, chosen_calibrations(saved, raters, dimensions), labels)
    found = []
    for each, part in parts:
        scores = part.scores(each.rater)
        pairs = OutOfFold(
            scores,
            each.apply(scores, cases=part.cases).scores,
            part.labels,
            part.cases,
            each.fold_numbers(part.cases),
            np.zeros(len(scores), dtype=bool),
            f"{each.final.method}, fitted {each.created_at}",
        )
        found.append(ComparedScores(each.rater, each.dimension, part.grades, pairs))
    return CalibrationStudy(
        (),
        tuple(found),
        (),
        table.warnings,
        labels,
        table.jury_rule,
        confidence,
        table.resamples(resamples),
        table.seed(seed),
    )


def chosen_calibrations(
    saved: Sequence[SavedCalibration], raters: Names | None, dimensions: Names | None
) -> list[SavedCalibration]:
    """The calibrations that are asked for."""
    wanted_raters, wanted_dimensions = (
        (names,) if isinstance(names, str) else names for names in (raters, dimensions)
    )
    found = [
        each
        for each in saved
        if (wanted_raters is None or each.rater in wanted_raters)
        and (wanted_dimensions is None or each.dimension in wanted_dimensions)
    ]
    if not found:
        known = ", ".join(f"{each.rater} on {each.dimension}" for each in saved)
        raise MedjuryError(f"the file holds no such calibration; it has {known}")
    return found


def _parts(
    table: RatingTable,
    saved: Sequence[SavedCalibration],
    reference: Sequence[str],
    *,
    everything: bool = False,
) -> tuple[RatingTable, list[tuple[SavedCalibration, Part]]]:
    """The table on the scale of the file, and those calibrations whose judges and dimension it has, each checked
    against its instrument."""
    names = {each.name for each in table.dimensions}
    usable = [each for each in saved if set(each.members) <= set(table.raters) and each.dimension in names]
    if not usable:
        raise MedjuryError(
            "no calibration of the file fits the ratings: it is for the judges "
            f"{', '.join(sorted({each.rater for each in saved}))} on "
            f"{', '.join(sorted({each.dimension for each in saved}))}."
        )
    judges = sorted({member for each in usable for member in each.members})
    labels = instruments_of(table, judges)
    for each in usable:
        each.check(instrument=labels.get(each.dimension, ""))
    table = rating_table(
        table, scale={each.dimension: Grades(each.grades, "calibration file") for each in usable}
    )
    if everything:
        table = table.where(table.everything)
    parts = []
    for each in usable:
        grid = table.grid(each.dimension)
        if len(each.members) > 1:
            grid = add_jury(grid, each.members, each.rule)
        parts.append((each, part_of(table, table.dimension(each.dimension), grid, reference)))
    return table, parts
