"""Rules that are chosen after the scores are known prove nothing."""

from __future__ import annotations

from medjury.tables import Measured
from medjury.validation._evidence import Evidence
from medjury.validation._rules.found import Lines, RuleFound, found

LINES = Lines(
    "What counts as good enough was written down before anybody saw a score.",
    "The rules were recorded before the first call and are those that are applied.",
)


def stated_before(evidence: Evidence, dimension: Measured) -> tuple[RuleFound, ...]:
    del dimension  # one study file, one answer
    stated, earlier = evidence.manifest.stated_at, evidence.manifest.earlier_rules
    if not stated:
        said = "not stated: these are the defaults"
        why = (
            "No rules were stated before the run, so the default ones are shown. Rules that are chosen after the "
            "scores are known prove nothing."
        )
    elif earlier:
        said = f"changed after the first run, {stated}"
        why = "The rules were changed after scores had been seen; only rules stated beforehand can validate a jury."
    else:
        said, why = f"recorded {stated}, before the first call", ""
    met = bool(stated) and not earlier
    name = "The rules were stated before the run"
    return (found(name, "in the study file", said, met, essential=False, why=why, lines=LINES),)
