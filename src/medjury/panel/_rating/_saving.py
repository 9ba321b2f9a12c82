"""Saving an answer: one new version in one transaction, or none and the reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import BindParameter, Select, bindparam, insert, select, update

from medjury.instruments import Outcome
from medjury.panel._design import Round, Said, outcome_row
from medjury.panel._design._tables import assignments_table, rounds_table
from medjury.panel._rating._standing import held
from medjury.panel._rating._tables import answers_table, looks_table
from medjury.panel._rating._timing import looked_until, note_saved

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Row


@dataclass(frozen=True)
class Entry:
    """What a rater sends: the whole form and, where it is to count, what it means. It rests on `version`."""

    version: int
    said: Said
    comment: str
    outcomes: Mapping[str, Outcome] | None = None  # None: a draft

    @property
    def is_submitted(self) -> bool:
        return self.outcomes is not None


@dataclass(frozen=True)
class Saved:
    """The number of the version that now holds what was sent."""

    version: int


@dataclass(frozen=True)
class Stale:
    """Somebody (the rater, in another tab) saved since the form was opened. Nothing was saved now."""

    version: int
    saved_at: str


@dataclass(frozen=True)
class Closed:
    """The round was closed, or the case given to somebody else, since the form was read. Nothing was saved now."""


# Asked at every save, so they are put together once.
_A, _R, _S, _L = assignments_table, rounds_table, answers_table, looks_table
_OF_CASE: BindParameter[int] = bindparam("of_case")
_HOLD: Select[Any] = held(
    select(_R.c.state, _A.c.withdrawn_at).join(_R, _R.c.id == _A.c.round).where(_A.c.id == _OF_CASE)
)
_NEWEST = select(_S).where(_S.c.assignment == _OF_CASE).order_by(_S.c.version.desc()).limit(1)
_NEWEST_SUBMITTED = _NEWEST.where(_S.c.submitted)
_SO_FAR = (
    select(_S.c.version, _S.c.submitted, _S.c.said, _S.c.comment, _S.c.saved_at, _L.c.opened_at, _L.c.last_at,
           _L.c.seconds, _L.c.beats, _A.c.finished_at)
    .select_from(_A.outerjoin(_L, _L.c.assignment == _A.c.id).outerjoin(_S, _S.c.assignment == _A.c.id))
    .where(_A.c.id == _OF_CASE)
    .order_by(_S.c.version.desc())
    .limit(1)
)  # fmt: skip
_ADD = insert(answers_table)
_FINISH = update(_A).where(_A.c.id == _OF_CASE).values(finished_at=bindparam("at"))


def save(
    connection: Connection, assignment: int, round_: Round, entry: Entry, now: datetime
) -> Saved | Stale | Closed:
    """Add a version, where the case is still the rater's and its round still open."""
    found = connection.execute(_HOLD, {"of_case": assignment}).one()
    if found.state != "open" or found.withdrawn_at is not None:
        return Closed()
    return add_version(connection, assignment, round_, entry, now)


def add_version(
    connection: Connection, assignment: int, round_: Round, entry: Entry, now: datetime
) -> Saved | Stale:
    """Add a version of a case that is held. What was sent twice is saved once; what rests on an older version is
    not saved."""
    case = {"of_case": assignment}
    last = connection.execute(_SO_FAR, case).one()
    version = last.version or 0
    if version:
        says_the_same = (last.said, last.comment) == (entry.said, entry.comment)
        if says_the_same and (last.submitted or not entry.is_submitted):
            return Saved(version)  # sent twice, or a draft that says nothing new
        if entry.version != version and not says_the_same:
            return Stale(version, last.saved_at)
    time = looked_until(last, now, round_.idle_seconds)
    outcomes = {name: outcome_row(each) for name, each in (entry.outcomes or {}).items()}
    added = {
        "assignment": assignment,
        "version": version + 1,
        "submitted": entry.is_submitted,
        "said": entry.said,
        "outcomes": outcomes,
        "comment": entry.comment,
        "seconds": None if time is None else time.seconds,
        "measured": time is not None and time.measured,
        "saved_at": now.isoformat(),
    }
    connection.execute(_ADD, added)
    if time is not None:
        note_saved(connection, assignment, now, time.seconds)
    if entry.is_submitted and last.finished_at is None:
        connection.execute(_FINISH, case | {"at": now.isoformat()})
    return Saved(version + 1)


def newest(connection: Connection, assignment: int, *, submitted: bool = False) -> Row[Any] | None:
    """The last version, draft or not; or the last that was submitted."""
    return connection.execute(_NEWEST_SUBMITTED if submitted else _NEWEST, {"of_case": assignment}).first()
