"""A few cases prove little, two visits of one patient are one patient, and cases that served development prove
nothing."""

from __future__ import annotations

import numpy as np

from medjury.statistics import counted
from medjury.tables import Measured
from medjury.validation._evidence import Evidence
from medjury.validation._rules.found import Lines, RuleFound, found

LINES = Lines(
    "Enough cases were looked at that the jury had never seen.",
    "Clusters (patients, else cases) with a score of the rater and of a reference; no development cases.",
    "Have clinicians rate more held-out cases; `medjury plan gate` says how many.",
)


def enough_cases(evidence: Evidence, dimension: Measured) -> tuple[RuleFound, ...]:
    wanted, excluded = evidence.rules.minimum_cases, evidence.table.left_aside
    grid, _, _ = evidence.both(dimension.name)
    items, cases = len(np.unique(grid.items)), len(np.unique(grid.clusters))
    have = "has" if cases == 1 else "have"
    lacking = f"{have} both a clinician's and the jury's score; {wanted:,} are needed."
    if items == cases:
        said = f"{cases:,}"
        why = f"Only {counted(cases, 'held-out case')} {lacking}"
    else:
        said = f"{counted(cases, 'patient')} with {items:,} cases; a patient counts once"
        why = f"Only {counted(cases, 'patient')}, with {counted(items, 'held-out case')}, {lacking}"
    if (weights := evidence.trial(dimension).weights) is not None:
        rated = evidence.trial(dimension).both
        said += f"; as they were drawn, {rated.sum():,} ratings are worth {weights[rated].sum():,.0f}"
    aside = f" ({excluded:,} cases used for development are left out)" if excluded else ""
    scored = "cases with a clinician's and the jury's score"
    asked = f"{wanted:,} {scored}, none used to tune, calibrate or show examples"
    return (
        found(
            "Enough held-out cases",
            asked,
            f"{said}{aside}",
            cases >= wanted,
            essential=True,
            why=why,
            numbers=f"{counted(cases, 'case' if items == cases else 'patient')} now, {wanted:,} needed",
            lines=LINES if evidence.clinicians else LINES.asking(),
        ),
    )
