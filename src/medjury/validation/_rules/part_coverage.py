"""A jury may score nearly everything and fall silent for one kind of case."""

from __future__ import annotations

import numpy as np

from medjury.statistics import clustered_proportion, counted, percent
from medjury.tables import Measured
from medjury.validation._evidence import Evidence
from medjury.validation._rules.found import RUN_AGAIN, Lines, RuleFound, found
from medjury.validation._rules.parts import FEWEST, names_of, no_parts

LINES = Lines(
    "The jury does not fall silent for one kind of case.",
    "Coverage in each part: upper end of an exact clustered interval, Bonferroni.",
    RUN_AGAIN,
)


def part_coverage(evidence: Evidence, dimension: Measured) -> tuple[RuleFound, ...]:
    parts, unknown = evidence.parts(dimension)
    trial = evidence.trial(dimension)
    name, wanted = "The jury scored every part", evidence.rules.coverage
    asked = f"no part beyond doubt below {percent(wanted)}"
    asked_for = ~np.isnan(trial.said) | trial.unscored
    large = [part for part in parts if trial.cases(asked_for & part.inside) >= FEWEST]
    if unknown or not large:
        return (no_parts(name, asked, unknown, LINES),)
    level = 1 - 2 * (1 - evidence.confidence) / len(large)
    shares, bad = [], []
    for part in large:
        inside = asked_for & part.inside
        scored = ~np.isnan(trial.said[inside])
        shares.append(int(scored.sum()) / len(scored))
        if shares[-1] < wanted:  # else its upper end is no lower
            high = clustered_proportion(scored, trial.grid.clusters[inside], confidence=level).high
            if high is not None and high < wanted:
                bad.append(part)
    lowest = min(range(len(large)), key=shares.__getitem__)
    return (
        found(
            name,
            asked,
            f"{counted(len(large), 'part')}; lowest for {large[lowest].name}: {percent(shares[lowest], 1)}",
            not bad,
            essential=True,
            why=f"The jury left far more answers without a score for {names_of(bad)} than it may.",
            numbers=f"{large[lowest].name}: {percent(shares[lowest], 1)} scored, {percent(wanted)} needed",
            lines=LINES,
        ),
    )
