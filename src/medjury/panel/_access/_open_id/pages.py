"""Signing in with the site's own account (OpenID Connect, authorization code with PKCE).

Nobody gets in who was not invited: an account is known by its subject once it has joined, and joins by its link, or
by the verified e-mail address that the coordinator wrote into a still open invitation.
"""

from __future__ import annotations

import hashlib
import sys
from base64 import urlsafe_b64encode
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import Response
from sqlalchemy import select, update

from medjury.panel._access._challenges import keep_challenge, take_challenge
from medjury.panel._access._cookies import form_secret
from medjury.panel._access._credentials import joined
from medjury.panel._access._forms import Form, form_of
from medjury.panel._access._joining.invitations import invited, open_invitation_of, use_invitation_by_hash
from medjury.panel._access._joining.join import over
from medjury.panel._access._open_id.identity_token import Identity, ProviderError
from medjury.panel._access._open_id.provider import Provider
from medjury.panel._access._people import Person, compared, person_by_id, person_of
from medjury.panel._access._secrets import hash_of, new_secret
from medjury.panel._access._sign_in import let_in, own_path
from medjury.panel._access._tables import people_table
from medjury.panel._access._visitors import anyone
from medjury.panel._look import error_page, page
from medjury.panel._panel import Panel

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

_Anyone = Annotated[Person | None, Depends(anyone)]
_Form = Annotated[Form, Depends(form_of)]
_PURPOSE, _RETURN = "sign in with the site's account", "/sign-in/openid/return"


def add_routes(router: APIRouter, panel: Panel) -> None:
    if panel.open_id is None:
        return
    provider = Provider(panel.open_id)

    @router.post("/sign-in/openid")
    def begin(request: Request, _: _Anyone, form: _Form) -> Response:
        return _go(request, panel, provider, {"next": own_path(form.get("next", "/"))})

    @router.post("/join/{secret}/openid")
    def begin_to_join(request: Request, secret: str, _: _Anyone, form: _Form) -> Response:
        with panel.database.reading() as connection:
            if invited(connection, secret, panel.now()) is None:
                return over(request)
        return _go(request, panel, provider, {"next": "/", "invitation": hash_of(secret)})

    @router.get(_RETURN)
    def come_back(
        request: Request, _: _Anyone, code: str = "", state: str = "", iss: str | None = None
    ) -> Response:
        with panel.database.writing() as connection:
            kept = take_challenge(connection, state, _PURPOSE, form_secret(request) or "", panel.now())
        try:
            if kept is None or not code or not provider.is_named_by(iss):
                return _failed(request, "It took too long, was stopped, or began in another browser.")
            identity = provider.identity(
                code=code, back_to=panel.public_url + _RETURN, verifier=kept["verifier"], nonce=kept["nonce"],
                now=panel.now(),
            )  # fmt: skip
        except ProviderError as error:
            print(f"medjury panel: sign-in with the site's account: {error}", file=sys.stderr, flush=True)
            return _failed(request, "The site's sign-in service gave an answer that cannot be believed.")
        with panel.database.writing() as connection:
            person = _person(connection, panel, identity, kept.get("invitation"))
        if person is None:
            return _failed(request, "That account is not invited here. Ask the coordinator for a link.")
        return let_in(request, panel, person, "the site's account", kept["next"])


def _go(request: Request, panel: Panel, provider: Provider, kept: dict[str, str]) -> Response:
    """Send the browser to the provider, from a page of ours: a form may not lead to another site."""
    state, nonce, verifier = new_secret(), new_secret(), new_secret()
    challenge = urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    browser = form_secret(request)
    if browser is None:
        raise HTTPException(403)
    try:
        address = provider.sign_in_address(
            back_to=panel.public_url + _RETURN, state=state, nonce=nonce, challenge=challenge
        )
    except ProviderError as error:
        print(f"medjury panel: sign-in with the site's account: {error}", file=sys.stderr, flush=True)
        return _failed(request, "The site's sign-in service cannot be reached. Try again later.", 502)
    with panel.database.writing() as connection:
        content = {**kept, "nonce": nonce, "verifier": verifier}
        keep_challenge(connection, state, _PURPOSE, browser, content, panel.now())
    return page(request, "access/go.html", address=address)


def _person(
    connection: Connection, panel: Panel, identity: Identity, invitation: str | None
) -> Person | None:
    assert panel.open_id is not None
    subject, now = f"{panel.open_id.issuer} {identity.subject}", panel.now()
    email = compared(identity.email) if identity.email else None
    row = connection.execute(select(people_table).where(people_table.c.subject == subject)).first()
    if row is not None and invitation is None:
        return None if row.disabled_at is not None else person_of(row)
    if invitation is None and email is not None:
        invitation = open_invitation_of(connection, email, now)
    guest = use_invitation_by_hash(connection, invitation, now) if invitation else None
    if guest is None:
        return None
    state = person_by_id(connection, guest.id)
    taken = row is not None and row.id != guest.id
    if taken or (state is not None and state.email is not None and state.email != email):
        raise HTTPException(403, "This invitation is for somebody with another account.")  # and stays unused
    joined(connection, guest, "the site's account", now)
    connection.execute(update(people_table).where(people_table.c.id == guest.id).values(subject=subject))
    return guest


def _failed(request: Request, told: str, status: int = 403) -> Response:
    return error_page(request, status, "You are not signed in", told)
