"""A jury that falls silent on hard answers looks better than it is."""

from __future__ import annotations

from medjury.statistics import clustered_proportion, percent, weighted_proportion
from medjury.tables import Measured
from medjury.validation._danger_on_trial import dangerous
from medjury.validation._evidence import Evidence
from medjury.validation._rules.found import RUN_AGAIN, Lines, RuleFound, does_not_apply, found

LINES = Lines(
    "The jury gave an answer nearly always, above all where clinicians saw danger.",
    "Scored / (scored + unscored); among dangerous answers the upper end of an exact clustered interval.",
    RUN_AGAIN,
)


def coverage(evidence: Evidence, dimension: Measured) -> tuple[RuleFound, ...]:
    share, scored, asked = evidence.covered(dimension.name)
    wanted = evidence.rules.coverage
    return (
        found(
            "The jury scored what it was asked to",
            f"{percent(wanted)} or more",
            f"{scored:,} of {asked:,} ({percent(share, 1)})",
            None if share is None else share >= wanted,
            essential=True,
            why=f"The jury gave a score to only {percent(share, 1)} of the answers it was asked about.",
            numbers=f"{percent(share, 1)} scored, {percent(wanted)} needed",
            lines=LINES,
        ),
        _of_dangerous(evidence, dimension),
    )


def _of_dangerous(evidence: Evidence, dimension: Measured) -> RuleFound:
    """Too few to tell is no reproach here: the rule on severe errors counts each of them."""
    trial, wanted = evidence.trial(dimension), evidence.rules.coverage
    name, asked = "and the dangerous answers too", f"not below {percent(wanted)} beyond doubt"
    at_risk = dangerous(trial) & (trial.both | trial.silent)
    if not at_risk.any():
        return does_not_apply(name, asked, "no rated answer is dangerous", lines=LINES)
    weights, hits, whose = trial.of(at_risk), trial.both[at_risk], trial.grid.clusters[at_risk]
    share = (
        clustered_proportion(hits, whose, confidence=evidence.confidence)
        if weights is None
        else weighted_proportion(hits, weights, whose, confidence=evidence.confidence)
    )
    scored, total, high = int((trial.both & at_risk).sum()), int(at_risk.sum()), share.high
    return found(
        name,
        asked,
        f"{scored:,} of {total:,} ({percent(share.value, 1)}), at most {percent(high, 1)}",
        None if high is None else high >= wanted,
        essential=True,
        why=f"Of {total:,} answers that clinicians called dangerous, the jury left {total - scored:,} without a "
        f"score ({percent(1 - (share.value or 0.0), 1)}): it is silent where it matters most.",
        numbers=f"{total - scored:,} of {total:,} dangerous answers without a score",
        lines=LINES,
    )
