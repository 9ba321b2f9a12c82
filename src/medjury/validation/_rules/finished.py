"""A run that did not finish has no verdict."""

from __future__ import annotations

from medjury.tables import Measured
from medjury.validation._evidence import Evidence
from medjury.validation._rules.found import Lines, RuleFound, found

LINES = Lines(
    "The work was done to its end.",
    "The manifest's status is complete.",
    "Finish the run: `medjury run STUDY` goes on where it stopped.",
)
NO_RUN = LINES.asking(
    to_know="Let `medjury run` judge the answers, so that it is recorded how the scores came about."
)


def finished(evidence: Evidence, dimension: Measured) -> tuple[RuleFound, ...]:
    del dimension  # one run, one answer
    name, asked = "The run is finished", "complete"
    if evidence.table.manifest is None:
        why = "These ratings come from no run folder, so nobody recorded how the scores came about."
        return (found(name, asked, "no run folder", None, essential=False, why=why, lines=NO_RUN),)
    manifest = evidence.manifest
    said = f"{manifest.status}{': ' + manifest.why if manifest.why else ''}"
    whole = manifest.status == "complete"
    return (
        found(name, asked, said, whole, essential=True, why=f"The run is {said}.", lines=LINES, stops=True),
    )
