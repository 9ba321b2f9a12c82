"""A jury may be right on the whole and useless for one specialty, one group of patients or long notes."""

from __future__ import annotations

import numpy as np

from medjury.statistics import Replicates, shown
from medjury.tables import Measured
from medjury.validation._beyond_doubt import holm, p_below
from medjury.validation._evidence import Evidence
from medjury.validation._rules.found import Lines, RuleFound, found
from medjury.validation._rules.parts import large_parts, names_of, no_parts
from medjury.validation._words import STATISTICS

LINES = Lines(
    "The jury is as good for every specialty, group of patients, length of notes and system, from first to last.",
    "Pooled coefficient in each part minus the rest, and minus the floor: one-sided bootstrap z-tests, Holm; fails "
    "only beyond the margin, and not where clinicians' own agreement falls as much.",
)


def part_agreement(evidence: Evidence, dimension: Measured) -> tuple[RuleFound, ...]:
    every, unknown = evidence.parts(dimension)
    trial = evidence.trial(dimension)
    parts = large_parts(trial, every)
    name, margin, floor = "Agreement holds in every part", evidence.rules.margin, evidence.rules.floor
    asked = f"no part beyond doubt more than {margin:g} below the rest, or below {floor:g}"
    if unknown or not parts:
        return (no_parts(name, asked, unknown, LINES),)
    chosen = {
        f"{place} {side}": trial.both & flags
        for place, part in enumerate(parts)
        for side, flags in (("in", part.inside), ("out", part.rest))
    }
    made = trial.agreement(chosen)
    tests = [_test(made, place, margin, floor) for place in range(len(parts))]
    adjusted = holm([p for _, below, under in tests for p in (below, under)])
    worst = min(range(len(parts)), key=lambda place: tests[place][0])
    bad = [
        part
        for place, part in enumerate(parts)
        if min(adjusted[2 * place : 2 * place + 2]) < 1 - evidence.confidence
    ]
    value, rest = (made.observed[f"jury {worst} {side}"] for side in ("in", "out"))
    title = STATISTICS.get(trial.statistic, trial.statistic)
    said = f"{len(parts)} parts; lowest in {parts[worst].name}: {title} {_number(value)}, elsewhere {_number(rest)}"
    return (
        found(
            name,
            asked,
            said,
            not bad,
            essential=True,
            why=f"The jury agrees far less with clinicians for {names_of(bad)}, where clinicians agree with one "
            "another as elsewhere.",
            lines=LINES,
        ),
    )


def _test(made: Replicates, place: int, margin: float, floor: float) -> tuple[float, float, float]:
    """The part's agreement less that of the rest; and one-sided p-values that it is not below the rest, and not
    below the floor: 1 where it is no more below than the margin, or clinicians' own agreement falls as much."""
    inside, outside = f"jury {place} in", f"jury {place} out"
    apart = made.observed[inside] - made.observed[outside]
    if not np.isfinite(apart):
        return 0.0, 1.0, 1.0
    own, others = (made.observed.get(f"clinicians {place} {side}", np.nan) for side in ("in", "out"))
    harder = own - others if np.isfinite(own - others) else 0.0
    below = p_below(apart, made.resampled[inside] - made.resampled[outside])
    under = p_below(made.observed[inside] - floor, made.resampled[inside] - floor)
    far = apart < -margin and apart - min(harder, 0.0) < -margin
    hopeless = np.isfinite(own) and own - made.observed[inside] <= margin
    return apart, below if far else 1.0, 1.0 if hopeless else under


def _number(value: float) -> str:
    return shown(float(value)) if np.isfinite(value) else "not known"
