"""A jury may be right on the whole and useless for one specialty, one group of patients or long notes."""

from __future__ import annotations

import numpy as np

from medjury.statistics import Floats, Replicates, counted, shown
from medjury.tables import Measured
from medjury.validation._beyond_doubt import holm, p_below
from medjury.validation._evidence import Evidence
from medjury.validation._parts import Part
from medjury.validation._rules.found import Lines, RuleFound, found
from medjury.validation._rules.parts import large_parts, names_of, no_parts, too_small
from medjury.validation._trial import Trial
from medjury.validation._words import STATISTICS

# Differences from clinicians that vary more than this many times as much as elsewhere are the jury's fault.
MORE = 1.25
LINES = Lines(
    "The jury is as good for every specialty, group of patients, length of notes and system, from first to last.",
    "Pooled coefficient in each part minus the rest, and minus the floor: one-sided bootstrap z-tests, Holm; fails "
    "only beyond the margin, and not where clinicians' own agreement falls as much (not known: differences vary "
    "no more).",
    "Keep a clinician for the groups of cases that are scored worse, and find out why they are.",
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
    tests = [
        _test(made, place, margin, floor, errs_more=_errs_more(trial, part))
        for place, part in enumerate(parts)
    ]
    adjusted = holm([p for _, below, under in tests for p in (below, under)])
    failed = [
        place
        for place in range(len(parts))
        if min(adjusted[2 * place : 2 * place + 2]) < 1 - evidence.confidence
    ]
    bad = [parts[place] for place in failed]
    worst = min(failed or range(len(parts)), key=lambda place: tests[place][0])
    value, rest = (made.observed[f"jury {worst} {side}"] for side in ("in", "out"))
    title = STATISTICS.get(trial.statistic, trial.statistic)
    said = (
        f"{counted(len(parts), 'part')}; lowest in {parts[worst].name}: {title} {_number(value)}, elsewhere "
    )
    said += _number(rest) + too_small(every, parts)
    return (
        found(
            name,
            asked,
            said,
            not bad,
            essential=True,
            why=f"The jury agrees far less with clinicians for {names_of(bad)} than elsewhere.",
            numbers=f"{parts[worst].name}: {_number(value)}, elsewhere {_number(rest)}",
            lines=LINES,
        ),
    )


def _test(
    made: Replicates, place: int, margin: float, floor: float, *, errs_more: bool
) -> tuple[float, float, float]:
    """The part's agreement less that of the rest; and one-sided p-values that it is not below the rest, and not
    below the floor. They are 1 where that is not the jury's fault, as answers that are much alike leave any
    coefficient little to find: where clinicians' own agreement falls as much, within the margin, or, where that is
    not known, where the jury does not err more than elsewhere."""
    inside, outside = f"jury {place} in", f"jury {place} out"
    apart = made.observed[inside] - made.observed[outside]
    if not np.isfinite(apart):
        return 0.0, 1.0, 1.0
    own, others = (made.observed.get(f"clinicians {place} {side}", np.nan) for side in ("in", "out"))
    falls = apart - min(own - others, 0.0) < -margin if np.isfinite(own - others) else errs_more
    fails = own - made.observed[inside] > margin if np.isfinite(own) else errs_more
    below = p_below(apart, made.resampled[inside] - made.resampled[outside])
    under = p_below(made.observed[inside] - floor, made.resampled[inside] - floor)
    return apart, below if apart < -margin and falls else 1.0, under if fails else 1.0


def _errs_more(trial: Trial, part: Part) -> bool:
    """Whether the jury's differences from the clinicians vary more in the part than in the rest, by a quarter."""
    apart = trial.said - trial.reference
    inside, outside = (
        _variance(apart[here], trial.of(here))
        for here in (trial.compared & flags for flags in (part.inside, part.rest))
    )
    return inside > MORE * outside


def _variance(values: Floats, weights: Floats | None) -> float:
    if weights is None:
        return float(np.var(values))
    return float(np.average((values - np.average(values, weights=weights)) ** 2, weights=weights))


def _number(value: float) -> str:
    return shown(float(value)) if np.isfinite(value) else "not known"
