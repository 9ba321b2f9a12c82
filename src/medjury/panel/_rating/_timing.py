"""How long a rater looked at a case, by the server's clock, with idle time removed.

While somebody is at the page it sends a sign of life every few seconds. The time between two signs counts, unless
it is longer than signs lie apart: then nobody was there, or the clock jumped. A page without scripts sends none;
then the time from opening to sending counts, at most the idle limit, and is marked as not measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, insert, select, update

from medjury.panel._design._tables import assignments_table
from medjury.panel._rating._tables import looks_table

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Row

EVERY_SECONDS = 10  # the page's signs of life
_LONGEST_GAP = 2.5 * EVERY_SECONDS

_OF_CASE = looks_table.c.assignment == bindparam("of_case")
_LOOK = select(looks_table).where(_OF_CASE)
_T = assignments_table
_BEGIN = (
    update(_T)
    .where(_T.c.id == bindparam("of_case"), _T.c.opened_at.is_(None))
    .values(opened_at=bindparam("at"))
)
_SAVED = (
    update(looks_table)
    .where(_OF_CASE)
    .values(opened_at=bindparam("at"), last_at=bindparam("at"), seconds=bindparam("so_far"))
)


@dataclass(frozen=True)
class Looked:
    """Seconds at the case so far; `measured` where the page itself told them."""

    seconds: float
    measured: bool


def note_opened(connection: Connection, assignment: int, now: datetime) -> None:
    """The rater opened the case (again); from the first time on it is theirs."""
    row = _row(connection, assignment)
    at = now.isoformat()
    connection.execute(_BEGIN, {"of_case": assignment, "at": at})
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
    return looked_until(_row(connection, assignment), now, idle_seconds)


def looked_until(row: Any, now: datetime, idle_seconds: float) -> Looked | None:
    """The same, from the row of the case."""
    if row is None or row.opened_at is None:
        return None
    if row.beats:
        return Looked(row.seconds + _gap(row.last_at, now), True)
    since = (now - datetime.fromisoformat(row.opened_at)).total_seconds()
    return Looked(row.seconds + min(max(since, 0.0), idle_seconds), False)


def note_saved(connection: Connection, assignment: int, now: datetime, seconds: float) -> None:
    """What was counted up to a save is kept, and counting goes on from there."""
    connection.execute(_SAVED, {"of_case": assignment, "at": now.isoformat(), "so_far": seconds})


def _gap(last: str, now: datetime) -> float:
    seconds = (now - datetime.fromisoformat(last)).total_seconds()
    return seconds if 0 < seconds <= _LONGEST_GAP else 0.0


def _row(connection: Connection, assignment: int) -> Row[Any] | None:
    return connection.execute(_LOOK, {"of_case": assignment}).first()


def _change(connection: Connection, assignment: int, **values: object) -> None:
    connection.execute(update(looks_table).where(looks_table.c.assignment == assignment).values(**values))
