"""Composite scores from calibrated parts: a composite is never calibrated itself where its parts can be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from medjury.calibration._calibrator import Floats
from medjury.calibration._cross_fit import OutOfFold
from medjury.calibration._judged import JudgedDimension, Marks, instrument_grades
from medjury.instruments import Instrument, NotApplicable, Outcome, Score, derive

Unit = tuple[str, str]


def derived_scores(
    instrument: Instrument, members: Sequence[str], parts: Mapping[str, tuple[JudgedDimension, OutOfFold]]
) -> dict[str, tuple[tuple[float, ...], OutOfFold]]:
    """Reversed dimensions and composites of one judge, or of a jury of `members`: raw, calibrated and the
    reference's own, by name, with the grades to round to for kappa. A unit that lacks a part of a composite
    has none."""
    units: dict[Unit, tuple[str, int]] = {}
    for part, pairs in parts.values():
        keys = zip(part.items.tolist(), part.systems.tolist(), strict=True)
        units |= dict(zip(keys, zip(part.cases.tolist(), pairs.fold.tolist(), strict=True), strict=True))
    tables = {
        side: derived_values(
            instrument,
            units,
            {name: _side(part, pairs, members, side) for name, (part, pairs) in parts.items()},
        )
        for side in ("scores", "calibrated", "labels")
    }
    cases = np.array([case for case, _ in units.values()], dtype=object)
    fold = np.array([number for _, number in units.values()], dtype=np.int64)
    found = {}
    for name in tables["calibrated"]:
        grades = instrument_grades(instrument, name)
        if grades is None:
            continue
        raw, calibrated, labels = (tables[side][name] for side in ("scores", "calibrated", "labels"))
        pairs = OutOfFold(
            raw,
            calibrated,
            labels,
            cases,
            fold,
            np.zeros(len(cases), dtype=bool),
            next(iter(parts.values()))[1].how,
        )
        if pairs.n:
            found[name] = (grades, pairs)
    return found


def derived_values(
    instrument: Instrument, units: Iterable[Unit], parts: Mapping[str, tuple[JudgedDimension, Floats, Marks]]
) -> dict[str, Floats]:
    """What follows, unit by unit, from each part's values; the marks tell where a part does not apply."""
    outcomes: dict[Unit, dict[str, Outcome]] = {unit: {} for unit in units}
    for name, (part, values, applies_not) in parts.items():
        rows = zip(
            part.items.tolist(), part.systems.tolist(), values.tolist(), applies_not.tolist(), strict=True
        )
        for item, system, value, skipped in rows:
            if skipped:
                outcomes[item, system][name] = NotApplicable()
            elif value == value:  # not NaN
                outcomes[item, system][name] = Score(value)
    names = [*(each.name for each in instrument.reversed), *(each.name for each in instrument.composites)]
    found = {name: np.full(len(outcomes), np.nan) for name in names}
    for place, given in enumerate(outcomes.values()):
        for name, outcome in derive(instrument, given).items():
            if isinstance(outcome, Score):
                found[name][place] = outcome.value
    return found


def _side(
    part: JudgedDimension, pairs: OutOfFold, members: Sequence[str], side: str
) -> tuple[JudgedDimension, Floats, Marks]:
    if side == "labels":
        return part, pairs.labels, part.label_not_applicable
    return part, pairs.scores if side == "scores" else pairs.calibrated, part.not_applicable_to(members)
