"""A case that a prompt or its examples were chosen on proves nothing about them, whichever study chose."""

from __future__ import annotations

from medjury.tables import Measured
from medjury.validation._evidence import Evidence
from medjury.validation._rules.found import Lines, RuleFound, found

LINES = Lines(
    "No case that the judge was improved on is used to show how good it is.",
    "Cases that a tuning saw, by the hash of their content, are development cases in every study.",
    "Test on cases that no tuning has seen.",
)


def untouched(evidence: Evidence, dimension: Measured) -> tuple[RuleFound, ...]:
    """Asked of runs whose cases a tuning has seen; they are set aside unless other rules bring them back."""
    del dimension  # one study, one answer
    manifest = evidence.manifest
    if not manifest.touched_cases:
        return ()
    counted = set(evidence.table.rows["item"].unique().to_list()) & {*manifest.touched_cases}
    who = ", ".join(each.what for each in manifest.touched)
    return (
        found(
            "Held-out cases are untouched by tuning",
            "no case that any tuning has seen is counted",
            f"{len(counted):,} of {len(manifest.touched_cases):,} cases that {who} has seen are counted",
            not counted,
            essential=True,
            why=f"{len(counted):,} of the cases were seen by {who}; agreement on them proves nothing.",
            lines=LINES,
        ),
    )
