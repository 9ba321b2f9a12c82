"""One case in a panel's hands: its stage, and everything that was written about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from medjury.instruments import Instrument, Outcome
from medjury.panel._design import Passage, outcome_from_row
from medjury.panel._design._kept_instrument import instrument_from_row
from medjury.panel._design._shown import passages_from_row
from medjury.panel._meeting._reference._panels import ReferencePanel, reference_panels
from medjury.panel._meeting._tables import (
    reference_answers_table,
    reference_cases_table,
    reference_entries_table,
    reference_stages_table,
    reference_work_table,
)

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Row

STAGES = {
    "alone": "Each reads alone",
    "together": "Write together",
    "routine": "The routine diagnosis",
    "scoring": "Score the answers",
    "done": "Done",
}
TOGETHER, ROUTINE = "together", "routine"


def alone(person: str) -> str:
    """The part that holds what one member wrote alone."""
    return f"alone:{person}"


@dataclass(frozen=True)
class Entry:
    """One version of one part. Nothing of it is ever changed."""

    version: int
    person: str
    is_submitted: bool
    said: Mapping[str, Any]
    outcomes: Mapping[str, Outcome]
    said_at: str


@dataclass(frozen=True)
class AnswerToScore:
    """One answer of a system, which is not named here."""

    id: int
    code: str
    shown: tuple[Passage, ...]

    @property
    def part(self) -> str:
        return f"score:{self.id}"


@dataclass(frozen=True)
class CaseWork:
    """What may be shown to the panel's members. The case is not named here, nor is a system."""

    id: int
    code: str
    panel: ReferencePanel
    shown: tuple[Passage, ...]
    routine: str | None
    kept_instrument: Mapping[str, Any]
    answers: Sequence[AnswerToScore]
    began: Mapping[str, str]  # stage -> when
    entries: Mapping[str, Sequence[Entry]]

    @cached_property
    def instrument(self) -> Instrument:
        return instrument_from_row(self.kept_instrument)

    @property
    def stage(self) -> str:
        return [name for name in STAGES if name == "alone" or name in self.began][-1]

    @property
    def stages(self) -> list[str]:
        """The stages of this case: without a routine diagnosis, or without an answer, one falls away."""
        without = {"routine": self.routine is None, "scoring": not self.answers}
        return [name for name in STAGES if not without.get(name, False)]

    @property
    def following(self) -> str:
        return self.stages[self.stages.index(self.stage) + 1]

    def last(self, part: str, *, submitted: bool = False) -> Entry | None:
        found = [each for each in self.entries.get(part, ()) if each.is_submitted or not submitted]
        return found[-1] if found else None

    @property
    def waiting_for(self) -> list[str]:
        """Members who have not handed in what they wrote alone."""
        return [each for each in self.panel.members if self.last(alone(each), submitted=True) is None]

    @property
    def all_scored(self) -> bool:
        return all(self.last(each.part, submitted=True) for each in self.answers)


def work_by_code(connection: Connection, code: str, *, lock: bool = False) -> CaseWork | None:
    """The case of that code. With `lock` nobody else adds to it until the transaction ends."""
    table = reference_work_table
    query = select(table.c.id).where(table.c.code == code)
    identity = connection.execute(query.with_for_update() if lock else query).scalar()
    return None if identity is None else all_work(connection, table.c.id == identity)[0]


def work_of_person(connection: Connection, person: str) -> list[CaseWork]:
    """The cases of the panels in which this person sits, in a random order."""
    own = [each.id for each in reference_panels(connection) if person in each.members]
    return all_work(connection, reference_work_table.c.panel.in_(own))


def all_work(connection: Connection, chosen: Any) -> list[CaseWork]:
    w, c = reference_work_table, reference_cases_table
    rows = connection.execute(
        select(w, c.c.shown, c.c.routine, c.c.instrument)
        .join(c, c.c.id == w.c.case)
        .where(chosen)
        .order_by(w.c.panel, w.c.position)
    ).all()
    panels = {each.id: each for each in reference_panels(connection)}
    answers = _answers(connection, [row.case for row in rows])
    began, entries = (
        _stages(connection, [row.id for row in rows]),
        _entries(connection, [row.id for row in rows]),
    )
    return [
        CaseWork(
            row.id,
            row.code,
            panels[row.panel],
            passages_from_row(row.shown),
            row.routine,
            row.instrument,
            answers.get(row.case, []),
            began.get(row.id, {}),
            entries.get(row.id, {}),
        )
        for row in rows
    ]


def _answers(connection: Connection, cases: Sequence[int]) -> dict[int, list[AnswerToScore]]:
    table, found = reference_answers_table, dict[int, list[AnswerToScore]]()
    query = select(table).where(table.c.case.in_(cases)).order_by(table.c.case, table.c.position)
    for row in connection.execute(query):
        found.setdefault(row.case, []).append(AnswerToScore(row.id, row.code, passages_from_row(row.shown)))
    return found


def _stages(connection: Connection, works: Sequence[int]) -> dict[int, dict[str, str]]:
    table, found = reference_stages_table, dict[int, dict[str, str]]()
    for row in connection.execute(select(table).where(table.c.work.in_(works))):
        found.setdefault(row.work, {})[row.stage] = row.began_at
    return found


def _entries(connection: Connection, works: Sequence[int]) -> dict[int, dict[str, list[Entry]]]:
    table, found = reference_entries_table, dict[int, dict[str, list[Entry]]]()
    query = select(table).where(table.c.work.in_(works)).order_by(table.c.work, table.c.part, table.c.version)
    for row in connection.execute(query):
        found.setdefault(row.work, {}).setdefault(row.part, []).append(_entry(row))
    return found


def _entry(row: Row[Any]) -> Entry:
    outcomes = {name: outcome_from_row(each) for name, each in row.outcomes.items()}
    return Entry(row.version, row.person, row.submitted, row.said, outcomes, row.said_at)
