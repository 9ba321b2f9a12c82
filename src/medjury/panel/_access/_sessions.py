"""Sessions: a random secret in a cookie, its hash here, with an end that is fixed at the start.

A clock that jumps back would make a session young again. So a session that was seen in what is now the future is
over: the person signs in once more.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import Select, bindparam, delete, insert, select, update

from medjury.panel._access._people import Person, person_of
from medjury.panel._access._secrets import DEVICE_LASTS, hash_of, new_secret
from medjury.panel._tables import devices_table, people_table, read, sessions_table, stored

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

LASTS = timedelta(hours=12)  # one working day
IDLE = timedelta(hours=2)
SEEN_AGAIN = timedelta(minutes=1)  # how exactly we know when somebody was last here
CLOCK_MAY_STEP_BACK = timedelta(minutes=2)

# Asked at every request, so it is put together once.
_FIND: Select[Any] = (
    select(
        people_table.c.id,
        people_table.c.language,
        people_table.c.name,
        people_table.c.role,
        people_table.c.disabled_at,
        sessions_table.c.seen_at,
        sessions_table.c.expires_at,
        sessions_table.c.ended_at,
    )
    .join(people_table, people_table.c.id == sessions_table.c.person)
    .where(sessions_table.c.hash == bindparam("secret"))
)


def start_session(connection: Connection, person: Person, now: datetime) -> str:
    """A new session for somebody who has just proved who they are; returns the secret for the cookie."""
    secret = new_secret()
    connection.execute(
        insert(sessions_table).values(
            hash=hash_of(secret),
            person=person.id,
            created_at=stored(now),
            seen_at=stored(now),
            expires_at=stored(now + LASTS),
        )
    )
    return secret


def find_session(connection: Connection, secret: str, now: datetime) -> tuple[Person, bool] | None:
    """Whose session this is, and whether it is time to note that they were here; None where it is over."""
    found = connection.execute(_FIND, {"secret": hash_of(secret)}).first()
    if found is None or found.ended_at is not None or found.disabled_at is not None:
        return None
    seen, end = read(found.seen_at), read(found.expires_at)
    if now >= end or now - seen >= IDLE or seen - now > CLOCK_MAY_STEP_BACK:
        return None
    return person_of(found), now - seen >= SEEN_AGAIN


def note_seen(connection: Connection, secret: str, now: datetime) -> None:
    """The person is still here."""
    connection.execute(
        update(sessions_table)
        .where(sessions_table.c.hash == hash_of(secret), sessions_table.c.seen_at < stored(now))
        .values(seen_at=stored(now))
    )


def is_known_device(connection: Connection, secret: str | None, person: str, now: datetime) -> bool:
    """True where this person has signed in with this browser, not too long ago."""
    seen = connection.execute(
        select(devices_table.c.seen_at).where(
            devices_table.c.hash == hash_of(secret or ""), devices_table.c.person == person
        )
    ).scalar()
    return seen is not None and now - read(seen) < DEVICE_LASTS


def know_device(connection: Connection, secret: str | None, person: Person, now: datetime) -> str:
    """Know this browser again when the person signs in the next time; returns the secret for its cookie. A secret
    that we did not hand out is not taken."""
    devices = devices_table
    connection.execute(delete(devices).where(devices.c.seen_at < stored(now - DEVICE_LASTS)))
    known = connection.execute(select(devices.c.person).where(devices.c.hash == hash_of(secret or "")))
    secret = secret if known.first() is not None and secret else new_secret()
    row = {"hash": hash_of(secret), "person": person.id}
    connection.execute(delete(devices).filter_by(**row))
    connection.execute(insert(devices).values(**row, seen_at=stored(now)))
    return secret


def end_session(connection: Connection, secret: str, now: datetime) -> None:
    connection.execute(
        update(sessions_table)
        .where(sessions_table.c.hash == hash_of(secret), sessions_table.c.ended_at.is_(None))
        .values(ended_at=stored(now))
    )


def end_sessions(connection: Connection, person: Person, now: datetime) -> int:
    """Sign a person out everywhere, and know none of their browsers again; returns how many sessions were open."""
    connection.execute(delete(devices_table).where(devices_table.c.person == person.id))
    return connection.execute(
        update(sessions_table)
        .where(sessions_table.c.person == person.id, sessions_table.c.ended_at.is_(None))
        .values(ended_at=stored(now))
    ).rowcount
