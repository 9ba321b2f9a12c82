"""Calibrating a rating table: every judge on every dimension, the jury, and the composites that follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from medjury.calibration._before_after import Change, before_after
from medjury.calibration._calibrator import Method
from medjury.calibration._composite import derived_scores
from medjury.calibration._cross_fit import CrossFitted, OutOfFold, cross_fit
from medjury.calibration._folds import FOLDS, case_folds
from medjury.calibration._judged import JURY, Judged, JudgedDimension, jury_mean, read_judged
from medjury.errors import MedjuryError
from medjury.instruments import Instrument

JURY_OF_CALIBRATED = "jury_of_calibrated"


@dataclass(frozen=True, slots=True, eq=False)
class JudgeCalibration:
    """One judge (or the jury, whose `members` are the judges) on one dimension, cross-fitted."""

    judge: str
    members: tuple[str, ...]
    part: JudgedDimension
    fitted: CrossFitted


@dataclass(frozen=True, slots=True, eq=False)
class DerivedScores:
    """Scores that follow from calibrated ones: the mean of calibrated judges, reversed dimensions,
    composites."""

    judge: str
    dimension: str
    grades: tuple[float, ...]
    pairs: OutOfFold


@dataclass(frozen=True, slots=True)
class Refusal:
    """A judge and dimension that could not be calibrated, and why."""

    judge: str
    dimension: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationStudy:
    """Everything that was calibrated, what follows from it, what was refused, and what to tell the reader."""

    judged: Judged
    calibrations: tuple[JudgeCalibration, ...]
    derived: tuple[DerivedScores, ...]
    refused: tuple[Refusal, ...]
    warnings: tuple[str, ...]
    method: Method
    folds: int
    seed: int


def calibrate(
    ratings: object,
    *,
    reference: Sequence[str],
    judges: Sequence[str] | None = None,
    dimensions: Sequence[str] | None = None,
    scale: Sequence[float] | None = None,
    instrument: Instrument | None = None,
    method: Method = "isotonic",
    folds: int = FOLDS,
    seed: int = 0,
) -> CalibrationStudy:
    """Cross-fit a calibration for every judge and dimension of a rating table, and for the jury of all
    judges.

    The jury is calibrated in two ways: its mean directly (`jury`), and as the mean of calibrated judges
    (`jury_of_calibrated`), the latter on units that every judge scored: where jurors vary from unit to unit,
    each juror's own map cannot put right what the change of jurors does to the mean.
    """
    if not reference:
        raise MedjuryError("calibration needs a reference: name the clinicians' rater.")
    judged = read_judged(
        ratings, reference=reference, judges=judges, dimensions=dimensions, scale=scale, instrument=instrument
    )
    made: list[JudgeCalibration] = []
    derived: list[DerivedScores] = []
    refused: list[Refusal] = []
    warnings = list(judged.warnings)
    parts = _calibrated_dimensions(judged)
    fold_of = _shared_folds(parts, folds, seed)
    for part in parts:
        here = []
        for judge, members in _judges(part).items():
            try:
                fitted = cross_fit(
                    part.scores_of(members),
                    part.labels,
                    cases=part.cases,
                    scale=part.scale,
                    method=method,
                    folds=folds,
                    seed=seed,
                    fold_of=fold_of,
                    judge=judge,
                )
            except MedjuryError as error:
                refused.append(Refusal(judge, part.dimension, str(error)))
                continue
            here.append(JudgeCalibration(judge, members, part, fitted))
        made += here
        derived += _jury_of_calibrated(part, here, warnings)
    derived += _follow(judged, made)
    if not made:
        reasons = "\n".join(f"  {each.judge}, {each.dimension}: {each.reason}" for each in refused)
        raise MedjuryError(f"nothing could be calibrated:\n{reasons}")
    return CalibrationStudy(
        judged, tuple(made), tuple(derived), tuple(refused), tuple(warnings), method, folds, seed
    )


def change_table(
    study: CalibrationStudy, *, resamples: int = 2000, seed: int = 0, confidence: float = 0.95
) -> dict[tuple[str, str], Mapping[str, Change]]:
    """The before/after table of everything in the study, by (judge, dimension)."""
    table: dict[tuple[str, str], Mapping[str, Change]] = {}
    for each in study.calibrations:
        pairs, grades = each.fitted.out_of_fold, each.part.grades
        table[each.judge, each.part.dimension] = before_after(
            pairs, grades=grades, resamples=resamples, seed=seed, confidence=confidence
        )
    for follow in study.derived:
        table[follow.judge, follow.dimension] = before_after(
            follow.pairs, grades=follow.grades, resamples=resamples, seed=seed, confidence=confidence
        )
    return table


def _calibrated_dimensions(judged: Judged) -> list[JudgedDimension]:
    """What is calibrated itself: not a composite or a reversed dimension whose parts are there, for those are
    recomputed from calibrated parts."""
    instrument = judged.instrument
    if instrument is None:
        return list(judged.dimensions)
    present = {part.dimension for part in judged.dimensions}
    follows = {each.name for each in instrument.reversed if each.of in present}
    for composite in instrument.composites:
        needed = {part for part, weight in composite.weights.items() if weight > 0}
        if needed <= present | follows:
            follows.add(composite.name)
    return [part for part in judged.dimensions if part.dimension not in follows]


def _judges(part: JudgedDimension) -> dict[str, tuple[str, ...]]:
    """Every judge, and the jury of all jurors where the table has none of its own."""
    found: dict[str, tuple[str, ...]] = {name: (name,) for name in part.judges}
    if len(part.jurors) > 1 and len(part.jurors) == len(part.judges) and JURY not in found:
        found[JURY] = part.jurors
    return found


def _shared_folds(parts: Sequence[JudgedDimension], folds: int, seed: int) -> dict[str, int]:
    """One split for all judges and dimensions, so that what follows from several of them is out of fold
    too."""
    labelled = sorted({str(case) for part in parts for case in part.cases[~np.isnan(part.labels)]})
    return dict(zip(labelled, case_folds(labelled, folds=folds, seed=seed).tolist(), strict=True))


def _jury_of_calibrated(
    part: JudgedDimension, calibrations: Sequence[JudgeCalibration], warnings: list[str]
) -> list[DerivedScores]:
    judges = {each.judge: each for each in calibrations if each.judge in part.jurors}
    if len(judges) < 2 or len(judges) < len(part.jurors):
        return []
    complete = ~np.isnan(np.column_stack([part.judges[name] for name in part.jurors])).any(axis=1)
    left_out = int((~complete & ~np.isnan(part.jury)).sum())
    if left_out:
        warnings.append(
            f"dimension {part.dimension!r}: {left_out} units lack the score of a judge; the mean of "
            "calibrated judges leaves them out, the jury's own score keeps them"
        )
    by_judge = {name: each.fitted.out_of_fold for name, each in judges.items()}
    calibrated = jury_mean({name: pairs.calibrated for name, pairs in by_judge.items()})
    first = next(iter(by_judge.values()))
    pairs = OutOfFold(
        np.where(complete, part.jury, np.nan),
        np.where(complete, calibrated, np.nan),
        part.labels,
        part.cases,
        first.fold,
        first.in_sample,
        first.how,
    )
    if not pairs.n:
        return []
    return [DerivedScores(JURY_OF_CALIBRATED, part.dimension, part.grades, pairs)]


def _follow(judged: Judged, calibrations: Sequence[JudgeCalibration]) -> list[DerivedScores]:
    """Reversed dimensions and composites, of every judge and of the jury, before and after."""
    if judged.instrument is None:
        return []
    found = []
    for judge in dict.fromkeys(each.judge for each in calibrations):
        parts = {each.part.dimension: each for each in calibrations if each.judge == judge}
        derived = derived_scores(
            judged.instrument,
            next(iter(parts.values())).members,
            {name: (each.part, each.fitted.out_of_fold) for name, each in parts.items()},
        )
        found += [DerivedScores(judge, name, grades, pairs) for name, (grades, pairs) in derived.items()]
    return found
