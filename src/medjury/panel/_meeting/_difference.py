"""What a page shows of one difference: texts, who said what, what was settled. Neither case nor system is named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select

from medjury.instruments import NotApplicable, Outcome, Score, Unscored
from medjury.panel._access import people
from medjury.panel._design import Passage, Question, Round, round_by_id
from medjury.panel._design._shown import passages_from_row
from medjury.panel._design._tables import items_table
from medjury.panel._meeting._items import MeetingItem, Settled
from medjury.panel._meeting._opening import RatedItem, rated_items
from medjury.panel._meeting._settling import questions_to_settle

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


@dataclass(frozen=True)
class Said:
    """One rater's grade in words, and why."""

    who: str
    grade: str
    words: str
    why: str


@dataclass(frozen=True)
class Told:
    """One question with what everybody said."""

    label: str
    said: Sequence[Said]


@dataclass(frozen=True)
class Entered:
    """One version of what was entered together, or decided."""

    who: str
    settled: Settled
    grades: Sequence[Said]
    confirmed: Sequence[str]
    waiting_for: Sequence[str]


@dataclass(frozen=True)
class Difference:
    """Everything that a page may show."""

    item: MeetingItem
    round: Round
    rated: RatedItem
    shown: Sequence[Passage]
    questions: Sequence[Question]
    told: Sequence[Told]
    agreed: Sequence[Told]
    proposals: Sequence[Entered]
    decisions: Sequence[Entered]

    @property
    def texts(self) -> Sequence[Passage]:
        return [each for each in self.shown if not each.is_answer]

    @property
    def answers(self) -> Sequence[Passage]:
        return [each for each in self.shown if each.is_answer]


def difference_of(connection: Connection, item: MeetingItem, reader: str) -> Difference:
    """The difference as this person sees it."""
    round_ = round_by_id(connection, item.meeting.round)
    rated = next(each for each in rated_items(connection, round_, only=item.item))
    row = connection.execute(select(items_table.c.shown).where(items_table.c.id == item.item)).scalar_one()
    who = _names(connection, item, reader)
    told = [_told(round_, rated, each.name, who) for each in round_.instrument.dimensions]
    open_ = [name in item.dimensions for name in (each.name for each in round_.instrument.dimensions)]
    return Difference(
        item,
        round_,
        rated,
        passages_from_row(row),
        questions_to_settle(round_.instrument, item, rated),
        [each for each, is_open in zip(told, open_, strict=True) if is_open],
        [each for each, is_open in zip(told, open_, strict=True) if not is_open],
        [_entered(round_, each, item, who) for each in item.proposals],
        [_entered(round_, each, item, who) for each in item.decisions],
    )


def _names(connection: Connection, item: MeetingItem, reader: str) -> dict[str, str]:
    """Raters are letters, unless the study lets them see names; one's own is marked."""
    known = {each.person.id: each.person.name for each in people(connection)} if item.meeting.names else {}
    named = {each: known.get(each, f"Rater {item.letter(each)}") for each in item.participants}
    return {each: f"{name} (you)" if each == reader else name for each, name in named.items()}


def _told(round_: Round, rated: RatedItem, name: str, who: Mapping[str, str]) -> Told:
    dimension = round_.instrument.dimension(name)
    given = rated.outcomes(name)
    said = [_said(round_, name, given[person], shown) for person, shown in who.items() if person in given]
    return Told(dimension.label or name, said)


def _said(round_: Round, name: str, outcome: Outcome, who: str) -> Said:
    dimension = round_.instrument.dimension(name)
    if isinstance(outcome, Score):
        words = dimension.grades.get(int(outcome.value), "")
        return Said(who, f"{outcome.value:g}", words, outcome.explanation)
    if isinstance(outcome, NotApplicable):
        return Said(who, "not applicable", "", outcome.explanation)
    assert isinstance(outcome, Unscored)
    return Said(who, "can't judge", "", outcome.message)


def _entered(round_: Round, settled: Settled, item: MeetingItem, who: Mapping[str, str]) -> Entered:
    labels = {each.name: each.label or each.name for each in round_.instrument.dimensions}
    grades = [
        _said(round_, name, settled.outcomes[name], labels[name])
        for name in item.dimensions
        if name in settled.outcomes
    ]
    missing = [who[each] for each in item.participants if each not in settled.confirmed]
    confirmed = [who[each] for each in item.participants if each in settled.confirmed]
    return Entered(who.get(settled.person, "The adjudicator"), settled, grades, confirmed, missing)
