"""One answer on which raters differ, with all that was said of it since they met."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import select

from medjury.instruments import Outcome
from medjury.panel._design import Said, outcome_from_row
from medjury.panel._meeting._opening import Meeting, meeting_from
from medjury.panel._meeting._tables import (
    confirmations_table,
    decisions_table,
    meeting_items_table,
    meetings_table,
    proposals_table,
)

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Row

State = Literal["open", "proposed", "reconciled", "adjudicator", "adjudicated"]


@dataclass(frozen=True)
class Settled:
    """Grades that somebody entered, with the reasons; `agreed` is False for "we do not agree"."""

    id: int
    version: int
    person: str
    said: Said
    outcomes: Mapping[str, Outcome]
    reason: str
    said_at: str
    agreed: bool = True
    confirmed: frozenset[str] = frozenset()


@dataclass(frozen=True)
class MeetingItem:
    """Its state follows from what was said last; nothing about it is stored twice."""

    id: int
    item: int
    code: str
    participants: Sequence[str]
    dimensions: Sequence[str]
    meeting: Meeting
    proposals: Sequence[Settled] = ()
    decisions: Sequence[Settled] = ()

    @property
    def proposal(self) -> Settled | None:
        return self.proposals[-1] if self.proposals else None

    @property
    def decision(self) -> Settled | None:
        return self.decisions[-1] if self.decisions else None

    @property
    def state(self) -> State:
        last = self.proposal
        if self.decisions:
            return "adjudicated"
        if self.meeting.by == "adjudicator" or (last and not last.agreed):
            return "adjudicator"
        if last and last.confirmed.issuperset(self.participants):
            return "reconciled"
        if not self.meeting.is_open:
            return "adjudicator"
        return "proposed" if last else "open"

    @property
    def settled(self) -> Settled | None:
        """What holds: the adjudicator's last word, or what every participant has confirmed."""
        if self.state == "adjudicated":
            return self.decision
        return self.proposal if self.state == "reconciled" else None

    def letter(self, person: str) -> str:
        return chr(ord("A") + self.participants.index(person))


def meeting_items(connection: Connection, meeting: Meeting) -> list[MeetingItem]:
    """All answers of a meeting, in its random order."""
    return _items(connection, meeting_items_table.c.meeting == meeting.id)


def items_of_person(connection: Connection, person: str) -> list[MeetingItem]:
    """The answers that this person settles with others."""
    found = _items(connection, meetings_table.c.by == "raters")
    return [each for each in found if person in each.participants]


def items_for_adjudicator(connection: Connection) -> list[MeetingItem]:
    found = _items(connection, meeting_items_table.c.id.is_not(None))
    return [each for each in found if each.state in ("adjudicator", "adjudicated")]


def item_by_code(connection: Connection, code: str, *, lock: bool = False) -> MeetingItem | None:
    """The answer of that code. With `lock` nobody else adds to it until the transaction ends."""
    found = select(meeting_items_table.c.id).where(meeting_items_table.c.code == code)
    identity = connection.execute(found.with_for_update() if lock else found).scalar()
    if identity is None:
        return None
    return _items(connection, meeting_items_table.c.id == identity)[0]


def _items(connection: Connection, chosen: Any) -> list[MeetingItem]:
    m, i = meetings_table, meeting_items_table
    rows = connection.execute(
        select(i, m.c.id.label("meeting_id"))
        .join(m, m.c.id == i.c.meeting)
        .where(chosen)
        .order_by(i.c.position)
    ).all()
    known = {row.id: meeting_from(row) for row in connection.execute(select(m))}
    ids = [row.id for row in rows]
    proposals = _proposals(connection, ids)
    decisions = _by_item(connection.execute(_of(decisions_table, ids)))
    return [
        MeetingItem(
            row.id,
            row.item,
            row.code,
            tuple(row.participants),
            tuple(row.dimensions),
            known[row.meeting_id],
            proposals.get(row.id, ()),
            decisions.get(row.id, ()),
        )
        for row in rows
    ]


def _of(table: Any, ids: Sequence[int]) -> Any:
    query = select(table).order_by(table.c.meeting_item, table.c.version)
    return query.where(table.c.meeting_item == ids[0]) if len(ids) == 1 else query


def _by_item(rows: Any) -> dict[int, list[Settled]]:
    found: dict[int, list[Settled]] = {}
    for row in rows:
        found.setdefault(row.meeting_item, []).append(_settled(row))
    return found


def _proposals(connection: Connection, ids: Sequence[int]) -> dict[int, list[Settled]]:
    confirmed: dict[int, set[str]] = {}
    for row in connection.execute(select(confirmations_table)):
        confirmed.setdefault(row.proposal, set()).add(row.person)
    found: dict[int, list[Settled]] = {}
    for row in connection.execute(_of(proposals_table, ids)):
        told = _settled(row, agreed=row.agreed, confirmed=frozenset(confirmed.get(row.id, ())))
        found.setdefault(row.meeting_item, []).append(told)
    return found


def _settled(row: Row[Any], **more: Any) -> Settled:
    outcomes = {name: outcome_from_row(each) for name, each in row.outcomes.items()}
    return Settled(row.id, row.version, row.person, row.said, outcomes, row.reason, row.said_at, **more)
