"""Signing in and out (whoever fails learns only that name and password do not go together), and joining by an
invitation: a link that works once, for a while. Only its hash is kept. Opening the link shows a page; only what
the person sends from it uses the link up."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import delete, desc, insert, select, update

from medjury.foundation.errors import MedjuryError
from medjury.panel._access._passwords import (
    begin_attempt,
    check_new_password,
    forget_failures,
    hash_password,
    is_outdated,
    is_password,
    own_key,
    stranger_keys,
    succeeded,
)
from medjury.panel._access._people import Person, Role, change_person, person_of, row_by_sign_in_name
from medjury.panel._access._sessions import (
    cookie_of,
    end_open,
    end_session,
    end_sessions,
    hash_of,
    is_known_device,
    know_device,
    new_secret,
    owner_of,
    remove_cookie,
    session_secret,
    set_cookie,
    start_session,
)
from medjury.panel._access._trail import trail
from medjury.panel._access._visitors import Anyone, SentForm, Whoever, address_of
from medjury.panel._language import LANGUAGES, _, marked, plural
from medjury.panel._look import Look, error_page, page
from medjury.panel._panel import Panel
from medjury.panel._tables import invitations_table, passkeys_table, people_table, read, stored

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


LASTS = timedelta(days=14)


def withdraw_invitations(connection: Connection, person: Person, now: datetime) -> None:
    end_open(connection, invitations_table, now, invitations_table.c.person == person.id)


def use_invitation(connection: Connection, hashed: str, now: datetime) -> Person | None:
    """Use the link up for whoever showed its secret, or proved an address that it was made for. Of two who try at
    once, one gets None."""
    person, own = invited(connection, hashed, now), invitations_table.c.hash == hashed
    used = person is not None and end_open(connection, invitations_table, now, own, used=True)
    return person if used else None


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
    row = owner_of(connection, invitations_table, hashed, now)
    return person_of(row) if row else None


def invite(connection: Connection, guest: Person, *, by: Person | str, now: datetime) -> str:
    """The secret of a link by which this person joins, or comes back; links made before stop working."""
    withdraw_invitations(connection, guest, now)
    secret = new_secret()
    row = {"person": guest.id, "created_at": stored(now), "expires_at": stored(now + LASTS)}
    connection.execute(insert(invitations_table).values(hash=hash_of(secret), **row))
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
    def join(request: Request, secret: str, _: Anyone, form: SentForm) -> Response:
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
                change_person(connection, person, password=hashed)
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


_WRONG = marked("Name and password do not match. Check both, or ask the coordinator for a new invitation.")


def add_sign_in_routes(router: APIRouter, panel: Panel) -> None:
    @router.get("/")
    def home(request: Request, person: Whoever) -> Response:
        look: Look = request.app.state.look
        links = look.links_of(person.role)
        return RedirectResponse(links[0].path if links else "/account", 303)

    @router.get("/sign-in")
    def sign_in_page(request: Request, person: Anyone, next: str = "/") -> Response:
        if person is not None:
            return RedirectResponse(own_path(next), 303)
        return sign_in_again(request, "", next, "", 200)

    @router.post("/sign-in")
    def sign_in(request: Request, visitor: Anyone, form: SentForm) -> Response:
        typed, back = form.get("name", "")[:400], own_path(form.get("next", "/"))
        now, device, keys = (
            panel.now(),
            cookie_of(request, "device"),
            stranger_keys(typed, address_of(request)),
        )
        with panel.database.writing() as connection:
            row = row_by_sign_in_name(connection, typed)
            if row is not None and device and is_known_device(connection, device, row.id, now):
                keys = (own_key(row.id, device),)
            wait = begin_attempt(connection, keys, now)
        if wait:
            return sign_in_again(request, typed, back, too_many_attempts(wait), 429)
        right = is_password(row.password if row else None, form.get("password", ""))
        if row is None or not right or row.disabled_at is not None:
            with panel.database.writing() as connection:
                trail(connection, row.id if row else "somebody unknown", "sign-in failed", now=now)
            return sign_in_again(request, typed, back, _(_WRONG), 403)
        person = person_of(row)
        newer = hash_password(form["password"]) if is_outdated(row.password) else None
        with panel.database.writing() as connection:
            succeeded(connection, *keys)
            if newer:
                change_person(connection, person, password=newer)
        return let_in(request, panel, person, "password", back)

    @router.post("/language")
    def choose_language(person: Anyone, form: SentForm) -> Response:
        if (chosen := form.get("language", "")) not in LANGUAGES:
            raise HTTPException(422)
        answer = RedirectResponse(own_path(form.get("next", "/")), 303)
        set_cookie(answer, panel, "language", chosen)
        return answer

    @router.post("/sign-out")
    def sign_out(request: Request, person: Anyone, form: SentForm) -> Response:
        secret, now = session_secret(request), panel.now()
        if person is not None and secret is not None:
            with panel.database.writing() as connection:
                end_session(connection, secret, now)
                trail(connection, person, "signed out", now=now)
        answer = RedirectResponse("/sign-in", 303)
        remove_cookie(answer, panel, "session")
        return answer


def let_in(request: Request, panel: Panel, person: Person, how: str, back: str = "/") -> Response:
    """A new session, whatever the browser brought: a session that somebody else planted is worth nothing."""
    now, before = panel.now(), session_secret(request)
    with panel.database.writing() as connection:
        if before is not None:
            end_session(connection, before, now)
        if (
            person.role is Role.RATER
            and not person.language
            and (chosen := cookie_of(request, "language")) in LANGUAGES
        ):
            change_person(connection, person, language=chosen)
        secret = start_session(connection, person, now)
        device = know_device(connection, cookie_of(request, "device"), person, now)
        trail(connection, person, "signed in", how, now=now)
    answer = RedirectResponse(own_path(back), 303)
    set_cookie(answer, panel, "session", secret)
    remove_cookie(answer, panel, "visit")  # and so is every form token of the visit before it
    set_cookie(answer, panel, "device", device)
    return answer


def own_path(address: str) -> str:
    """The address where it is a path on this server, else the start page: nobody is sent to another site."""
    plain = address.strip()
    if (
        not plain.startswith("/")
        or plain[1:2] in ("/", "\\")
        or any(ord(sign) < 33 or sign == "\\" for sign in plain)
    ):
        return "/"
    return plain


def too_many_attempts(seconds: int) -> str:
    """How long to wait, as a person says it, and never shorter than it is."""
    if seconds < 60:
        return plural(
            "Too many attempts. Try again in %(number)s second.",
            "Too many attempts. Try again in %(number)s seconds.",
            seconds,
        )
    return plural(
        "Too many attempts. Try again in %(number)s minute.",
        "Too many attempts. Try again in %(number)s minutes.",
        -(-seconds // 60),
    )


def sign_in_again(request: Request, name: str, back: str, problem: str, status: int) -> Response:
    """The sign-in page, and what went wrong the last time."""
    panel: Panel = request.app.state.panel
    return page(
        request,
        "access/sign_in.html",
        status=status,
        next=own_path(back),
        name=name,
        problem=problem,
        passkeys=panel.passkeys_work,
        open_id=panel.open_id,
    )
