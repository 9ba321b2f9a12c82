"""Joining by an invitation: a link that works once, for a while. Only its hash is kept: the database does not give
it away. Opening the link shows a page; only what the person sends from it uses the link up.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy import delete, desc, insert, select, update

from medjury.foundation.errors import MedjuryError
from medjury.panel._access._forms import SentForm
from medjury.panel._access._passwords import check_new_password, hash_password
from medjury.panel._access._people import Person, person_of, set_password
from medjury.panel._access._secrets import hash_of, new_secret
from medjury.panel._access._sessions import end_sessions
from medjury.panel._access._sign_in import let_in
from medjury.panel._access._trail import trail
from medjury.panel._access._visitors import Anyone
from medjury.panel._access._waiting import forget_failures
from medjury.panel._language import _
from medjury.panel._look import error_page, page
from medjury.panel._panel import Panel
from medjury.panel._tables import invitations_table, passkeys_table, people_table, read, stored

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


def use_invitation(connection: Connection, hashed: str, now: datetime) -> Person | None:
    """Use the link up for whoever showed its secret, or proved an address that it was made for. Of two who try at
    once, one gets None."""
    person = invited(connection, hashed, now)
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
    return found if found and invited(connection, found, now) else None


def open_invitation_until(connection: Connection, person: Person, now: datetime) -> datetime | None:
    """Until when the person's link works; None where there is none."""
    end = connection.execute(
        select(invitations_table.c.expires_at)
        .where(invitations_table.c.person == person.id, invitations_table.c.ended_at.is_(None))
        .order_by(desc(invitations_table.c.created_at))
        .limit(1)
    ).scalar()
    return read(end) if end and read(end) > now else None


def invited(connection: Connection, hashed: str, now: datetime) -> Person | None:
    """Whom the link with this hash invites; None where it was used, withdrawn, is too old or never was one. Looking
    uses nothing up: mail programs open links before people do."""
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


def invite(connection: Connection, guest: Person, *, by: Person | str, now: datetime) -> str:
    """The secret of a link by which this person joins, or comes back; links made before stop working."""
    secret = make_invitation(connection, guest, now)
    forget_failures(connection, guest.name)
    trail(connection, by, "invited", f"{guest.id} as {guest.role}", now=now)
    return secret


def join_address(panel: Panel, secret: str) -> str:
    """The address to hand over."""
    return f"{panel.public_url.rstrip('/')}/join/{secret}"


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


def add_join_routes(router: APIRouter, panel: Panel) -> None:
    @router.get("/join/{secret}")
    def invitation(request: Request, secret: str, _: Anyone) -> Response:
        with panel.database.reading() as connection:
            guest = invited(connection, hash_of(secret), panel.now())
        if guest is None:
            return over(request)
        return _join_page(request, guest, secret)

    @router.post("/join/{secret}")
    def join(
        request: Request,
        secret: str,
        _: Anyone,
        form: SentForm,
    ) -> Response:
        with panel.database.reading() as connection:
            guest = invited(connection, hash_of(secret), panel.now())
        if guest is None:
            return over(request)
        password = form.get("password", "")
        try:
            check_new_password(password, form.get("again", ""), guest.name)
        except MedjuryError as error:
            return _join_page(request, guest, secret, str(error), 400)
        hashed = hash_password(password)
        with panel.database.writing() as connection:
            person = use_invitation(connection, hash_of(secret), panel.now())
            if person is not None:
                joined(connection, person, "a password", panel.now())
                set_password(connection, person, hashed)
        return let_in(request, panel, person, "invitation") if person else over(request)


def _join_page(
    request: Request, guest: Person, secret: str, problem: str = "", status: int = 200
) -> Response:
    panel: Panel = request.app.state.panel
    return page(
        request,
        "access/join.html",
        status=status,
        guest=guest,
        secret=secret,
        problem=problem,
        passkeys=panel.passkeys_work,
        open_id=panel.open_id,
    )


def over(request: Request) -> Response:
    """One answer for a link that was used, withdrawn, is too old, or never was one."""
    return error_page(
        request,
        404,
        _("This invitation no longer works"),
        _(
            "It was used or withdrawn, or is too old. Sign in if you have joined already; otherwise ask the "
            "coordinator of the study for a new one."
        ),
    )
