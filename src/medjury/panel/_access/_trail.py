"""The audit trail: who did what, when. Rows are only added, and each names the hash of the one before it, so that a
row changed, removed or put in later breaks the chain. It names people, rounds and items; no clinical text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlalchemy import desc, insert, select, text

from medjury.errors import MedjuryError
from medjury.panel._access._moments import stored
from medjury.panel._access._people import Person
from medjury.panel._access._tables import trail_table
from medjury.records import dataclass

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

FIRST = "0" * 64


@dataclass(frozen=True)
class TrailEntry:
    """One row. `person` is a person's id, or a word such as "the command line"."""

    number: int
    at: str
    person: str
    what: str
    about: str
    previous: str
    hash: str


def trail(
    connection: Connection, person: Person | str, what: str, about: str = "", *, now: datetime | None = None
) -> None:
    """Add a row, in the caller's transaction: what was done and its trace are there together, or neither."""
    if connection.dialect.name == "postgresql":  # in SQLite the writer's turn is ours already
        connection.execute(text("LOCK TABLE trail IN SHARE ROW EXCLUSIVE MODE"))
    last = connection.execute(
        select(trail_table.c.number, trail_table.c.hash).order_by(desc(trail_table.c.number)).limit(1)
    ).first()
    number, previous = (last.number + 1, last.hash) if last else (1, FIRST)
    at = stored(now or datetime.now(UTC))
    who = person if isinstance(person, str) else person.id
    row = {"number": number, "at": at, "person": who, "what": what, "about": about, "previous": previous}
    connection.execute(insert(trail_table).values(**row, hash=_hash(row)))


def trail_entries(connection: Connection, *, newest: int | None = None) -> Iterator[TrailEntry]:
    """All rows from the first; or only the newest ones, the last first."""
    query = select(trail_table).order_by(trail_table.c.number)
    if newest is not None:
        query = select(trail_table).order_by(desc(trail_table.c.number)).limit(newest)
    for row in connection.execute(query):
        yield TrailEntry(*row)


def check_trail(connection: Connection) -> TrailEntry | None:
    """The last row, where the whole chain holds (None: nothing was done yet); else an error that says where."""
    last: TrailEntry | None = None
    for entry in trail_entries(connection):
        number, previous = (last.number + 1, last.hash) if last else (1, FIRST)
        row = {name: getattr(entry, name) for name in ("number", "at", "person", "what", "about", "previous")}
        if entry.number != number or entry.previous != previous or entry.hash != _hash(row):
            raise MedjuryError(
                f"the audit trail does not hold at row {number}: it was changed, or rows are missing before it. "
                "Compare it with the last backup."
            )
        last = entry
    return last


def about_in_words(entry: TrailEntry, names: Mapping[str, str]) -> str:
    """What the row is about, with a person's name in the place of their id."""
    first, space, rest = entry.about.partition(" ")
    return f"{names.get(first, first)}{space}{rest}"


def _hash(row: dict[str, object]) -> str:
    return hashlib.sha256(json.dumps(row, sort_keys=True, ensure_ascii=True).encode()).hexdigest()
