"""Signing in and out. Whoever fails learns only that name and password do not go together."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from medjury.panel._access._forms import SentForm
from medjury.panel._access._passwords import hash_password, is_outdated, is_password
from medjury.panel._access._people import (
    Person,
    Role,
    person_of,
    row_by_sign_in_name,
    set_language,
    set_password,
)
from medjury.panel._access._secrets import (
    cookie_of,
    remove_session,
    session_secret,
    set_cookie,
    set_session,
)
from medjury.panel._access._sessions import (
    end_session,
    is_known_device,
    know_device,
    start_session,
)
from medjury.panel._access._trail import trail
from medjury.panel._access._visitors import Anyone, Whoever, address_of
from medjury.panel._access._waiting import begin_attempt, own_key, stranger_keys, succeeded
from medjury.panel._language import LANGUAGES, _, marked, plural
from medjury.panel._look import Look, page
from medjury.panel._panel import Panel

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
    def sign_in(
        request: Request,
        visitor: Anyone,
        form: SentForm,
    ) -> Response:
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
                set_password(connection, person, newer)
        return let_in(request, panel, person, "password", back)

    @router.post("/language")
    def choose_language(person: Anyone, form: SentForm) -> Response:
        if (chosen := form.get("language", "")) not in LANGUAGES:
            raise HTTPException(422)
        answer = RedirectResponse(own_path(form.get("next", "/")), 303)
        set_cookie(answer, panel, "language", chosen)
        return answer

    @router.post("/sign-out")
    def sign_out(
        request: Request,
        person: Anyone,
        form: SentForm,
    ) -> Response:
        secret, now = session_secret(request), panel.now()
        if person is not None and secret is not None:
            with panel.database.writing() as connection:
                end_session(connection, secret, now)
                trail(connection, person, "signed out", now=now)
        answer = RedirectResponse("/sign-in", 303)
        remove_session(answer, panel)
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
            set_language(connection, person, chosen)
        secret = start_session(connection, person, now)
        device = know_device(connection, cookie_of(request, "device"), person, now)
        trail(connection, person, "signed in", how, now=now)
    answer = RedirectResponse(own_path(back), 303)
    set_session(answer, panel, secret)
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
