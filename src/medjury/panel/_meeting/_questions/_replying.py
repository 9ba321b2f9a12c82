"""A reply to a further question: a new version, or the news that another was saved in the meantime."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import insert

from medjury.foundation.errors import MedjuryError
from medjury.panel._meeting._questions._asking import asked_of
from medjury.panel._meeting._settling import Overtaken
from medjury.panel._meeting._tables import replies_table

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


def reply(
    connection: Connection, code: str, person: str, version: int, choice: str, why: str, now: datetime
) -> None:
    """Add a version, as the choice was shown."""
    asked = asked_of(connection, code, person, lock=True)
    if asked is None:
        raise LookupError(code)
    if not asked.is_open:
        raise MedjuryError("This question can no longer be answered: the raters have met.")
    if choice not in asked.choices:
        raise MedjuryError("Choose one of the answers.")
    if (asked.choice, asked.why) == (choice, why) and asked.is_answered:
        return
    if asked.version != version:
        raise Overtaken
    row = {
        "asked": asked.id,
        "version": version + 1,
        "choice": choice,
        "why": why,
        "said_at": now.isoformat(),
    }
    connection.execute(insert(replies_table).values(**row))
