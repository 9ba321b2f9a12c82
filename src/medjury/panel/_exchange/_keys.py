"""Keys for programs: made by a coordinator, shown once, kept as a hash, valid for a stated time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from fastapi import HTTPException, Request
from sqlalchemy import insert, select, update

from medjury.errors import MedjuryError
from medjury.panel._access import Person, hash_of, new_secret, trail
from medjury.panel._access._tables import api_keys_table, people_table

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from medjury.panel._panel import Panel

DAYS = 90
API_KEY = "api key"  # what such a caller is among the roles


@dataclass(frozen=True)
class KeyState:
    """A key as the coordinator sees it; the key itself is not known any more."""

    id: str
    name: str
    expires_at: str
    used_at: str | None
    ended_at: str | None


def make_key(connection: Connection, name: str, *, by: Person, now: datetime) -> str:
    """A new key. It ends with its coordinator: who is locked out has no key either."""
    shown = " ".join(name.split())[:80]
    if not shown:
        raise MedjuryError("Say what the key is for, for example: nightly check.")
    secret = f"medjury_{new_secret()}"
    connection.execute(
        insert(api_keys_table).values(
            hash=hash_of(secret),
            name=shown,
            person=by.id,
            created_at=now.isoformat(),
            expires_at=(now + timedelta(days=DAYS)).isoformat(),
        )
    )
    trail(connection, by, "made a key", shown, now=now)
    return secret


def keys(connection: Connection) -> list[KeyState]:
    rows = connection.execute(select(api_keys_table).order_by(api_keys_table.c.created_at))
    return [KeyState(row.hash[:16], row.name, row.expires_at, row.used_at, row.ended_at) for row in rows]


def end_key(connection: Connection, identity: str, *, by: Person, now: datetime) -> None:
    """From now on the key opens nothing."""
    table = api_keys_table
    ended = (table.c.hash.startswith(identity, autoescape=True)) & table.c.ended_at.is_(None)
    if (
        len(identity) != 16
        or not connection.execute(update(table).where(ended).values(ended_at=now.isoformat())).rowcount
    ):
        raise MedjuryError("There is no such key.")
    trail(connection, by, "ended a key", identity, now=now)


@dataclass(frozen=True)
class _KeyHolder:
    """Lets a program pass that shows a key in its header; a browser of another site cannot send that header."""

    roles: frozenset[str] = frozenset({API_KEY})
    checks_origin: bool = True

    def __call__(self, request: Request) -> str:
        panel: Panel = request.app.state.panel
        word, _, secret = request.headers.get("authorization", "").partition(" ")
        if word.lower() == "bearer" and secret:
            with panel.database.writing() as connection:
                if (name := _known(connection, secret.strip(), panel.now())) is not None:
                    return name
        raise HTTPException(
            401, "Show a key: Authorization: Bearer KEY", headers={"WWW-Authenticate": "Bearer"}
        )


def _known(connection: Connection, secret: str, now: datetime) -> str | None:
    table = api_keys_table
    query = (
        select(table.c.name, table.c.expires_at)
        .join(people_table, people_table.c.id == table.c.person)
        .where(
            table.c.hash == hash_of(secret), table.c.ended_at.is_(None), people_table.c.disabled_at.is_(None)
        )
    )
    row = connection.execute(query).first()
    if row is None or datetime.fromisoformat(row.expires_at) <= now:
        return None
    connection.execute(update(table).where(table.c.hash == hash_of(secret)).values(used_at=now.isoformat()))
    return str(row.name)


key_holder = _KeyHolder()
