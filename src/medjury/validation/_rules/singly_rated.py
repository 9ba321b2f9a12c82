"""What is shown on cases that two clinicians rated must hold on those that one rated."""

from __future__ import annotations

import numpy as np

from medjury.statistics import shown
from medjury.tables import Measured
from medjury.validation._beyond_doubt import below_zero
from medjury.validation._evidence import Evidence
from medjury.validation._rules.found import Lines, RuleFound, does_not_apply, found
from medjury.validation._words import STATISTICS

# With fewer cases on either side nothing can be said of a difference.
FEWEST = 10
LINES = Lines(
    "The jury is as good where one clinician looked as where two did.",
    "Pooled coefficient on singly minus on doubly rated answers; fails if below zero by more than the margin and "
    "by a one-sided bootstrap z-test.",
    "Have a second clinician rate more of the cases that one has rated.",
)


def singly_rated(evidence: Evidence, dimension: Measured) -> tuple[RuleFound, ...]:
    trial, margin = evidence.trial(dimension), evidence.rules.margin
    name = "Agreement is as good on the other cases"
    asked = f"where one clinician rated not more than {margin:g} below where two did, beyond doubt"
    once, twice = trial.both & (trial.raters == 1), trial.both & (trial.raters > 1)
    if not once.any() or not twice.any():
        said = (
            "every case was rated by two clinicians" if twice.any() else "no case was rated by two clinicians"
        )
        return (does_not_apply(name, asked, said, lines=LINES),)
    if min(trial.cases(once), trial.cases(twice)) < FEWEST:
        said = f"fewer than {FEWEST} cases on one side"
        return (does_not_apply(name, asked, said, lines=LINES),)
    made = trial.agreement({"once": once, "twice": twice}, humans=False)
    one, two = made.observed["jury once"], made.observed["jury twice"]
    if not np.isfinite(one - two):
        why = "The jury's agreement on cases that one clinician rated cannot be computed."
        return (found(name, asked, "cannot be compared", None, essential=False, why=why, lines=LINES),)
    apart, p = below_zero(made, "jury once", "jury twice")
    worse = apart < -margin and p < 1 - evidence.confidence
    title = STATISTICS.get(trial.statistic, trial.statistic)
    return (
        found(
            name,
            asked,
            f"{title} {shown(one)} on {int(once.sum()):,} answers that one clinician rated, {shown(two)} on "
            f"{int(twice.sum()):,} that two did",
            not worse,
            essential=True,
            why=f"The jury agrees far less on cases that one clinician rated ({shown(one)}) than on those that two "
            f"did ({shown(two)}): what is shown on the latter does not hold for the others.",
            numbers=f"agreement {shown(one)} where one rated, {shown(two)} where two did",
            lines=LINES,
        ),
    )
