"""How long a rater looked at a case, by the server's clock, with idle time removed.

While somebody is at the page it sends a sign of life every few seconds. The time between two signs counts, unless
it is longer than signs lie apart: then nobody was there, or the clock jumped. A page without scripts sends none;
then the time from opening to sending counts, at most the idle limit, and is marked as not measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select, update

from medjury.panel._rating._tables import looks_table

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Row

EVERY_SECONDS = 10  # the page's signs of life
_LONGEST_GAP = 2.5 * EVERY_SECONDS


@dataclass(frozen=True)
class Looked:
    """Seconds at the case so far; `measured` where the page itself told them."""

    seconds: float
    measured: bool


def note_opened(connection: Connection, assignment: int, now: datetime) -> None:
    """The rater opened the case (again)."""
    row = _row(connection, assignment)
    at = now.isoformat()
    if row is None:
        values = {"opened_at": at, "last_at": at, "seconds": 0.0, "beats": 0}
        connection.execute(insert(looks_table).values(assignment=assignment, **values))
    else:
        _change(connection, assignment, opened_at=at, last_at=at)


def note_sign_of_life(connection: Connection, assignment: int, now: datetime) -> None:
    """The rater is at the page. Two tabs of one case do not count twice: the last sign of either is the last."""
    row = _row(connection, assignment)
    if row is None:
        note_opened(connection, assignment, now)
        row = _row(connection, assignment)
    assert row is not None
    values = {
        "last_at": now.isoformat(),
        "seconds": row.seconds + _gap(row.last_at, now),
        "beats": row.beats + 1,
    }
    _change(connection, assignment, **values)


def looked(connection: Connection, assignment: int, now: datetime, idle_seconds: float) -> Looked | None:
    """The time up to now, for an answer that is being saved; None where the case was never opened."""
    row = _row(connection, assignment)
    if row is None:
        return None
    if row.beats:
        return Looked(row.seconds + _gap(row.last_at, now), True)
    since = (now - datetime.fromisoformat(row.opened_at)).total_seconds()
    return Looked(row.seconds + min(max(since, 0.0), idle_seconds), False)


def note_saved(connection: Connection, assignment: int, now: datetime, seconds: float) -> None:
    """What was counted up to a save is kept, and counting goes on from there."""
    at = now.isoformat()
    _change(connection, assignment, opened_at=at, last_at=at, seconds=seconds)


def _gap(last: str, now: datetime) -> float:
    seconds = (now - datetime.fromisoformat(last)).total_seconds()
    return seconds if 0 < seconds <= _LONGEST_GAP else 0.0


def _row(connection: Connection, assignment: int) -> Row[Any] | None:
    return connection.execute(select(looks_table).where(looks_table.c.assignment == assignment)).first()


def _change(connection: Connection, assignment: int, **values: object) -> None:
    connection.execute(update(looks_table).where(looks_table.c.assignment == assignment).values(**values))
