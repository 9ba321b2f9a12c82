"""Rules that are chosen after the scores are known prove nothing."""

from __future__ import annotations

from medjury.tables import Measured
from medjury.validation._evidence import Evidence
from medjury.validation._rules.found import Lines, RuleFound, found

LINES = Lines(
    "What counts as good enough was written down before anybody saw a score.",
    "The protocol was registered before the first rating; rules, data, instrument, prompt and jury are as in it.",
    "State the rules before the next run: `medjury register STUDY`.",
    "State the rules before the next run: `medjury register STUDY`.",
)


def stated_before(evidence: Evidence, dimension: Measured) -> tuple[RuleFound, ...]:
    """Rules that were registered in time are met. Unregistered ones forbid VALIDATED; rules that were moved after
    they had been stated forbid AUXILIARY too, as any floor can be met that is chosen last."""
    del dimension  # one study, one answer
    stand = evidence.standing
    return (
        found(
            "The rules were stated before the run",
            "registered before the first rating (`medjury register`), and unchanged",
            stand.said,
            stand.met,
            essential=stand.moved,
            why=stand.why,
            lines=LINES,
        ),
    )
