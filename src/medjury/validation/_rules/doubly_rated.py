"""How well clinicians agree is known only from cases that two of them rated."""

from __future__ import annotations

import numpy as np

from medjury.tables import Measured
from medjury.validation._evidence import Evidence
from medjury.validation._rules.found import Lines, RuleFound, found

LINES = Lines(
    "Enough cases were rated by two clinicians to know how well clinicians agree.",
    "Clusters with a score of the rater and of two references or more: what non-inferiority rests on.",
    "Have a second clinician rate more of the cases that one has rated.",
)


def doubly_rated(evidence: Evidence, dimension: Measured) -> tuple[RuleFound, ...]:
    trial, wanted = evidence.trial(dimension), evidence.rules.minimum_doubly_rated
    twice = trial.both & (trial.raters > 1)
    cases, items = trial.cases(twice), len(np.unique(trial.grid.items[twice]))
    who = f"{cases:,} cases were" if items == cases else f"{cases:,} patients, with {items:,} cases, were"
    return (
        found(
            "Enough cases rated by two clinicians",
            f"{wanted:,} cases with the jury's score and those of two clinicians",
            f"{cases:,} of {trial.cases(trial.both):,} rated {'cases' if items == cases else 'patients'}",
            cases >= wanted,
            essential=False,
            why=f"Only {who} rated by two clinicians; {wanted:,} are needed to know how well "
            "clinicians agree with one another.",
            numbers=f"{cases:,} rated by two now, {wanted:,} needed",
            lines=LINES if evidence.clinicians else LINES.asking(),
        ),
    )
