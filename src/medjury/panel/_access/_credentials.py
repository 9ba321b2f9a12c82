"""What a person proves themselves with."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import delete, update

from medjury.panel._access._moments import stored
from medjury.panel._access._people import Person
from medjury.panel._access._sessions import end_sessions
from medjury.panel._access._tables import passkeys_table, people_table
from medjury.panel._access._trail import trail
from medjury.panel._access._waiting import forget_failures

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


def joined(connection: Connection, person: Person, how: str, now: datetime) -> None:
    """Somebody used their invitation: whatever opened the account before does so no longer."""
    end_sessions(connection, person, now)
    connection.execute(delete(passkeys_table).where(passkeys_table.c.person == person.id))
    connection.execute(
        update(people_table)
        .where(people_table.c.id == person.id)
        .values(joined_at=stored(now), password=None, subject=None)
    )
    forget_failures(connection, person.name)
    trail(connection, person, "joined", f"with {how}", now=now)


def set_password(connection: Connection, person: Person, hashed: str) -> None:
    connection.execute(update(people_table).where(people_table.c.id == person.id).values(password=hashed))
