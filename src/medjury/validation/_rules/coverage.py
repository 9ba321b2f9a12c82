"""A jury that falls silent on hard answers looks better than it is."""

from __future__ import annotations

from medjury.statistics import percent
from medjury.tables import Measured
from medjury.validation._evidence import Evidence, coverage_of
from medjury.validation._rules.found import RuleFound, found


def coverage(evidence: Evidence, dimension: Measured) -> tuple[RuleFound, ...]:
    share, scored, asked = coverage_of(evidence.grid(dimension.name), evidence.rater)
    wanted = evidence.rules.coverage
    return (
        found(
            "The jury scored what it was asked to",
            f"{percent(wanted)} or more",
            f"{scored:,} of {asked:,} ({percent(share, 1)})",
            None if share is None else share >= wanted,
            essential=True,
            why=f"The jury gave a score to only {percent(share, 1)} of the answers it was asked about.",
        ),
    )
