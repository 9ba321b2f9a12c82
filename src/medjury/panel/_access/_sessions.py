"""Secrets that browsers carry: random, in cookies that no script reads, and kept here only as a hash; and
sessions, with an end that is fixed at the start.

A clock that jumps back would make a session young again. So a session that was seen in what is now the future is
over: the person signs in once more."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import Select, bindparam, delete, insert, select, update

from medjury.panel._access._people import Person, person_of
from medjury.panel._tables import challenges_table, devices_table, people_table, read, sessions_table, stored

if TYPE_CHECKING:
    from fastapi import Request
    from sqlalchemy import ColumnElement, Table
    from sqlalchemy.engine import Connection, Row
    from starlette.responses import Response

    from medjury.panel._panel import Panel


def new_secret() -> str:
    """256 random bits, fit for an address."""
    return secrets.token_urlsafe(32)


def hash_of(secret: str) -> str:
    """What the database keeps. The secret is random and long, so a quick hash is enough."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def form_token(secret: str) -> str:
    """The token of the forms that belong to this session; it does not give the session away."""
    return hmac.new(secret.encode(), b"medjury form", hashlib.sha256).hexdigest()


DEVICE_LASTS = timedelta(days=180)  # from the last sign-in on


def cookie_of(request: Request, kind: str) -> str | None:
    """What this browser brought of a kind: its `session`, the `visit` before one, its `device`, or the `language`
    that somebody chose before they signed in."""
    return request.cookies.get(_name(request.app.state.panel, kind)) or None


def session_secret(request: Request) -> str | None:
    return cookie_of(request, "session")


def form_secret(request: Request) -> str | None:
    """What the token of a form hangs on: the session, else the visit."""
    return session_secret(request) or cookie_of(request, "visit")


def begin_visit(request: Request) -> str:
    """A new visit; its cookie is set on the answer by the guard."""
    secret = new_secret()
    request.state.new_visit = secret
    return secret


def _name(panel: Panel, kind: str) -> str:
    return f"__Host-medjury-{kind}" if panel.is_secure else f"medjury-{kind}"


def set_cookie(response: Response, panel: Panel, kind: str, value: str) -> None:
    """A device is known for a while; everything else ends with the browser."""
    response.set_cookie(
        _name(panel, kind), value, httponly=True, samesite="lax", secure=panel.is_secure, path="/",
        max_age=int(DEVICE_LASTS.total_seconds()) if kind == "device" else None,
    )  # fmt: skip


def remove_cookie(response: Response, panel: Panel, kind: str) -> None:
    response.delete_cookie(
        _name(panel, kind), httponly=True, samesite="lax", secure=panel.is_secure, path="/"
    )


CHALLENGE_LASTS = timedelta(minutes=10)


def keep_challenge(
    connection: Connection, secret: str, purpose: str, browser: str, content: Mapping[str, str], now: datetime
) -> None:
    """Expect `secret` back from this browser (the secret of its cookie), for this purpose; others are forgotten."""
    connection.execute(delete(challenges_table).where(challenges_table.c.expires_at < stored(now)))
    connection.execute(
        insert(challenges_table).values(
            hash=hash_of(secret),
            purpose=purpose,
            content=json.dumps({**content, "browser": hash_of(browser)}),
            expires_at=stored(now + CHALLENGE_LASTS),
        )
    )


def take_challenge(
    connection: Connection, secret: str, purpose: str, browser: str, now: datetime
) -> dict[str, str] | None:
    """What was kept with it; None where it is unknown, used, too old, for something else or another browser's."""
    row = connection.execute(
        select(challenges_table).where(challenges_table.c.hash == hash_of(secret))
    ).first()
    if row is None:
        return None
    taken = connection.execute(delete(challenges_table).where(challenges_table.c.hash == row.hash)).rowcount
    left = read(row.expires_at) - now
    content: dict[str, str] = json.loads(row.content)
    fits = row.purpose == purpose and content.pop("browser") == hash_of(browser)
    return content if taken and fits and timedelta() < left <= CHALLENGE_LASTS else None


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
    end_open(connection, sessions_table, now, sessions_table.c.hash == hash_of(secret))


def end_sessions(connection: Connection, person: Person, now: datetime) -> int:
    """Sign a person out everywhere, and know none of their browsers again; returns how many sessions were open."""
    connection.execute(delete(devices_table).where(devices_table.c.person == person.id))
    return end_open(connection, sessions_table, now, sessions_table.c.person == person.id)


def end_open(
    connection: Connection, table: Table, now: datetime, which: ColumnElement[bool], **more: object
) -> int:
    """End those of a person's sessions, links or keys that are open; how many these were."""
    still = update(table).where(which, table.c.ended_at.is_(None))
    return connection.execute(still.values(ended_at=stored(now), **more)).rowcount


def owner_of(
    connection: Connection, table: Table, hashed: str, now: datetime, *more: ColumnElement[Any]
) -> Row[Any] | None:
    """The person whose open link or key this is (with `more` of its columns); None where it was ended, is too
    old, never was one, or its owner is locked out."""
    row = connection.execute(
        select(people_table, table.c.expires_at, *more)
        .join(table, table.c.person == people_table.c.id)
        .where(table.c.hash == hashed, table.c.ended_at.is_(None), people_table.c.disabled_at.is_(None))
    ).first()
    return None if row is None or now >= read(row.expires_at) else row
