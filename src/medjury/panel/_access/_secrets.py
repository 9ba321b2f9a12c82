"""Secrets that browsers carry: random, in cookies that no script reads, and kept here only as a hash."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, select

from medjury.panel._tables import challenges_table, read, stored

if TYPE_CHECKING:
    from fastapi import Request
    from sqlalchemy.engine import Connection
    from starlette.responses import Response

    from medjury.panel._panel import Panel


def new_secret() -> str:
    """256 random bits, fit for an address."""
    return secrets.token_urlsafe(32)


def new_id() -> str:
    """A name that tells nothing: neither order nor content."""
    return secrets.token_urlsafe(12)


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


def set_session(response: Response, panel: Panel, secret: str) -> None:
    """Hand out a new session; the visit before it is over, and so is every form token of it."""
    set_cookie(response, panel, "session", secret)
    _remove(response, panel, "visit")


def remove_session(response: Response, panel: Panel) -> None:
    _remove(response, panel, "session")


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


def _remove(response: Response, panel: Panel, kind: str) -> None:
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
