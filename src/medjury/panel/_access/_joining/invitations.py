"""Invitations: a link that works once, for a while. Only its hash is kept: the database does not give it away."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from sqlalchemy import desc, insert, select, update

from medjury.panel._access._moments import read, stored
from medjury.panel._access._people import Person, person_of
from medjury.panel._access._secrets import hash_of, new_secret
from medjury.panel._access._tables import invitations_table, people_table

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

LASTS = timedelta(days=14)


def make_invitation(connection: Connection, person: Person, now: datetime) -> str:
    """A new link's secret. Earlier links of the person stop working."""
    withdraw_invitations(connection, person, now)
    secret = new_secret()
    connection.execute(
        insert(invitations_table).values(
            hash=hash_of(secret), person=person.id, created_at=stored(now), expires_at=stored(now + LASTS)
        )
    )
    return secret


def withdraw_invitations(connection: Connection, person: Person, now: datetime) -> None:
    connection.execute(
        update(invitations_table)
        .where(invitations_table.c.person == person.id, invitations_table.c.ended_at.is_(None))
        .values(ended_at=stored(now))
    )


def invited(connection: Connection, secret: str, now: datetime) -> Person | None:
    """Whom this link invites; None where it was used, withdrawn, is too old or never was one. Looking uses nothing
    up: mail programs open links before people do."""
    return _invited(connection, hash_of(secret), now)


def use_invitation(connection: Connection, secret: str, now: datetime) -> Person | None:
    """Use the link up. Of two who try at once, one gets None."""
    return use_invitation_by_hash(connection, hash_of(secret), now)


def use_invitation_by_hash(connection: Connection, hashed: str, now: datetime) -> Person | None:
    """The same for somebody who showed the link, or proved an address that it was made for, a moment ago."""
    person = _invited(connection, hashed, now)
    if person is None:
        return None
    changed = connection.execute(
        update(invitations_table)
        .where(invitations_table.c.hash == hashed, invitations_table.c.ended_at.is_(None))
        .values(ended_at=stored(now), used=True)
    )
    return person if changed.rowcount == 1 else None


def open_invitation_of(connection: Connection, email: str, now: datetime) -> str | None:
    """The hash of the open invitation that was made for this address."""
    found: str | None = connection.execute(
        select(invitations_table.c.hash)
        .join(people_table, people_table.c.id == invitations_table.c.person)
        .where(people_table.c.email == email, invitations_table.c.ended_at.is_(None))
    ).scalar()
    return found if found and _invited(connection, found, now) else None


def open_invitation_until(connection: Connection, person: Person, now: datetime) -> datetime | None:
    """Until when the person's link works; None where there is none."""
    end = connection.execute(
        select(invitations_table.c.expires_at)
        .where(invitations_table.c.person == person.id, invitations_table.c.ended_at.is_(None))
        .order_by(desc(invitations_table.c.created_at))
        .limit(1)
    ).scalar()
    return read(end) if end and read(end) > now else None


def _invited(connection: Connection, hashed: str, now: datetime) -> Person | None:
    row = connection.execute(
        select(people_table, invitations_table.c.expires_at)
        .join(people_table, people_table.c.id == invitations_table.c.person)
        .where(
            invitations_table.c.hash == hashed,
            invitations_table.c.ended_at.is_(None),
            people_table.c.disabled_at.is_(None),
        )
    ).first()
    if row is None or now >= read(row.expires_at):
        return None
    return person_of(row)
