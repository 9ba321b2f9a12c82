"""Only real clinicians can validate a jury, and it takes two to know how well clinicians agree."""

from __future__ import annotations

from medjury.tables import Measured
from medjury.validation._evidence import Evidence
from medjury.validation._rules.found import Lines, RuleFound, found

LINES = Lines(
    "Somebody who treats patients said what the right scores are; as many did as the study asks for.",
    "The reference is the scores of the stated number of human raters; ratings marked illustrative are refused.",
    "Have clinicians rate these cases: `medjury panel serve`.",
)


def clinicians(evidence: Evidence, dimension: Measured) -> tuple[RuleFound, ...]:
    del dimension  # one panel, one answer
    wanted, there = evidence.rules.minimum_clinicians, len(evidence.clinicians)
    humans = evidence.manifest.humans
    made_up = humans is not None and humans.illustrative
    if made_up:
        said, met, essential = f"{there}, but their ratings are illustrative", False, True
        why = (
            "The clinicians' ratings in this study were made up for a demonstration. Made-up ratings can never "
            "validate anything."
        )
    elif not there:
        said, met, essential = "none", False, True
        why = "No clinician has rated these cases, so nobody knows whether the jury agrees with clinicians."
    else:
        said, met, essential = f"{there}", there >= wanted, False
        why = (
            f"Only {there} of {wanted} clinicians rated the cases, so nobody knows how well clinicians agree with "
            "one another."
        )
    asked = f"{wanted} or more, rating as in practice"
    return (
        found(
            "Clinicians rated the cases",
            asked,
            said,
            met,
            essential=essential,
            why=why,
            lines=LINES,
            numbers=f"{0 if essential else there} now{', as made-up ratings do not count' if made_up else ''}, "
            f"{wanted} needed",
        ),
    )
