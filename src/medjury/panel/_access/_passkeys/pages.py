"""Making a passkey when joining or later, and signing in with one. A little script of ours talks to the device."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import select

from medjury.foundation.errors import MedjuryError
from medjury.panel._access._cookies import form_secret
from medjury.panel._access._credentials import joined
from medjury.panel._access._forms import Form, form_of
from medjury.panel._access._joining.invitations import invited, use_invitation
from medjury.panel._access._joining.join import over
from medjury.panel._access._passkeys.passkeys import (
    add_passkey,
    options_to_create,
    options_to_sign_in,
    passkeys_work,
    person_by_passkey,
    remove_passkeys,
)
from medjury.panel._access._people import Person
from medjury.panel._access._sign_in import in_words, let_in, sign_in_again
from medjury.panel._access._tables import people_table
from medjury.panel._access._trail import trail
from medjury.panel._access._visitors import address_of, anyone, signed_in_as_anything
from medjury.panel._access._waiting import address_key, note_failure, seconds_to_wait
from medjury.panel._look import error_page
from medjury.panel._panel import Panel

_Anyone = Annotated[Person | None, Depends(anyone)]
_Whoever = Annotated[Person, Depends(signed_in_as_anything)]
_Form = Annotated[Form, Depends(form_of)]
_UNKNOWN = (
    "This passkey does not open an account here. Try another, or ask the coordinator for a new invitation."
)


def add_routes(router: APIRouter, panel: Panel) -> None:
    @router.post("/sign-in/passkey/options")
    def sign_in_options(request: Request, _: _Anyone, form: _Form) -> Response:
        _possible(panel)
        with panel.database.writing() as connection:
            return _json(options_to_sign_in(connection, panel, _browser(request)))

    @router.post("/sign-in/passkey")
    def sign_in(request: Request, _: _Anyone, form: _Form) -> Response:
        back, keys, now = form.get("next", "/"), (address_key(address_of(request)),), panel.now()
        with panel.database.writing() as connection:
            if wait := seconds_to_wait(connection, keys, now):
                told = f"Too many attempts. Try again in {in_words(wait)}."
                return sign_in_again(request, "", back, told, 429)
            person = person_by_passkey(connection, panel, _browser(request), form.get("credential", ""))
            if person is None:
                note_failure(connection, keys, now)
        if person is None:
            return sign_in_again(request, "", back, _UNKNOWN, 403)
        return let_in(request, panel, person, "passkey", back)

    @router.post("/join/{secret}/passkey/options")
    def join_options(request: Request, secret: str, _: _Anyone, form: _Form) -> Response:
        _possible(panel)
        with panel.database.writing() as connection:
            guest = invited(connection, secret, panel.now())
            if guest is None:
                raise HTTPException(404)
            return _json(options_to_create(connection, panel, guest, _browser(request)))

    @router.post("/join/{secret}/passkey")
    def join(request: Request, secret: str, _: _Anyone, form: _Form) -> Response:
        try:
            with panel.database.writing() as connection:
                person = use_invitation(connection, secret, panel.now())
                if person is not None:
                    joined(connection, person, "a passkey", panel.now())
                    add_passkey(connection, panel, person, _browser(request), form.get("credential", ""))
        except MedjuryError as error:
            return error_page(request, 400, "No passkey was made", f"{error} Open your invitation once more.")
        return let_in(request, panel, person, "invitation") if person else over(request)

    @router.post("/account/passkeys/options")
    def account_options(request: Request, person: _Whoever, form: _Form) -> Response:
        _possible(panel)
        with panel.database.writing() as connection:
            return _json(options_to_create(connection, panel, person, _browser(request)))

    @router.post("/account/passkeys")
    def add(request: Request, person: _Whoever, form: _Form) -> Response:
        with panel.database.writing() as connection:
            add_passkey(connection, panel, person, _browser(request), form.get("credential", ""))
            trail(connection, person, "made a passkey", now=panel.now())
        return RedirectResponse("/account", 303)

    @router.post("/account/passkeys/remove")
    def remove(request: Request, person: _Whoever, form: _Form) -> Response:
        with panel.database.writing() as connection:
            row = connection.execute(select(people_table).where(people_table.c.id == person.id)).one()
            if row.password is None and row.subject is None:
                raise MedjuryError("Set a password first: without a passkey you could not sign in again.")
            remove_passkeys(connection, person)
            trail(connection, person, "removed their passkeys", now=panel.now())
        return RedirectResponse("/account", 303)


def _possible(panel: Panel) -> None:
    if not passkeys_work(panel):
        raise HTTPException(404)


def _browser(request: Request) -> str:
    """What tells this browser from others: the secret in its cookie, which `form_of` has seen already."""
    return form_secret(request) or ""


def _json(text: str) -> Response:
    return Response(text, media_type="application/json")
