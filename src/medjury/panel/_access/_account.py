"""A person's own page: their password, and signing out everywhere."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import select

from medjury.foundation.errors import MedjuryError
from medjury.panel._access._forms import SentForm
from medjury.panel._access._passkeys import count_passkeys
from medjury.panel._access._passwords import check_new_password, hash_password, is_password
from medjury.panel._access._people import Person, set_language, set_password
from medjury.panel._access._sessions import end_sessions
from medjury.panel._access._sign_in import let_in, own_path, too_many_attempts
from medjury.panel._access._trail import trail
from medjury.panel._access._visitors import Rater, Whoever
from medjury.panel._access._waiting import begin_attempt, own_key, succeeded
from medjury.panel._language import LANGUAGES, _
from medjury.panel._look import page
from medjury.panel._panel import Panel
from medjury.panel._tables import people_table


def add_account_routes(router: APIRouter, panel: Panel) -> None:
    @router.get("/account")
    def account(request: Request, person: Whoever) -> Response:
        return _account_page(request, panel, person)

    @router.post("/account/password")
    def change(request: Request, person: Whoever, form: SentForm) -> Response:
        now, key = panel.now(), own_key(person.id, "account page")
        with panel.database.writing() as connection:
            wait = begin_attempt(connection, (key,), now)
            old = connection.execute(
                select(people_table.c.password).where(people_table.c.id == person.id)
            ).scalar()
        if wait:
            return _account_page(request, panel, person, too_many_attempts(wait), 429)
        if old is not None and not is_password(old, form.get("present", "")):
            return _account_page(request, panel, person, _("Your current password is not right."), 403)
        with panel.database.writing() as connection:
            succeeded(connection, key)
        try:
            check_new_password(form.get("password", ""), form.get("again", ""), person.name)
        except MedjuryError as error:
            return _account_page(request, panel, person, str(error), 400)
        hashed = hash_password(form["password"])
        with panel.database.writing() as connection:
            set_password(connection, person, hashed)
            end_sessions(connection, person, now)
            trail(connection, person, "changed the password", now=now)
        return let_in(request, panel, person, "new password", "/account")

    @router.post("/account/language")
    def choose(request: Request, person: Rater, form: SentForm) -> Response:
        chosen = form.get("language", "")
        if chosen not in LANGUAGES:
            raise HTTPException(422)
        with panel.database.writing() as connection:
            set_language(connection, person, chosen)
        return RedirectResponse(own_path(form.get("next", "/")), 303)

    @router.post("/account/sign-out-everywhere")
    def everywhere(request: Request, person: Whoever, form: SentForm) -> Response:
        now = panel.now()
        with panel.database.writing() as connection:
            end_sessions(connection, person, now)
            trail(connection, person, "signed out everywhere", now=now)
        return let_in(request, panel, person, "this browser again", "/account")


def _account_page(
    request: Request, panel: Panel, person: Person, problem: str = "", status: int = 200
) -> Response:
    with panel.database.reading() as connection:
        password = connection.execute(
            select(people_table.c.password).where(people_table.c.id == person.id)
        ).scalar()
        count = count_passkeys(connection, person)
    return page(
        request,
        "access/account.html",
        status=status,
        problem=problem,
        has_password=password is not None,
        passkeys=panel.passkeys_work,
        count=count,
    )
