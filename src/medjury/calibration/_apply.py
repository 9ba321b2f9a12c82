"""Applying saved calibrations to a rating table: new rows beside the old ones, and what became of each
score."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from medjury.calibration._calibrator import Floats
from medjury.calibration._composite import derived_values
from medjury.calibration._cross_fit import OutOfFold
from medjury.calibration._judged import Judged, JudgedDimension, Marks, read_judged
from medjury.calibration._saved import AppliedCalibration, SavedCalibration
from medjury.errors import MedjuryError
from medjury.instruments import Instrument, Reason
from medjury.ratings import Rating
from medjury.tables import clean_rows

SUFFIX = ":calibrated"


@dataclass(frozen=True, slots=True, eq=False)
class CalibratedRatings:
    """One row per judge, unit and dimension, the rater's name ending in `:calibrated`; composites are
    recomputed from calibrated dimensions. `counts` tells, by judge and dimension, where each score came
    from; `unused` lists calibrations whose judge or dimension the table does not have."""

    ratings: tuple[Rating, ...]
    counts: Mapping[tuple[str, str], AppliedCalibration]
    unused: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]


def apply_calibrations(
    ratings: object,
    saved: Sequence[SavedCalibration],
    *,
    instrument: Instrument | None = None,
    created_at: str | None = None,
) -> CalibratedRatings:
    """Calibrate a table with a saved file. A case that taught a calibration gets the map fitted without it.

    Another instrument, or another version of it, is refused; so is a score off the scale. A score on the scale
    but beyond what the fit saw is calibrated, counted and warned of. A jury is formed anew from its judges.
    """
    usable, judged = _usable(ratings, saved, (), instrument)
    _refuse_off_scale(ratings, usable)
    unused = tuple((each.judge, each.dimension) for each in saved if each not in usable)
    parts = {part.dimension: part for part in judged.dimensions}
    when = created_at or datetime.now(UTC).isoformat(timespec="seconds")
    rows: list[Rating] = []
    counts = {}
    values: dict[str, dict[str, tuple[JudgedDimension, Floats, Marks]]] = {}
    for each in usable:
        part = parts[each.dimension]
        applied = each.apply(part.scores_of(each.members), cases=part.cases)
        counts[each.judge, each.dimension] = applied
        skipped = part.not_applicable_to(each.members)
        values.setdefault(each.judge, {})[each.dimension] = (part, applied.scores, skipped)
        rows += _rows(part, each, applied.scores, skipped, when)
    if judged.instrument is not None:
        for judge, known in values.items():
            kind = next(each for each in usable if each.judge == judge)
            rows += _derived_rows(judged.instrument, kind, known, when)
    far = [
        f"{judge}, {dimension}: {each.n_outside} scores lie beyond the range that the calibration was fitted on"
        for (judge, dimension), each in counts.items()
        if each.n_outside
    ]
    return CalibratedRatings(tuple(rows), counts, unused, (*judged.warnings, *far))


def evaluate_calibrations(
    ratings: object,
    saved: Sequence[SavedCalibration],
    *,
    reference: Sequence[str],
    instrument: Instrument | None = None,
) -> dict[tuple[str, str], tuple[tuple[float, ...], OutOfFold]]:
    """What a saved file does on a labelled table, by judge and dimension, ready for `before_after`: how
    well does last year's calibration hold? Cases that taught it are calibrated by the maps fitted without
    them."""
    usable, judged = _usable(ratings, saved, reference, instrument)
    parts = {part.dimension: part for part in judged.dimensions}
    found = {}
    for each in usable:
        part = parts[each.dimension]
        scores = part.scores_of(each.members)
        pairs = OutOfFold(
            scores,
            each.apply(scores, cases=part.cases).scores,
            part.labels,
            part.cases,
            each.fold_numbers(part.cases),
            np.zeros(len(scores), dtype=bool),
            f"{each.final.method}, fitted {each.created_at}",
        )
        found[each.judge, each.dimension] = (part.grades, pairs)
    return found


def _usable(
    ratings: object,
    saved: Sequence[SavedCalibration],
    reference: Sequence[str],
    instrument: Instrument | None,
) -> tuple[list[SavedCalibration], Judged]:
    """The calibrations whose judge and dimension the table has, each checked against its instrument."""
    frame = clean_rows(ratings)
    raters, dimensions = set(frame["rater"].to_list()), set(frame["dimension"].to_list())
    usable = [each for each in saved if set(each.members) <= raters and each.dimension in dimensions]
    if not usable:
        raise MedjuryError(
            "no calibration of the file fits the ratings: it is for the judges "
            f"{', '.join(sorted({each.judge for each in saved}))} on "
            f"{', '.join(sorted({each.dimension for each in saved}))}."
        )
    judged = read_judged(
        ratings,
        reference=reference,
        judges=sorted({member for each in usable for member in each.members}),
        dimensions=sorted({each.dimension for each in usable}),
        scale={each.dimension: each.grades for each in usable},
        instrument=instrument,
    )
    labels = {part.dimension: part.instrument for part in judged.dimensions}
    for each in usable:
        each.check(judge=each.judge, dimension=each.dimension, instrument=labels[each.dimension])
    return usable, judged


def _refuse_off_scale(ratings: object, usable: Sequence[SavedCalibration]) -> None:
    import polars as pl

    frame = clean_rows(ratings)
    for each in usable:
        low, high = each.grades[0], each.grades[-1]
        off = frame.filter(
            (pl.col("dimension") == each.dimension)
            & pl.col("rater").is_in(list(each.members))
            & ~pl.col("score").is_between(low - 1e-9, high + 1e-9)
        )
        if off.height:
            first = off.row(0, named=True)
            raise MedjuryError(
                f"{off.height} scores lie off the scale {low:g} to {high:g} of {each.dimension!r}, first in row "
                f"{first['row']}: {first['rater']} gave {first['score']:g}. Correct them, or leave the score empty "
                "and the status `unscored`."
            )


def _rows(
    part: JudgedDimension, saved: SavedCalibration, scores: Floats, skipped: Marks, when: str
) -> Iterator[Rating]:
    asked = np.any([part.asked[name] for name in saved.members], axis=0)
    for place in np.flatnonzero(asked).tolist():
        yield _rating(
            (str(part.items[place]), str(part.systems[place])),
            saved,
            part.dimension,
            None if np.isnan(scores[place]) else float(scores[place]),
            bool(skipped[place]),
            when,
        )


def _derived_rows(
    instrument: Instrument,
    saved: SavedCalibration,
    known: Mapping[str, tuple[JudgedDimension, Floats, Marks]],
    when: str,
) -> Iterator[Rating]:
    units = dict.fromkeys(
        unit
        for part, _, _ in known.values()
        for unit in zip(part.items.tolist(), part.systems.tolist(), strict=True)
    )
    for name, scores in derived_values(instrument, units, known).items():
        for unit, score in zip(units, scores.tolist(), strict=True):
            if score == score:  # not NaN
                yield _rating(unit, saved, name, score, False, when)


def _rating(
    unit: tuple[str, str],
    saved: SavedCalibration,
    dimension: str,
    score: float | None,
    skipped: bool,
    when: str,
) -> Rating:
    rater = saved.judge + SUFFIX
    key = "\0".join((*unit, rater, dimension, saved.data_sha256))
    missing = score is None and not skipped
    return Rating(
        item=unit[0],
        system=unit[1],
        rater=rater,
        rater_kind="jury" if len(saved.members) > 1 else "judge",
        instrument=saved.instrument,
        dimension=dimension,
        repeat=0,
        score=score,
        status="scored" if score is not None else "not_applicable" if skipped else "unscored",
        reason=Reason.MISSING if missing else None,
        explanation="the judge gave no score to calibrate" if missing else "",
        seconds=0.0,
        tokens_in=0,
        tokens_out=0,
        cost=0.0,
        created_at=when,
        key=hashlib.sha256(key.encode()).hexdigest(),
        calls=0,
    )
