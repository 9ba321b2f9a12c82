"""Settling a difference: a proposal that every participant confirms, "we do not agree", or a decision.

Each is a new version and rests on the one that its author has seen. Where another was saved in the meantime nothing
is saved, and the author is shown both.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument, NotApplicable, Score
from medjury.intake.cases import clean_text
from medjury.panel._design._form import (
    CANNOT_JUDGE,
    GRADE,
    NOT_APPLICABLE,
    WHY,
    Question,
    Read,
    Said,
    form_of_instrument,
    outcome_row,
    read_form,
)
from medjury.panel._language import _, decimal
from medjury.panel._meeting._differences import MeetingItem, RatedItem, Settled, all_the_same, item_by_code
from medjury.panel._tables import confirmations_table, decisions_table, inserted, proposals_table

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


LONGEST = 20_000


def typed_text(form: Mapping[str, str], name: str) -> str:
    """A text without what nobody sees; refused where it is too long to be one."""
    text = clean_text(form.get(name, "")).strip()
    if len(text) > LONGEST:
        raise MedjuryError(
            _(
                "The text may have %(most)s letters; it has %(letters)s.",
                most=decimal(LONGEST),
                letters=decimal(len(text)),
            )
        )
    return text


class Overtaken(Exception):  # noqa: N818 - no error: somebody else was quicker, and both are shown
    """Somebody saved since the form was opened. Nothing was saved now."""


def questions_to_settle(instrument: Instrument, item: MeetingItem, rated: RatedItem) -> tuple[Question, ...]:
    """The questions on which raters differ, with a reason; and those that hang on them by a skip rule."""
    asked = {
        name: "optional" if all_the_same(rated.outcomes(name).values()) else "required"
        for name in item.dimensions
    }
    form = form_of_instrument(instrument, asked)
    return tuple(each for each in form if each.name in asked)


def read_settled(
    form: Mapping[str, str], instrument: Instrument, item: MeetingItem, rated: RatedItem
) -> Read:
    """What a form settles. On the other questions all raters said the same, which skip rules need to know."""
    asked = questions_to_settle(instrument, item, rated)
    others = form_of_instrument(instrument, "none")
    whole = tuple({**{each.name: each for each in others}, **{each.name: each for each in asked}}.values())
    typed = {name: text for name, text in form.items() if name.partition(".")[2] in item.dimensions}
    read = read_form({**_said_by_all(instrument, item, rated), **typed}, instrument, whole)
    outcomes = {name: each for name, each in read.outcomes.items() if name in item.dimensions}
    said = {name: each for name, each in read.said.items() if name in item.dimensions}
    problems = {name: each for name, each in read.problems.items() if name in item.dimensions}
    return Read(said, "", outcomes, problems)


def said_before(item: MeetingItem, rated: RatedItem) -> Said:
    """What a form holds at first: the last proposal or, before there is one, what all raters said alike."""
    last = item.proposal
    if last and last.agreed:
        return last.said
    return {
        name: {"grade": _value(next(iter(given.values()))) if all_the_same(given.values()) else "", "why": ""}
        for name in item.dimensions
        if (given := rated.outcomes(name))
    }


def propose(
    connection: Connection, code: str, person: str, version: int, read: Read, now: datetime
) -> MeetingItem:
    """Enter the grades that the participants agreed on; the others then confirm them."""
    item = _open_for(connection, code, person)
    last = item.proposal
    if (
        last
        and last.agreed
        and last.person == person
        and last.said == read.said
        and version + 1 == last.version
    ):
        return item  # sent twice
    _not_overtaken(item.proposal, version)
    identity = inserted(connection, proposals_table, **_row(item, person, version, read, now), agreed=True)
    _confirm(connection, identity, person, now)
    return _again(connection, code)


def confirm(connection: Connection, code: str, person: str, version: int, now: datetime) -> MeetingItem:
    """Say yes to the last proposal, from one's own sign-in."""
    item = _open_for(connection, code, person)
    _not_overtaken(item.proposal, version)
    last = item.proposal
    if last is None or not last.agreed:
        raise MedjuryError(_("There is nothing to confirm yet. Enter the grades that you agreed on."))
    if person not in last.confirmed:
        _confirm(connection, last.id, person, now)
    return _again(connection, code)


def do_not_agree(
    connection: Connection, code: str, person: str, version: int, reason: str, now: datetime
) -> MeetingItem:
    """One participant's word is enough: the answer goes to the adjudicator."""
    item = _open_for(connection, code, person)
    _not_overtaken(item.proposal, version)
    if not reason.strip():
        raise MedjuryError(_("Say in a few words why you do not agree. The adjudicator reads it."))
    row = _row(item, person, version, Read({}, "", {}, {}), now) | {"reason": reason.strip(), "agreed": False}
    connection.execute(insert(proposals_table).values(**row))
    return _again(connection, code)


def decide(
    connection: Connection, code: str, person: str, version: int, read: Read, now: datetime
) -> MeetingItem:
    """The adjudicator's word. A later one is a new version; the earlier stays."""
    item = item_by_code(connection, code, lock=True)
    if item is None or item.state not in ("adjudicator", "adjudicated"):
        raise MedjuryError("This case is not yours to decide: its raters have agreed, or are still talking.")
    last = item.decision
    if last and last.person == person and last.said == read.said and version + 1 == last.version:
        return item
    _not_overtaken(last, version)
    connection.execute(insert(decisions_table).values(**_row(item, person, version, read, now)))
    return _again(connection, code)


def _open_for(connection: Connection, code: str, person: str) -> MeetingItem:
    item = item_by_code(connection, code, lock=True)
    if item is None or person not in item.participants or item.meeting.by != "raters":
        raise LookupError(code)
    if not item.meeting.is_open or item.state == "adjudicated":
        raise MedjuryError(_("This case can no longer be changed: the meeting is over, or it was decided."))
    return item


def _not_overtaken(last: Settled | None, version: int) -> None:
    if (last.version if last else 0) != version:
        raise Overtaken


def _row(item: MeetingItem, person: str, version: int, read: Read, now: datetime) -> dict[str, Any]:
    return {
        "meeting_item": item.id,
        "version": version + 1,
        "person": person,
        "said": read.said,
        "outcomes": {name: outcome_row(each) for name, each in read.outcomes.items()},
        "reason": "",
        "said_at": now.isoformat(),
    }


def _confirm(connection: Connection, proposal: int, person: str, now: datetime) -> None:
    row = {"proposal": proposal, "person": person, "confirmed_at": now.isoformat()}
    connection.execute(insert(confirmations_table).values(**row))


def _again(connection: Connection, code: str) -> MeetingItem:
    item = item_by_code(connection, code)
    assert item is not None
    return item


def _said_by_all(instrument: Instrument, item: MeetingItem, rated: RatedItem) -> dict[str, str]:
    form = {}
    for each in instrument.dimensions:
        if each.name not in item.dimensions:
            form[GRADE + each.name] = _value(next(iter(rated.outcomes(each.name).values())))
            form[WHY + each.name] = "said by all"
    return form


def _value(outcome: object) -> str:
    if isinstance(outcome, Score):
        return f"{outcome.value:g}"
    return NOT_APPLICABLE if isinstance(outcome, NotApplicable) else CANNOT_JUDGE
