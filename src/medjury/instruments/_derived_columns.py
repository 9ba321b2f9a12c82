"""What follows from the graded dimensions, for many answers at once: the rule of `derive`, on columns."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from medjury.instruments._instrument import Composite, Instrument

# Scores of all answers, NaN where there is none, and where the dimension does not apply.
Column = tuple[NDArray[np.float64], NDArray[np.bool_]]


def derive_columns(instrument: Instrument, given: Mapping[str, Column], answers: int) -> dict[str, Column]:
    """Reversed dimensions and composites of every answer, to the last digit what `derive` says of each."""
    nothing = np.full(answers, np.nan), np.zeros(answers, dtype=bool)
    derived: dict[str, Column] = {}
    for each in instrument.reversed:
        scores, skipped = given.get(each.of, nothing)
        dimension = instrument.dimension(each.of)
        derived[each.name] = dimension.lowest + dimension.highest - scores, skipped
    for composite in instrument.composites:
        derived[composite.name] = _combined(composite, {**given, **derived}, nothing)
    return derived


def _combined(composite: Composite, known: Mapping[str, Column], nothing: Column) -> Column:
    """The weighted mean of the parts that apply, of answers that lack no other; and where none applies."""
    total, mean = np.zeros(len(nothing[0])), np.zeros(len(nothing[0]))
    lacks, skips, scored = (np.zeros(len(total), dtype=bool) for _ in range(3))
    for name, weight in composite.weights.items():
        if weight > 0:
            scores, skipped = known.get(name, nothing)
            has = ~np.isnan(scores)
            total += np.where(has, weight, 0.0)
            mean += np.where(has, weight * scores, 0.0)
            lacks, skips, scored = lacks | ~(has | skipped), skips | skipped, scored | has
    without = ~scored | (skips if composite.needs_every_part else False)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(lacks | without, np.nan, mean / total)
    # 3.8, not 3.8000000000000003
    return np.array([round(each, 12) for each in mean.tolist()]), without & ~lacks
