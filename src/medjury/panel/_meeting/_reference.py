"""Panels that write the reference: each member reads alone, then they meet, and at last they score. Everything that
was written of a case is kept as versions of its parts.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument, Outcome
from medjury.panel._access._people import Person, names_of_people
from medjury.panel._design._form import Passage, outcome_from_row, outcome_row, passages_from_row
from medjury.panel._design._rounds import instrument_from_row
from medjury.panel._language import _, language, marked
from medjury.panel._meeting._settling import Overtaken
from medjury.panel._tables import (
    inserted,
    made,
    reference_answers_table,
    reference_cases_table,
    reference_entries_table,
    reference_panels_table,
    reference_stages_table,
    reference_work_table,
)

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Row


FEWEST, MOST = 2, 3


@dataclass(frozen=True)
class ReferencePanel:
    """Members are people's ids, in the random order by which they are called Member A, Member B."""

    id: int
    name: str
    members: tuple[str, ...]
    names: bool


def make_panel(
    connection: Connection,
    name: str,
    members: Sequence[Person],
    *,
    cases: Sequence[str] = (),
    names: bool = False,
    now: datetime,
) -> ReferencePanel:
    """A new panel for these cases, or for all that have none yet."""
    name = " ".join(name.split())
    if not name or len(name) > 80:
        raise MedjuryError("Give the panel a name of at most 80 letters.")
    if connection.execute(
        select(reference_panels_table.c.id).where(reference_panels_table.c.name == name)
    ).first():
        raise MedjuryError(f"There is a panel called {name!r} already. Choose another name.")
    if not FEWEST <= len(members) <= MOST:
        raise MedjuryError(f"A panel has {FEWEST} or {MOST} members; {len(members)} were chosen.")
    chosen = _free_cases(connection, cases)
    chance = secrets.SystemRandom()
    order = chance.sample([each.id for each in members], len(members))
    row = {"name": name, "members": order, "names": names, "made_at": now.isoformat()}
    identity = inserted(connection, reference_panels_table, **row)
    work = [
        {"panel": identity, "case": case, "code": secrets.token_urlsafe(12), "position": chance.random()}
        for case in chosen
    ]
    connection.execute(insert(reference_work_table), work)
    return ReferencePanel(identity, name, tuple(order), names)


def reference_panels(connection: Connection) -> list[ReferencePanel]:
    rows = connection.execute(select(reference_panels_table).order_by(reference_panels_table.c.id))
    return [made(ReferencePanel, row, members=tuple(row.members)) for row in rows]


def cases_without_panel(connection: Connection) -> dict[str, int]:
    """By name, the cases that no panel has yet."""
    c, w = reference_cases_table, reference_work_table
    query = select(c.c.item, c.c.id).outerjoin(w, w.c.case == c.c.id).where(w.c.id.is_(None)).order_by(c.c.id)
    return {row.item: row.id for row in connection.execute(query)}


def _free_cases(connection: Connection, named: Sequence[str]) -> list[int]:
    free = cases_without_panel(connection)
    if not named:
        if not free:
            raise MedjuryError("Every case has a panel already.")
        return list(free.values())
    unknown = [each for each in named if each not in free]
    if unknown:
        raise MedjuryError(f"The case {unknown[0]!r} is not in the study, or another panel has it.")
    return [free[each] for each in dict.fromkeys(named)]


STAGES = {
    "alone": marked("Each reads alone"),
    "together": marked("Write together"),
    "routine": marked("The routine diagnosis"),
    "scoring": marked("Score the answers"),
    "done": marked("Done"),
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
    def shown_instrument(self) -> Instrument:
        """The instrument in the words that the member reads."""
        return self.instrument.in_language(language())

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
    works = [row.id for row in rows]
    began, entries = _stages(connection, works), _entries(connection, works)
    return [
        made(
            CaseWork,
            row,
            panel=panels[row.panel],
            shown=passages_from_row(row.shown),
            kept_instrument=row.instrument,
            answers=answers.get(row.case, []),
            began=began.get(row.id, {}),
            entries=entries.get(row.id, {}),
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
    return made(Entry, row, is_submitted=row.submitted, outcomes=outcomes)


def shown_of_work(connection: Connection, work: CaseWork, person: str) -> dict[str, Any]:
    """The case as this member sees it now: the stage's own form (`said`, resting on `version`), and what may be
    seen by now: who wrote what alone from the meeting on, reference and routine diagnosis once the reference is
    written."""
    stage = work.stage
    met, written = stage != "alone", stage not in ("alone", "together")
    own = {"alone": alone(person), "together": TOGETHER, "routine": ROUTINE}.get(stage, "")
    last = work.last(own) if own else None
    reference, verdict = work.last(TOGETHER, submitted=True), work.last(ROUTINE, submitted=True)
    return {
        "stage": stage,
        "steps": [(_(STAGES[name]), name == stage) for name in work.stages],
        "said": last.said if last else {},
        "version": last.version if last else 0,
        "has_handed_in": work.last(alone(person), submitted=True) is not None,
        "waiting": len(work.waiting_for),
        "others": _written_alone(connection, work, person) if met else [],
        "reference": reference.said if written and reference else None,
        "routine": work.routine if written else None,
        "verdict": verdict.said if written and verdict else None,
    }


def _written_alone(
    connection: Connection, work: CaseWork, person: str
) -> list[tuple[str, Mapping[str, Any]]]:
    known = names_of_people(connection) if work.panel.names else {}
    found = []
    for place, member in enumerate(work.panel.members):
        name = known.get(member, _("Member %(letter)s", letter=chr(ord("A") + place)))
        last = work.last(alone(member), submitted=True)
        found.append(
            (_("%(name)s (you)", name=name) if member == person else name, last.said if last else {})
        )
    return found


def write(
    connection: Connection,
    work: CaseWork,
    person: str,
    part: str,
    version: int,
    said: Mapping[str, Any],
    now: datetime,
    *,
    submitted: bool = True,
    outcomes: Mapping[str, Outcome] | None = None,
) -> None:
    """Add a version. It belongs to a stage: once the next has begun, nothing is added."""
    if part.partition(":")[0].replace("score", "scoring") != work.stage:
        raise Overtaken
    last = work.last(part)
    if last is not None and last.said == said and last.is_submitted == submitted and last.person == person:
        return  # sent twice
    if (last.version if last else 0) != version:
        raise Overtaken
    connection.execute(
        insert(reference_entries_table).values(
            work=work.id,
            part=part,
            version=version + 1,
            person=person,
            submitted=submitted,
            said=dict(said),
            outcomes={name: outcome_row(each) for name, each in (outcomes or {}).items()},
            said_at=now.isoformat(),
        )
    )


def go_on(connection: Connection, work: CaseWork, person: str, now: datetime, *, to: str) -> None:
    """Begin the next stage. From now on the earlier ones are as they are."""
    if work.stage == to:
        return
    if work.stage == "done" or work.following != to:
        raise Overtaken
    row = {"work": work.id, "stage": to, "person": person, "began_at": now.isoformat()}
    connection.execute(insert(reference_stages_table).values(**row))


def begin_meeting(connection: Connection, work: CaseWork, person: str, now: datetime) -> None:
    """A member opens the meeting, once everyone has handed in what they wrote alone."""
    if work.stage == "alone" and work.waiting_for:
        raise MedjuryError(
            _("Somebody is still reading alone. The coordinator can open the meeting earlier.")
        )
    if work.stage == "alone":
        go_on(connection, work, person, now, to="together")
