"""One answer on which raters differ, with all that was said of it since they met; and what they agree on in the
end: said alike from the start, settled together, or decided by the adjudicator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import select

from medjury.foundation.errors import MedjuryError
from medjury.instruments import NotApplicable, Outcome, Score, Unscored
from medjury.panel._access import RECONCILED
from medjury.panel._design import Round, Said, outcome_from_row
from medjury.panel._meeting._differences import Meeting, all_the_same, meeting_of, rated_items
from medjury.panel._rating._stored_answers import Collected
from medjury.panel._tables import (
    confirmations_table,
    decisions_table,
    made,
    meeting_items_table,
    meetings_table,
    proposals_table,
)

if TYPE_CHECKING:
    from sqlalchemy import Table
    from sqlalchemy.engine import Connection


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
    known = {row.id: made(Meeting, row) for row in connection.execute(select(m))}
    ids = [row.id for row in rows]
    confirmed: dict[int, set[str]] = {}
    for row in connection.execute(select(confirmations_table)):
        confirmed.setdefault(row.proposal, set()).add(row.person)
    decisions = _by_item(connection, decisions_table, ids)
    proposals = {
        item: [replace(each, confirmed=frozenset(confirmed.get(each.id, ()))) for each in own]
        for item, own in _by_item(connection, proposals_table, ids).items()
    }
    return [
        made(
            MeetingItem,
            row,
            meeting=known[row.meeting_id],
            proposals=proposals.get(row.id, ()),
            decisions=decisions.get(row.id, ()),
        )
        for row in rows
    ]


def _by_item(connection: Connection, table: Table, ids: Sequence[int]) -> dict[int, list[Settled]]:
    """The versions of a table of what was settled, by the answer that they are about."""
    query = select(table).order_by(table.c.meeting_item, table.c.version)
    if len(ids) == 1:
        query = query.where(table.c.meeting_item == ids[0])
    found: dict[int, list[Settled]] = {}
    for row in connection.execute(query):
        outcomes = {name: outcome_from_row(each) for name, each in row.outcomes.items()}
        found.setdefault(row.meeting_item, []).append(made(Settled, row, outcomes=outcomes))
    return found


def reconciled_labels(connection: Connection, round_: Round) -> Iterator[Collected]:
    """What the raters of a round agree on in the end, as the word of one more rater, `reconciled`; it says how it
    came about: agreed from the start, reconciled, or adjudicated. What is not settled has no label: neither what
    is still talked over, nor a difference too small for the study's rule, nor what one rater alone has seen."""
    meeting = meeting_of(connection, round_.id)
    if meeting is None:
        return
    open_ = {each.item: each for each in meeting_items(connection, meeting)}
    for rated in rated_items(connection, round_):
        item = open_.get(rated.id)
        for dimension in rated.round.instrument.dimensions:
            name = dimension.name
            given = [own[name] for own in rated.said.values()]
            if item is not None and name in item.dimensions:
                if (settled := item.settled) is None:
                    continue
                how = "reconciled" if item.state == "reconciled" else "adjudicated"
                reason, at = settled.said[name]["why"], settled.said_at
                outcome = _with_reason(settled.outcomes[name], f"{how}: {reason}" if reason else how)
            elif all_the_same([each.outcome for each in given]):
                last = max(given, key=lambda each: each.given_at)
                outcome, at = _with_reason(last.outcome, "agreed"), last.given_at
            else:
                continue
            drawn = probability_of(given)
            yield Collected(
                rated.item,
                rated.system,
                RECONCILED,
                RECONCILED,
                name,
                outcome,
                probability=drawn,
                given_at=at,
            )


def _with_reason(outcome: Outcome, reason: str) -> Outcome:
    if isinstance(outcome, Unscored):
        return outcome
    return Score(outcome.value, reason) if isinstance(outcome, Score) else NotApplicable(reason)


def probability_of(given: Sequence[Collected]) -> float | None:
    """That of the answer being drawn for review; None where it was to be rated in any case."""
    known = {each.probability for each in given}
    if None in known:
        return None
    if len(known) > 1:
        raise MedjuryError(
            f"{given[0].item}: its raters were given it with different probabilities, so its label has none; "
            "draw each case once, for all its raters"
        )
    return known.pop()
