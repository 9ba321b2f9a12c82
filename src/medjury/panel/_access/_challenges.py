"""Challenges: something random that we hand to one browser and expect back from it, once and soon."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, select

from medjury.panel._access._moments import read, stored
from medjury.panel._access._secrets import hash_of
from medjury.panel._access._tables import challenges_table

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

LASTS = timedelta(minutes=10)


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
            expires_at=stored(now + LASTS),
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
    return content if taken and fits and timedelta() < left <= LASTS else None
