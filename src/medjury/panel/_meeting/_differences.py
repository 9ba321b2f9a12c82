"""The meeting over a closed round: which answers its raters differ on, by the rule that the study states before
anyone has met, who sits together over each with all that was said of it since, and what they agree on in the
end."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import insert, select, update

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Dimension, Instrument, NotApplicable, Outcome, Score, Unscored
from medjury.panel._access._people import RECONCILED
from medjury.panel._design._form import Said, outcome_from_row
from medjury.panel._design._rounds import Round, set_state
from medjury.panel._rating._answers import Collected, latest_answers
from medjury.panel._tables import (
    confirmations_table,
    decisions_table,
    inserted,
    items_table,
    made,
    meeting_items_table,
    meetings_table,
    proposals_table,
    rounds_table,
)

if TYPE_CHECKING:
    from sqlalchemy import Table
    from sqlalchemy.engine import Connection


Outcomes = Mapping[str, Outcome]  # by dimension
RULES = {
    "any": "raters gave different answers to a question",
    "more_than_one_grade": "two grades lie more than one step apart",
    "danger": "one rater saw danger and another did not",
}


def differs(dimension: Dimension, outcomes: Collection[Outcome], rule: str, danger: float) -> bool:
    """Whether these raters differ on a dimension. `danger` is where the danger line lies, as a share of the scale
    from its bad end, as the gate has it. A rater who gave no grade differs from one who gave a grade; by the rule
    `danger` only from one who saw danger."""
    said = {_said(each) for each in outcomes}
    if len(said) < 2:
        return False
    if rule == "any":
        return True
    grades = [each.value for each in outcomes if isinstance(each, Score)]
    lacking = len(grades) < len(outcomes)
    if rule == "danger":
        low, high = dimension.lowest, dimension.highest
        oriented = [grade if dimension.higher_is_better else low + high - grade for grade in grades]
        dangerous = [grade <= low + danger * (high - low) for grade in oriented]
        return any(dangerous) and (lacking or not all(dangerous))
    places = [dimension.values.index(int(grade)) for grade in grades]
    return lacking or max(places) - min(places) > 1


def differing(instrument: Instrument, by_rater: Sequence[Outcomes], rule: str, danger: float) -> list[str]:
    """The dimensions on which raters of one answer differ at all, where on one of them they differ by the rule: who
    sits together over an answer settles all of it. What hangs on such a dimension by a skip rule is settled too."""
    found = {}
    for each in instrument.dimensions:
        given = [own[each.name] for own in by_rater]
        found[each.name] = (differs(each, given, "any", danger), differs(each, given, rule, danger))
    if not any(by_rule for _, by_rule in found.values()):
        return []
    open_ = {name for name, (at_all, _) in found.items() if at_all}
    hanging = {each.name for each in instrument.dimensions if each.skip and each.skip.dimension in open_}
    return [each.name for each in instrument.dimensions if each.name in open_ | hanging]


def all_the_same(outcomes: Collection[Outcome]) -> bool:
    """Two raters or more gave the same grade, or all of them "not applicable"."""
    said = {_said(each) for each in outcomes}
    return len(outcomes) > 1 and len(said) == 1 and said != {"can't judge"}


def _said(outcome: Outcome) -> float | str:
    if isinstance(outcome, Score):
        return outcome.value
    return "not applicable" if isinstance(outcome, NotApplicable) else "can't judge"


@dataclass(frozen=True)
class Meeting:
    """What held when the meeting was opened. Differences are settled `by` the raters, or the adjudicator alone."""

    id: int
    round: int
    differ: str
    danger: float
    by: str
    names: bool
    opened_at: str
    closed_at: str | None

    @property
    def is_open(self) -> bool:
        return self.closed_at is None


@dataclass(frozen=True)
class RatedItem:
    """One answer with what each of its raters said of it in the end."""

    id: int
    item: str
    system: str
    said: Mapping[str, Mapping[str, Collected]]  # person -> dimension
    round: Round  # as it asks about this answer

    def outcomes(self, dimension: str) -> dict[str, Outcome]:
        return {person: own[dimension].outcome for person, own in self.said.items()}


def rated_items(connection: Connection, round_: Round, *, only: int | None = None) -> list[RatedItem]:
    """Every answer of the round that somebody has rated; or one of them."""
    table = items_table
    query = select(table.c.id, table.c.item, table.c.system, table.c.instrument).where(
        table.c.round == round_.id
    )
    if only is not None:
        query = query.where(table.c.id == only)
    rows = connection.execute(query.order_by(table.c.id)).all()
    said: dict[tuple[str, str], dict[str, dict[str, Collected]]] = {}
    for each in latest_answers(connection, round_, only=only):
        own = said.setdefault((each.item, each.system), {}).setdefault(each.rater, {})
        own[each.dimension] = each
    found = ((row, said.get((row.item, row.system))) for row in rows)
    return [
        RatedItem(row.id, row.item, row.system, own, round_.of(row.instrument)) for row, own in found if own
    ]


def differences(
    connection: Connection, round_: Round, rule: str, danger: float
) -> list[tuple[RatedItem, list[str]]]:
    """The answers on which two raters or more differ by the rule, each with the dimensions to settle."""
    found = []
    for item in rated_items(connection, round_):
        by_rater = [{name: each.outcome for name, each in own.items()} for own in item.said.values()]
        if len(by_rater) > 1 and (names := differing(item.round.instrument, by_rater, rule, danger)):
            found.append((item, names))
    return found


def open_meeting(connection: Connection, round_: Round, *, danger: float, now: datetime) -> Meeting:
    """List the differences of a closed round. From now on nobody rates in it: what was said alone stays."""
    state = select(rounds_table.c.state).where(rounds_table.c.id == round_.id).with_for_update()
    if connection.execute(state).scalar_one() != "closed" or meeting_of(connection, round_.id):
        raise MedjuryError(
            f"The round {round_.name!r} must be closed before its raters can meet, and meet once."
        )
    set_state(connection, round_, "met")
    stated = round_.settings["meeting"]
    own = {name: stated[name] for name in ("differ", "by", "names")}
    opened = now.isoformat()
    identity = inserted(connection, meetings_table, round=round_.id, danger=danger, opened_at=opened, **own)
    chance = secrets.SystemRandom()
    rows = [
        {
            "meeting": identity,
            "item": item.id,
            "code": secrets.token_urlsafe(12),
            "position": chance.random(),
            "participants": chance.sample(sorted(item.said), len(item.said)),
            "dimensions": names,
        }
        for item, names in differences(connection, round_, stated["differ"], danger)
    ]
    if rows:
        connection.execute(insert(meeting_items_table), rows)
    found = meeting_of(connection, round_.id)
    assert found is not None
    return found


def close_meeting(connection: Connection, meeting: Meeting, now: datetime) -> None:
    """End the raters' part: what they have not settled is the adjudicator's."""
    table = meetings_table
    still_open = (table.c.id == meeting.id) & table.c.closed_at.is_(None)
    connection.execute(update(table).where(still_open).values(closed_at=now.isoformat()))


def meeting_of(connection: Connection, round_id: int) -> Meeting | None:
    """The meeting over a round; None where none was opened."""
    row = connection.execute(select(meetings_table).where(meetings_table.c.round == round_id)).first()
    return made(Meeting, row) if row else None


def meetings(connection: Connection) -> list[Meeting]:
    rows = connection.execute(select(meetings_table).order_by(meetings_table.c.id))
    return [made(Meeting, row) for row in rows]


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
