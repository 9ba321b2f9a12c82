"""Inviting a person: their link, and the trace of who made it."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from medjury.panel._access._joining.invitations import make_invitation
from medjury.panel._access._people import Person
from medjury.panel._access._trail import trail
from medjury.panel._access._waiting import forget_failures

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from medjury.panel._panel import Panel


def invite(connection: Connection, guest: Person, *, by: Person | str, now: datetime) -> str:
    """The secret of a link by which this person joins, or comes back; links made before stop working."""
    secret = make_invitation(connection, guest, now)
    forget_failures(connection, guest.name)
    trail(connection, by, "invited", f"{guest.id} as {guest.role}", now=now)
    return secret


def join_address(panel: Panel, secret: str) -> str:
    """The address to hand over."""
    return f"{panel.public_url.rstrip('/')}/join/{secret}"
