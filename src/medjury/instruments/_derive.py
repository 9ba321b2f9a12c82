"""What follows from the graded dimensions: reversed dimensions and composite scores, of one answer or of many."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from medjury.instruments._instrument import Composite, Instrument, Reversed
from medjury.instruments._outcome import NotApplicable, Outcome, Reason, Score, Unscored


def derive(instrument: Instrument, outcomes: Mapping[str, Outcome]) -> dict[str, Outcome]:
    """The reversed dimensions and composites, from the outcomes of the graded dimensions alone.

    A composite is the weighted mean of its parts. A part with weight 0 is ignored. A part that is not
    applicable drops out and the other weights are rescaled to sum to one; with no part left, or where the
    composite `needs_every_part`, it is not applicable. A part without a score leaves the composite without
    one: a mean of what happens to be there would compare different things.
    """
    derived: dict[str, Outcome] = {}
    for each in instrument.reversed:
        derived[each.name] = _reverse(instrument, each, outcomes)
    for composite in instrument.composites:
        derived[composite.name] = _combine(composite, {**outcomes, **derived})
    return derived


def _reverse(instrument: Instrument, item: Reversed, outcomes: Mapping[str, Outcome]) -> Outcome:
    outcome = outcomes.get(item.of)
    if isinstance(outcome, Score):
        dimension = instrument.dimension(item.of)
        return Score(dimension.lowest + dimension.highest - outcome.value, outcome.explanation)
    if isinstance(outcome, NotApplicable):
        return outcome
    return Unscored(Reason.MISSING, f"{item.of} has no score")


def _combine(composite: Composite, outcomes: Mapping[str, Outcome]) -> Outcome:
    needed = [(name, weight) for name, weight in composite.weights.items() if weight > 0]
    parts: list[tuple[float, float]] = []
    missing: list[str] = []
    for name, weight in needed:
        each = outcomes.get(name)
        if isinstance(each, Score):
            parts.append((weight, each.value))
        elif not isinstance(each, NotApplicable):
            missing.append(name)
    if missing:
        return Unscored(Reason.MISSING, f"no score for {', '.join(missing)}")
    if not parts or (composite.needs_every_part and len(parts) < len(needed)):
        without = ", ".join(name for name, _ in needed if not isinstance(outcomes.get(name), Score))
        return NotApplicable(f"{without}: not applicable")
    total = sum([weight for weight, _ in parts])
    mean = sum([weight * value for weight, value in parts]) / total
    return Score(round(mean, 12))  # 3.8, not 3.8000000000000003


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
