"""Calibrating a rating table: every judge on every dimension, the jury, and the composites that follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from medjury.analysis.calibration._cross_fit import OutOfFold, cross_fit
from medjury.analysis.calibration._maps import FOLDS, Method, case_folds, check_confidence
from medjury.analysis.calibration._part import (
    Marks,
    Part,
    Unit,
    instrument_grades,
    judging_roles,
    jurors_of,
    parts_of,
    units_of,
)
from medjury.analysis.calibration._study_result import (
    CalibrationStudy,
    ComparedScores,
    RaterCalibration,
    Refusal,
    derived_values,
    side_of,
)
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument
from medjury.tables import Measured, Names, RatingTable, mean_of_raters, rating_table

# Composite scores from calibrated parts: a composite is never calibrated itself where its parts can be.


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
        side: derived_values(instrument, units, {name: side_of(each, side) for name, each in parts.items()})
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


JURY_OF_CALIBRATED = "jury_of_calibrated"


def calibrate(
    table: object,
    *,
    raters: Names | None = None,
    reference: Names | None = None,
    dimensions: Names | None = None,
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
    method: Method = "isotonic",
    folds: int = FOLDS,
    composites: bool = True,
) -> CalibrationStudy:
    """Cross-fit a calibration for every rater and dimension of a rating table, and for the jury.

    The jury is calibrated in two ways: its own score (`jury`), and as the mean of calibrated judges
    (`jury_of_calibrated`), the latter on units that every judge scored: where jurors vary from unit to unit,
    each juror's own map cannot put right what the change of jurors does to the mean. Without `composites`, what
    follows from several calibrated dimensions is left out.
    """
    table = rating_table(table)
    check_confidence(confidence)
    wanted = [raters] if isinstance(raters, str) else list(raters or ())
    # It follows from everybody's calibration and is not a rater of the table, unless its scores are stored there.
    follows = JURY_OF_CALIBRATED in wanted and JURY_OF_CALIBRATED not in table.raters
    roles = judging_roles(table, None if follows else raters, reference)
    chosen, follow = _calibrated_dimensions(table, dimensions)
    parts, unknown = parts_of(table, roles, chosen, named=dimensions is not None)
    seed = table.seed(seed)
    made: list[RaterCalibration] = []
    derived: list[ComparedScores] = []
    refused: list[Refusal] = []
    warnings = [*table.warnings, *unknown, *follow]
    fold_of = _shared_folds(parts, folds, seed)
    for part in parts:
        here = []
        for rater in roles.raters:
            try:
                fitted = cross_fit(
                    part.scores(rater),
                    part.labels,
                    cases=part.cases,
                    scale=part.scale,
                    method=method,
                    folds=folds,
                    seed=seed,
                    fold_of=fold_of,
                    judge=rater,
                )
            except MedjuryError as error:
                refused.append(Refusal(rater, part.dimension, str(error)))
                continue
            members = roles.jurors if roles.jurors and rater == roles.jury else (rater,)
            here.append(RaterCalibration(rater, members, part, fitted))
        made += here
        derived += _jury_of_calibrated(part, here, roles.jury, jurors_of(table, roles), warnings)
    if composites:
        follows_from = _follow(table, made)
        derived += [*follows_from, *_mean_of_calibrated(follows_from, roles.jury, jurors_of(table, roles))]
    if not made:
        reasons = "\n".join(f"  {each.rater}, {each.dimension}: {each.reason}" for each in refused)
        raise MedjuryError(f"nothing could be calibrated:\n{reasons}")
    study = CalibrationStudy(
        tuple(made),
        tuple(derived),
        tuple(refused),
        tuple(warnings),
        roles.reference,
        table.jury_rule,
        confidence,
        table.resamples(resamples),
        seed,
    )
    return _of_those(study, wanted) if follows else study


def _of_those(study: CalibrationStudy, wanted: Sequence[str]) -> CalibrationStudy:
    """What was asked for, of a study of everybody."""
    found = study.only(*wanted)
    known = {each.rater for each in study.compared}
    for name in wanted:
        if name not in known:
            raise MedjuryError(
                f"there is no calibrated {name!r}: it takes a jury of two judges or more, each with its own map"
                if name == JURY_OF_CALIBRATED
                else f"there is no calibrated rater {name!r}; known: {', '.join(sorted(known))}"
            )
    return found


def _calibrated_dimensions(
    table: RatingTable, dimensions: Names | None
) -> tuple[list[Measured], tuple[str, ...]]:
    """What is calibrated itself, and what to tell of the rest: a composite or a reversed dimension whose parts are
    there is recomputed from calibrated parts. Without the instrument that says how, it is left out unless named."""
    chosen, instrument = table.chosen(dimensions), table.instrument
    if instrument is None:
        own = [each for each in chosen if dimensions is not None or not each.derived] or list(chosen)
        left = ", ".join(each.name for each in chosen if each not in own)
        return own, (
            f"left out, as they follow from others: {left}. Name the instrument to have them.",
        ) * bool(left)
    present = {each.name for each in chosen}
    follows = {each.name for each in instrument.reversed if each.of in present}
    for composite in instrument.composites:
        needed = {part for part, weight in composite.weights.items() if weight > 0}
        if needed <= present | follows:
            follows.add(composite.name)
    return [each for each in chosen if each.name not in follows], ()


def _shared_folds(parts: Sequence[Part], folds: int, seed: int) -> dict[str, int]:
    """One split for all judges and dimensions, so that what follows from several of them is out of fold too."""
    labelled = sorted({str(case) for part in parts for case in part.cases[~np.isnan(part.labels)]})
    first: dict[str, str] = {}
    for part in parts:
        for case, item in part.first_items.items():
            first[case] = min(item, first.get(case, item))
    drawn = case_folds([first[case] for case in labelled], folds=folds, seed=seed)
    return dict(zip(labelled, drawn.tolist(), strict=True))


def _jury_of_calibrated(
    part: Part,
    calibrations: Sequence[RaterCalibration],
    jury: str,
    jurors: Sequence[str],
    warnings: list[str],
) -> list[ComparedScores]:
    judges = {each.rater: each.pairs for each in calibrations if each.rater in jurors}
    if not jury or len(judges) < 2 or len(judges) < len(jurors):
        return []
    own = part.scores(jury)
    complete = ~np.isnan(np.column_stack([part.scores(name) for name in jurors])).any(axis=1)
    left_out = int((~complete & ~np.isnan(own)).sum())
    if left_out:
        warnings.append(
            f"dimension {part.dimension!r}: {left_out} units lack the score of a judge; the mean of "
            "calibrated judges leaves them out, the jury's own score keeps them"
        )
    first = next(iter(judges.values()))
    pairs = _mean_of(list(judges.values()), replace(first, scores=own), np.asarray(complete))
    return [ComparedScores(JURY_OF_CALIBRATED, part.dimension, part.grades, pairs)] if pairs.n else []


def _mean_of(judges: Sequence[OutOfFold], own: OutOfFold, complete: Marks) -> OutOfFold:
    """The jury's own scores and, after calibration, the mean of its judges', where these are complete."""
    calibrated = mean_of_raters(np.column_stack([each.calibrated for each in judges]))
    return replace(
        own,
        scores=np.where(complete, own.scores, np.nan),
        calibrated=np.where(complete, calibrated, np.nan),
    )


def _follow(table: RatingTable, calibrations: Sequence[RaterCalibration]) -> list[ComparedScores]:
    """Reversed dimensions and composites, of every judge and of the jury, before and after."""
    if (
        table.instrument is None or table.instrument.by_case
    ):  # points of criteria are no weights of dimensions
        return []
    found = []
    for rater in dict.fromkeys(each.rater for each in calibrations):
        parts = {each.dimension: each for each in calibrations if each.rater == rater}
        found += derived_scores(table.instrument, rater, parts)
    return found


def _mean_of_calibrated(
    found: Sequence[ComparedScores], jury: str, jurors: Sequence[str]
) -> list[ComparedScores]:
    """The mean of the judges' calibrated composites and reversed dimensions, on units that every judge has."""
    by = {(each.rater, each.dimension): each for each in found}
    made = []
    for name in dict.fromkeys(each.dimension for each in found if len(jurors) > 1):
        own, judges = by.get((jury, name)), [by[who, name] for who in jurors if (who, name) in by]
        units = [] if own is None else own.pairs.cases.tolist()
        if (
            own is None
            or len(judges) < len(jurors)
            or any(each.pairs.cases.tolist() != units for each in judges)
        ):
            continue
        complete = ~np.isnan(np.column_stack([each.pairs.scores for each in judges])).any(axis=1)
        pairs = _mean_of([each.pairs for each in judges], own.pairs, np.asarray(complete))
        if pairs.n:
            made.append(ComparedScores(JURY_OF_CALIBRATED, name, own.grades, pairs))
    return made
