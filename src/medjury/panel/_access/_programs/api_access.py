"""Who may use the programs' interface (`/api/…`): whoever brings a key, or a coordinator who is signed in."""

from __future__ import annotations

import hmac
from dataclasses import dataclass

from fastapi import HTTPException, Request

from medjury.panel._access._cookies import form_secret
from medjury.panel._access._forms import refuse_other_sites
from medjury.panel._access._people import Person, Role
from medjury.panel._access._programs.api_keys import find_api_key, note_key_used
from medjury.panel._access._secrets import form_token
from medjury.panel._access._visitors import address_of, signed_in
from medjury.panel._access._waiting import address_key, note_failure, seconds_to_wait
from medjury.panel._declared import CHANGING
from medjury.panel._panel import Panel


@dataclass(frozen=True)
class _ApiAccess:
    """`Depends(api_access)`: the header `Authorization: Bearer KEY`; in a browser the session, and to change
    something the header `X-CSRF-Token` as well."""

    roles: frozenset[str] = frozenset({Role.COORDINATOR})
    checks_origin: bool = True

    def __call__(self, request: Request) -> Person:
        scheme, _, secret = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return _person_of_key(request, secret.strip())
        person = signed_in(request, Role.COORDINATOR)
        if request.method in CHANGING:
            refuse_other_sites(request)
            given, secret = request.headers.get("x-csrf-token", ""), form_secret(request) or ""
            if not hmac.compare_digest(given.encode(), form_token(secret).encode()):
                raise HTTPException(403, "Send the token of your page as X-CSRF-Token, or use an API key.")
        return person


api_access = _ApiAccess()


def _person_of_key(request: Request, secret: str) -> Person:
    panel: Panel = request.app.state.panel
    now, keys = panel.now(), (address_key(address_of(request)),)
    with panel.database.reading() as connection:
        found = find_api_key(connection, secret, now)
        wait = 0 if found else seconds_to_wait(connection, keys, now)
    if wait:
        raise HTTPException(429, "Too many keys were tried that do not work. Wait, then try again.")
    if found is None:
        with panel.database.writing() as connection:
            note_failure(connection, keys, now)
        raise HTTPException(401, "This API key does not work. A coordinator can make a new one.")
    person, should_note = found
    if should_note:
        with panel.database.writing() as connection:
            note_key_used(connection, secret, now)
    request.state.person, request.state.csrf = person, ""
    return person
