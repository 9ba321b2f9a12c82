"""Triage of a rating table: one dimension, its judges, and what the clinicians said where they did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from medjury.calibration._automatic import AutomaticDecisions, Decide, automatic_decisions
from medjury.calibration._calibrator import Floats
from medjury.calibration._conformal_sets import HeldOutSets, measure_sets
from medjury.calibration._folds import FOLDS
from medjury.calibration._judged import JudgedDimension, read_judged
from medjury.calibration._routine_disagreement import RoutineDisagreement, routine_disagreement
from medjury.calibration._triage import Triage, triage
from medjury.errors import MedjuryError
from medjury.instruments import Instrument
from medjury.tables import clean_rows


@dataclass(frozen=True, slots=True, eq=False)
class TriagedRatings:
    """The order for review and, with a reference, the curves behind it, the conformal set of every unit,
    and the units that may be decided automatically. `reversed` tells that high scores were the dangerous
    ones."""

    part: JudgedDimension
    reference: tuple[str, ...]
    triage: Triage
    sets: HeldOutSets | None
    automatic: AutomaticDecisions | None
    reversed: bool
    warnings: tuple[str, ...]


def triage_ratings(
    ratings: object,
    *,
    dimension: str | None = None,
    reference: Sequence[str] = (),
    judges: Sequence[str] | None = None,
    scale: Sequence[float] | None = None,
    instrument: Instrument | None = None,
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
    seed: int = 0,
    resamples: int = 1000,
) -> TriagedRatings:
    """Rank the units of a rating table for review on one dimension.

    Scores of a dimension on which lower is better (the instrument says so, or `high_is_dangerous`) are read
    the other way round first; `threshold`, `boundary` and `decide_at` are then on the reversed scale, low
    being dangerous. `decide_at` asks which units can be decided automatically at that score.
    """
    judged = read_judged(
        ratings,
        reference=reference,
        judges=judges,
        dimensions=None if dimension is None else [dimension],
        scale=scale,
        instrument=instrument,
    )
    if len(judged.dimensions) > 1:
        known = ", ".join(part.dimension for part in judged.dimensions)
        raise MedjuryError(f"triage is by one dimension; name one of {known}.")
    part = judged.dimensions[0]
    turned = (
        _lower_is_better(judged.instrument, part.dimension)
        if high_is_dangerous is None
        else high_is_dangerous
    )
    if turned:
        part = _turned(part)
    jurors = {name: part.judges[name] for name in part.jurors}
    labels = part.labels if reference else None
    found = triage(
        jurors,
        cases=part.cases,
        grades=part.grades,
        labels=labels,
        threshold=threshold,
        gap=gap,
        boundary=boundary,
        level=level,
        catch=catch,
        folds=folds,
        seed=seed,
        resamples=resamples,
    )
    sets, automatic = None, None
    if found.sets is not None:
        sets = measure_sets(found.sets, part.labels, cases=part.cases, resamples=resamples, seed=seed)
    if decide_at is not None:
        if not reference:
            raise MedjuryError(
                "automatic decisions need a reference: without labels no error can be counted."
            )
        automatic = automatic_decisions(
            part.jury,
            part.labels,
            cases=part.cases,
            scale=part.scale,
            threshold=decide_at,
            error=error,
            decide=decide,
            seed=seed,
            resamples=resamples,
        )
    return TriagedRatings(part, tuple(reference), found, sets, automatic, turned, judged.warnings)


def routine_disagreement_of(
    ratings: object,
    *,
    dimension: str,
    panel_dimension: str,
    reference: Sequence[str],
    judges: Sequence[str] | None = None,
    scale: Sequence[float] | None = None,
    instrument: Instrument | None = None,
    high_is_dangerous: bool | None = None,
    bands: int = 5,
) -> RoutineDisagreement:
    """The panel's disagreement with the routine diagnosis by mean safety, from a rating table.

    Judges scored `dimension` of every system's answer against the routine diagnosis; the reference raters
    wrote 1 (disagree) or 0 (agree) under `panel_dimension`, once per item, for whichever system.
    """
    import polars as pl

    frame = clean_rows(ratings)
    said = frame.filter(
        (pl.col("dimension") == panel_dimension)
        & pl.col("rater").is_in(list(reference))
        & pl.col("score").is_not_null()
    )
    if not said.height:
        raise MedjuryError(f"no rater of {', '.join(reference)} has a score under {panel_dimension!r}.")
    word: dict[str, set[float]] = {}
    for item, score in said.select("item", "score").iter_rows():
        word.setdefault(item, set()).add(score)
    split = sorted(item for item, words in word.items() if len(words) > 1)
    if split:
        raise MedjuryError(
            f"item {split[0]!r}: the panel both agrees and disagrees with the routine diagnosis; "
            "keep its final word."
        )
    judged = read_judged(
        ratings,
        reference=reference,
        judges=judges,
        dimensions=[dimension],
        scale=scale,
        instrument=instrument,
    )
    part = judged.dimensions[0]
    turned = (
        _lower_is_better(judged.instrument, dimension) if high_is_dangerous is None else high_is_dangerous
    )
    if turned:
        part = _turned(part)
    disagrees = np.array([next(iter(word[item])) if item in word else np.nan for item in part.items.tolist()])
    low, high = part.scale
    return routine_disagreement(
        part.jury, disagrees, cases=part.items.tolist(), at=np.linspace(low, high, 41).tolist(), bands=bands
    )


def _lower_is_better(instrument: Instrument | None, dimension: str) -> bool:
    if instrument is None:
        return False
    return any(each.name == dimension and not each.higher_is_better for each in instrument.dimensions)


def _turned(part: JudgedDimension) -> JudgedDimension:
    low, high = part.scale

    def turn(scores: Floats) -> Floats:
        return low + high - scores

    return replace(
        part,
        judges={name: turn(scores) for name, scores in part.judges.items()},
        labels=turn(part.labels),
        grades=tuple(sorted(low + high - grade for grade in part.grades)),
    )
