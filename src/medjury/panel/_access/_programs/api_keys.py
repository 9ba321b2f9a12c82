"""API keys: for programs, made and withdrawn by a coordinator. A key is shown once; its hash is kept."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from sqlalchemy import insert, select, update

from medjury.panel._access._moments import read, stored
from medjury.panel._access._people import Person, clean_name, person_of
from medjury.panel._access._secrets import hash_of, new_id, new_secret
from medjury.panel._access._tables import api_keys_table, people_table

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

LASTS = timedelta(days=365)
_NOTED_AGAIN = timedelta(minutes=5)


@dataclass(frozen=True)
class ApiKey:
    """A key as the coordinator sees it."""

    id: str
    name: str
    created_at: str
    expires_at: str
    used_at: str | None
    is_open: bool


def make_api_key(connection: Connection, person: Person, name: str, now: datetime) -> str:
    """A new key that acts for this coordinator."""
    secret = f"medjury_{new_secret()}"
    connection.execute(
        insert(api_keys_table).values(
            id=new_id(),
            hash=hash_of(secret),
            name=clean_name(name),
            person=person.id,
            created_at=stored(now),
            expires_at=stored(now + LASTS),
        )
    )
    return secret


def api_keys(connection: Connection, now: datetime) -> list[ApiKey]:
    rows = connection.execute(select(api_keys_table).order_by(api_keys_table.c.created_at))
    return [
        ApiKey(row.id, row.name, row.created_at, row.expires_at, row.used_at,
               row.ended_at is None and now < read(row.expires_at))
        for row in rows
    ]  # fmt: skip


def withdraw_api_key(connection: Connection, identity: str, now: datetime) -> bool:
    """True where there was such a key and it still worked."""
    found = connection.execute(
        update(api_keys_table)
        .where(api_keys_table.c.id == identity, api_keys_table.c.ended_at.is_(None))
        .values(ended_at=stored(now))
    )
    return found.rowcount == 1


def find_api_key(connection: Connection, secret: str, now: datetime) -> tuple[Person, bool] | None:
    """For whom this key acts, and whether its use should be noted; None where it does not work."""
    row = connection.execute(
        select(people_table, api_keys_table.c.expires_at, api_keys_table.c.used_at)
        .join(api_keys_table, api_keys_table.c.person == people_table.c.id)
        .where(
            api_keys_table.c.hash == hash_of(secret),
            api_keys_table.c.ended_at.is_(None),
            people_table.c.disabled_at.is_(None),
        )
    ).first()
    if row is None or now >= read(row.expires_at):
        return None
    return person_of(row), row.used_at is None or abs(now - read(row.used_at)) > _NOTED_AGAIN


def note_key_used(connection: Connection, secret: str, now: datetime) -> None:
    connection.execute(
        update(api_keys_table).where(api_keys_table.c.hash == hash_of(secret)).values(used_at=stored(now))
    )
