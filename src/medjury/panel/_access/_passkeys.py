"""Passkeys: the person's device proves that it holds a key which never leaves it, unlocked by its owner. They are
made when joining or later; a little script of ours talks to the device.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from typing import TYPE_CHECKING, Any

import webauthn
from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import delete, func, insert, select, update
from webauthn.helpers import bytes_to_base64url
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from medjury.foundation.errors import MedjuryError
from medjury.panel._access._passwords import address_key, note_failure, seconds_to_wait
from medjury.panel._access._people import Person, person_of
from medjury.panel._access._sessions import form_secret, hash_of, keep_challenge, new_secret, take_challenge
from medjury.panel._access._sign_in import (
    invited,
    joined,
    let_in,
    over,
    sign_in_again,
    too_many_attempts,
    use_invitation,
)
from medjury.panel._access._trail import trail
from medjury.panel._access._visitors import Anyone, SentForm, Whoever, address_of
from medjury.panel._language import _, marked
from medjury.panel._look import error_page
from medjury.panel._panel import Panel
from medjury.panel._tables import passkeys_table, people_table, stored

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


_REFUSED = marked("The passkey was not accepted. Try again, or use another way to sign in.")


def options_to_create(connection: Connection, panel: Panel, person: Person, browser: str) -> str:
    """What the browser needs to make a passkey for this person, as JSON."""
    challenge = new_secret()
    keep_challenge(connection, challenge, "make a passkey", browser, {"person": person.id}, panel.now())
    known = connection.execute(
        select(passkeys_table.c.id).where(passkeys_table.c.person == person.id)
    ).scalars()
    options = webauthn.generate_registration_options(
        rp_id=panel.host,
        rp_name="Medjury panel",
        user_id=person.id.encode(),
        user_name=person.name,
        user_display_name=person.name,
        challenge=challenge.encode(),
        exclude_credentials=[PublicKeyCredentialDescriptor(id=_bytes(each)) for each in known],
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED,
            user_verification=UserVerificationRequirement.REQUIRED,
        ),
    )
    return webauthn.options_to_json(options)


def add_passkey(connection: Connection, panel: Panel, person: Person, browser: str, answer: str) -> None:
    """Keep the key that the browser made, where it answers our challenge to this person."""
    challenge = _challenge_in(answer)
    kept = take_challenge(connection, challenge, "make a passkey", browser, panel.now())
    if kept is None or kept["person"] != person.id:
        raise MedjuryError(_(_REFUSED))
    try:
        made = webauthn.verify_registration_response(
            credential=answer,
            expected_challenge=challenge.encode(),
            expected_rp_id=panel.host,
            expected_origin=panel.public_url,
            require_user_verification=True,
        )
    except (WebAuthnException, ValueError, KeyError, TypeError):
        raise MedjuryError(_(_REFUSED)) from None
    identity = bytes_to_base64url(made.credential_id)
    if connection.execute(select(passkeys_table.c.id).where(passkeys_table.c.id == identity)).first():
        raise MedjuryError(_(_REFUSED))
    connection.execute(
        insert(passkeys_table).values(
            id=identity,
            person=person.id,
            public_key=made.credential_public_key,
            sign_count=made.sign_count,
            created_at=stored(panel.now()),
        )
    )


def options_to_sign_in(connection: Connection, panel: Panel, browser: str) -> str:
    """What the browser needs to offer its passkeys. Nobody is named: the answer says who it is."""
    challenge = new_secret()
    keep_challenge(connection, challenge, "use a passkey", browser, {}, panel.now())
    options = webauthn.generate_authentication_options(
        rp_id=panel.host, challenge=challenge.encode(), user_verification=UserVerificationRequirement.REQUIRED
    )
    return webauthn.options_to_json(options)


def person_by_passkey(connection: Connection, panel: Panel, browser: str, answer: str) -> Person | None:
    """Whose passkey answered our challenge; None where it is unknown, locked out or does not answer it."""
    try:
        challenge, identity = _challenge_in(answer), str(json.loads(answer)["id"])
    except (MedjuryError, KeyError):
        return None
    kept = take_challenge(connection, challenge, "use a passkey", browser, panel.now())
    row = connection.execute(
        select(people_table, passkeys_table.c.public_key, passkeys_table.c.sign_count)
        .join(passkeys_table, passkeys_table.c.person == people_table.c.id)
        .where(passkeys_table.c.id == identity)
    ).first()
    if kept is None or row is None or row.disabled_at is not None:
        return None
    try:
        proved = webauthn.verify_authentication_response(
            credential=answer,
            expected_challenge=challenge.encode(),
            expected_rp_id=panel.host,
            expected_origin=panel.public_url,
            credential_public_key=row.public_key,
            credential_current_sign_count=row.sign_count,
            require_user_verification=True,
        )
    except (WebAuthnException, ValueError, KeyError, TypeError):
        return None
    connection.execute(
        update(passkeys_table)
        .where(passkeys_table.c.id == identity)
        .values(sign_count=proved.new_sign_count, used_at=stored(panel.now()))
    )
    return person_of(row)


def count_passkeys(connection: Connection, person: Person) -> int:
    query = select(func.count()).select_from(passkeys_table).where(passkeys_table.c.person == person.id)
    return int(connection.execute(query).scalar_one())


def _challenge_in(answer: str) -> str:
    """The challenge that the browser says it answers; whether it does is checked against the signature later."""
    try:
        said: Any = json.loads(_bytes(json.loads(answer)["response"]["clientDataJSON"]))
        return _bytes(said["challenge"]).decode()
    except (ValueError, KeyError, TypeError, RecursionError):
        raise MedjuryError(_(_REFUSED)) from None


def _bytes(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


_UNKNOWN = marked(
    "This passkey does not open an account here. Try another, or ask the coordinator for a new invitation."
)


def add_passkey_routes(router: APIRouter, panel: Panel) -> None:
    @router.post("/sign-in/passkey/options")
    def sign_in_options(request: Request, visitor: Anyone, form: SentForm) -> Response:
        _possible(panel)
        with panel.database.writing() as connection:
            return _json(options_to_sign_in(connection, panel, _browser(request)))

    @router.post("/sign-in/passkey")
    def sign_in(request: Request, visitor: Anyone, form: SentForm) -> Response:
        back, keys, now = form.get("next", "/"), (address_key(address_of(request)),), panel.now()
        with panel.database.writing() as connection:
            if wait := seconds_to_wait(connection, keys, now):
                return sign_in_again(request, "", back, too_many_attempts(wait), 429)
            person = person_by_passkey(connection, panel, _browser(request), form.get("credential", ""))
            if person is None:
                note_failure(connection, keys, now)
        if person is None:
            return sign_in_again(request, "", back, _(_UNKNOWN), 403)
        return let_in(request, panel, person, "passkey", back)

    @router.post("/join/{secret}/passkey/options")
    def join_options(request: Request, secret: str, visitor: Anyone, form: SentForm) -> Response:
        _possible(panel)
        with panel.database.writing() as connection:
            guest = invited(connection, hash_of(secret), panel.now())
            if guest is None:
                raise HTTPException(404)
            return _json(options_to_create(connection, panel, guest, _browser(request)))

    @router.post("/join/{secret}/passkey")
    def join(request: Request, secret: str, visitor: Anyone, form: SentForm) -> Response:
        try:
            with panel.database.writing() as connection:
                person = use_invitation(connection, hash_of(secret), panel.now())
                if person is not None:
                    joined(connection, person, "a passkey", panel.now())
                    add_passkey(connection, panel, person, _browser(request), form.get("credential", ""))
        except MedjuryError as error:
            again = _("Open your invitation once more.")
            return error_page(request, 400, _("No passkey was made"), f"{error} {again}")
        return let_in(request, panel, person, "invitation") if person else over(request)

    @router.post("/account/passkeys/options")
    def account_options(request: Request, person: Whoever, form: SentForm) -> Response:
        _possible(panel)
        with panel.database.writing() as connection:
            return _json(options_to_create(connection, panel, person, _browser(request)))

    @router.post("/account/passkeys")
    def add(request: Request, person: Whoever, form: SentForm) -> Response:
        with panel.database.writing() as connection:
            add_passkey(connection, panel, person, _browser(request), form.get("credential", ""))
            trail(connection, person, "made a passkey", now=panel.now())
        return RedirectResponse("/account", 303)

    @router.post("/account/passkeys/remove")
    def remove(request: Request, person: Whoever, form: SentForm) -> Response:
        with panel.database.writing() as connection:
            row = connection.execute(select(people_table).where(people_table.c.id == person.id)).one()
            if row.password is None and row.subject is None:
                raise MedjuryError(_("Set a password first: without a passkey you could not sign in again."))
            connection.execute(delete(passkeys_table).where(passkeys_table.c.person == person.id))
            trail(connection, person, "removed their passkeys", now=panel.now())
        return RedirectResponse("/account", 303)


def _possible(panel: Panel) -> None:
    if not panel.passkeys_work:
        raise HTTPException(404)


def _browser(request: Request) -> str:
    """What tells this browser from others: the secret in its cookie, which `form_of` has seen already."""
    return form_secret(request) or ""


def _json(text: str) -> Response:
    return Response(text, media_type="application/json")
