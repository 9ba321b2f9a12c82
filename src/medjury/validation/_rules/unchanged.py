"""Nobody can vouch for the numbers of a folder that was changed after the run."""

from __future__ import annotations

from medjury.tables import Measured
from medjury.validation._evidence import Evidence
from medjury.validation._rules.found import Lines, RuleFound, found

LINES = Lines(
    "Nobody touched the files afterwards.",
    "SHA-256 of every file of the run folder as in its manifest.",
    "Bring the run folder back from a copy, or run the study again.",
)


def unchanged(evidence: Evidence, dimension: Measured) -> tuple[RuleFound, ...]:
    del dimension  # one folder, one answer
    name, asked = "The run folder is as it was written", "every hash as in the manifest"
    if evidence.table.manifest is None:
        return (found(name, asked, "no run folder", None, essential=False, why="", lines=LINES),)
    changed = [check for check in evidence.checks if not check.sound]
    said = "; ".join(f"{check.what} {check.detail}" for check in changed)
    why = f"The run folder was changed after the run ({said}): nobody can vouch for these numbers."
    said = said or "every file is as the run wrote it"
    return (found(name, asked, said, not changed, essential=True, why=why, lines=LINES),)
