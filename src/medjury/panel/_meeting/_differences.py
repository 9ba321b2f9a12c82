"""The meeting over a closed round: which answers its raters differ on, by the rule that the study states before
anyone has met, and who sits together over each.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import insert, select, update

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Dimension, Instrument, NotApplicable, Outcome, Score
from medjury.panel._design import Round, set_state
from medjury.panel._rating._stored_answers import Collected, latest_answers
from medjury.panel._tables import (
    inserted,
    items_table,
    made,
    meeting_items_table,
    meetings_table,
    rounds_table,
)

if TYPE_CHECKING:
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
        dangerous = [_is_dangerous(dimension, grade, danger) for grade in grades]
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


def _is_dangerous(dimension: Dimension, grade: float, danger: float) -> bool:
    span = dimension.highest - dimension.lowest
    oriented = grade if dimension.higher_is_better else dimension.lowest + dimension.highest - grade
    return oriented <= dimension.lowest + danger * span


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
