"""A jury may be fair on the whole and kind to one vendor, or strict with one group of patients."""

from __future__ import annotations

import numpy as np

from medjury.statistics import counted, percent, shown
from medjury.tables import Measured
from medjury.validation._beyond_doubt import holm
from medjury.validation._clustered import clustered_contrast
from medjury.validation._evidence import Evidence
from medjury.validation._rules.found import Lines, RuleFound, found
from medjury.validation._rules.parts import large_parts, names_of, no_parts

LINES = Lines(
    "The jury is not kinder or stricter to one system, specialty or group of patients than to the others.",
    "Mean difference from clinicians in each part minus the rest: two-sided clustered t-tests, Holm; fails only "
    "beyond the offset limit.",
    "Keep a clinician for the groups of cases that are scored worse, and find out why they are.",
)


def part_offset(evidence: Evidence, dimension: Measured) -> tuple[RuleFound, ...]:
    every, unknown = evidence.parts(dimension)
    trial = evidence.trial(dimension)
    parts = large_parts(trial, every)
    name, share = "No part is scored too kindly or too strictly", evidence.rules.offset_limit
    asked = f"no part beyond doubt more than {percent(share, 1)} of the scale above or below the rest"
    if unknown or not parts or trial.span is None:
        return (no_parts(name, asked, unknown, LINES),)
    limit, apart = share * trial.span, np.where(trial.compared, trial.said - trial.reference, 0.0)
    tests = []
    for part in parts:
        groups = np.where(trial.compared & part.inside, 1, np.where(trial.compared & part.rest, 0, 2))
        difference, below = clustered_contrast(apart, groups, trial.grid.clusters, weights=trial.weights)
        tests.append((difference.value or 0.0, 2 * min(below, 1 - below)))
    adjusted = holm([p for _, p in tests])
    widest = max(range(len(parts)), key=lambda place: abs(tests[place][0]))
    bad = [
        part
        for part, (value, _), p in zip(parts, tests, adjusted, strict=True)
        if p < 1 - evidence.confidence and abs(value) > limit
    ]
    return (
        found(
            name,
            asked,
            f"{counted(len(parts), 'part')}; widest for {parts[widest].name}: {shown(tests[widest][0])} beside the "
            f"rest; {limit:g} is allowed",
            not bad,
            essential=True,
            why=f"Beside the clinicians, the jury scores {names_of(bad)} unlike the rest, by more than {limit:g}.",
            numbers=f"{parts[widest].name}: {shown(tests[widest][0])} beside the rest, {limit:g} allowed",
            lines=LINES,
        ),
    )
