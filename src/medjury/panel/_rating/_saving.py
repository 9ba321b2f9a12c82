"""Saving an answer: one new version in one transaction, or none and the reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, insert, select, update

from medjury.instruments import Outcome
from medjury.panel._design import Round, Said, outcome_row
from medjury.panel._design._tables import assignments_table, rounds_table
from medjury.panel._rating._tables import answers_table
from medjury.panel._rating._timing import looked, note_saved

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


def save(
    connection: Connection, assignment: int, round_: Round, entry: Entry, now: datetime
) -> Saved | Stale | Closed:
    """Add a version. What was sent twice is saved once; what rests on an older version is not saved."""
    # Whoever closes the round waits for this save, or this save sees that it is closed.
    state = select(rounds_table.c.state).where(rounds_table.c.id == round_.id).with_for_update(read=True)
    own = select(assignments_table.c.withdrawn_at).where(assignments_table.c.id == assignment)
    if connection.execute(state).scalar_one() != "open":
        return Closed()
    if connection.execute(own.with_for_update()).scalar_one() is not None:
        return Closed()
    last = newest(connection, assignment)
    version = last.version if last else 0
    if last is not None:
        says_the_same = (last.said, last.comment) == (entry.said, entry.comment)
        if says_the_same and (last.submitted or not entry.is_submitted):
            return Saved(version)  # sent twice, or a draft that says nothing new
        if entry.version != version and not says_the_same:
            return Stale(version, last.saved_at)
    time = looked(connection, assignment, now, round_.idle_seconds)
    outcomes = {name: outcome_row(each) for name, each in (entry.outcomes or {}).items()}
    connection.execute(
        insert(answers_table).values(
            assignment=assignment,
            version=version + 1,
            submitted=entry.is_submitted,
            said=entry.said,
            outcomes=outcomes,
            comment=entry.comment,
            seconds=None if time is None else time.seconds,
            measured=time is not None and time.measured,
            saved_at=now.isoformat(),
        )
    )
    if time is not None:
        note_saved(connection, assignment, now, time.seconds)
    if entry.is_submitted:
        finished = func.coalesce(assignments_table.c.finished_at, now.isoformat())
        connection.execute(
            update(assignments_table).where(assignments_table.c.id == assignment).values(finished_at=finished)
        )
    return Saved(version + 1)


def newest(connection: Connection, assignment: int, *, submitted: bool = False) -> Row[Any] | None:
    """The last version, draft or not; or the last that was submitted."""
    table = answers_table
    query = select(table).where(table.c.assignment == assignment).order_by(table.c.version.desc()).limit(1)
    return connection.execute(query.where(table.c.submitted) if submitted else query).first()
