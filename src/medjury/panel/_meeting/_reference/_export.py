"""What panels wrote, for everybody after them: references as a file of cases, labels, and the panels' scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from medjury.instruments import Outcome
from medjury.intake.cases import Case, CaseSource, write_cases
from medjury.panel._meeting._reference._work import ROUTINE, TOGETHER, CaseWork, all_work
from medjury.panel._meeting._tables import (
    reference_answers_table,
    reference_cases_table,
    reference_work_table,
)

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

FIELDS = {
    "primary": "Primary diagnosis",
    "secondary": "Secondary diagnoses",
    "differential": "Differential diagnosis",
    "reasoning": "Reasoning",
}


@dataclass(frozen=True)
class PanelReference:
    """What a panel wrote together on a case. `routine_is_wrong` is None where nothing was said of it."""

    item: str
    panel: str
    members: tuple[str, ...]
    fields: dict[str, str]
    routine_is_wrong: bool | None
    routine_reason: str
    written_at: str

    @property
    def text(self) -> str:
        """The reference as one text."""
        return "\n".join(f"{label}: {said}" for name, label in FIELDS.items() if (said := self.fields[name]))


@dataclass(frozen=True)
class PanelScore:
    """The panel's one word on one dimension of one answer: a panel agrees and is one rater."""

    item: str
    system: str
    panel: str
    members: tuple[str, ...]
    dimension: str
    outcome: Outcome
    probability: float | None
    comment: str
    saved_at: str
    version: int
    fingerprint: str


def panel_references(connection: Connection) -> Iterator[PanelReference]:
    """The references that can no longer change: their panel has gone on to the next stage."""
    for item, work in _by_item(connection):
        written = work.last(TOGETHER, submitted=True)
        if work.stage in ("alone", "together") or written is None:
            continue
        verdict = work.last(ROUTINE, submitted=True)
        agrees = None if verdict is None else verdict.said["agrees"] == "yes"
        yield PanelReference(
            item,
            work.panel.name,
            work.panel.members,
            {name: str(written.said.get(name, "")) for name in FIELDS},
            None if agrees is None else not agrees,
            "" if verdict is None else str(verdict.said["why"]),
            written.said_at,
        )


def panel_scores(connection: Connection) -> Iterator[PanelScore]:
    """The scores of the cases with which panels have done."""
    answers = {row.id: row for row in connection.execute(select(reference_answers_table))}
    for item, work in _by_item(connection):
        if work.stage != "done":
            continue
        for each in work.answers:
            entry, row = work.last(each.part, submitted=True), answers[each.id]
            assert entry is not None  # a case is not done before all are scored
            for name, outcome in entry.outcomes.items():
                yield PanelScore(
                    item,
                    row.system,
                    work.panel.name,
                    work.panel.members,
                    name,
                    outcome,
                    row.probability,
                    str(entry.said.get("comment", "")),
                    entry.said_at,
                    entry.version,
                    row.fingerprint,
                )


def write_references(connection: Connection, cases: CaseSource, file: str | Path) -> tuple[int, int]:
    """Write the study's cases with the panels' references in place of their own. Says how many cases (by id) have
    one, and how many have none yet; those are left out."""
    found = {each.item: each for each in panel_references(connection)}
    every: set[str] = set()

    def referenced() -> Iterator[Case]:
        for case in cases:
            every.add(case.id)
            if case.id in found:
                yield _with_reference(case, found[case.id])

    write_cases(referenced(), file)
    written = len(every & found.keys())
    return written, len(every) - written


def _with_reference(case: Case, reference: PanelReference) -> Case:
    texts = {f"panel_{name}": said for name, said in reference.fields.items() if said}
    metadata: dict[str, Any] = {**case.metadata, "reference_panel": reference.panel}
    if reference.routine_is_wrong is not None:
        metadata["routine_is_wrong"] = int(reference.routine_is_wrong)
    return replace(case, reference=reference.text, texts={**case.texts, **texts}, metadata=metadata)


def case_names(connection: Connection) -> dict[int, str]:
    """By the work on it, the name of each case: for coordinators and files, never for members."""
    w, c = reference_work_table, reference_cases_table
    rows = connection.execute(select(w.c.id, c.c.item).join(c, c.c.id == w.c.case))
    return {row.id: row.item for row in rows}


def _by_item(connection: Connection) -> Iterator[tuple[str, CaseWork]]:
    names = case_names(connection)
    for work in all_work(connection, reference_work_table.c.id.is_not(None)):
        yield names[work.id], work
