"""Keys by which programs may ask: made and withdrawn by a coordinator, shown once, kept as a hash."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import insert, select, update

from medjury.foundation.errors import MedjuryError
from medjury.panel._access._passwords import address_key, note_failure, seconds_to_wait
from medjury.panel._access._people import Person, Role, clean_name, new_id, person_of
from medjury.panel._access._sessions import end_open, form_secret, form_token, hash_of, new_secret, owner_of
from medjury.panel._access._trail import trail
from medjury.panel._access._visitors import Coordinator, SentForm, address_of, refuse_other_sites, signed_in
from medjury.panel._declared import CHANGING
from medjury.panel._look import page
from medjury.panel._panel import Panel
from medjury.panel._tables import api_keys_table, read, stored

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Row


# API keys: for programs, made and withdrawn by a coordinator. A key is shown once; its hash is kept.

LASTS = timedelta(days=365)
_NOTED_AGAIN = timedelta(minutes=5)


def make_api_key(connection: Connection, person: Person, name: str, now: datetime) -> str:
    """A new key that acts for this coordinator."""
    secret = f"medjury_{new_secret()}"
    connection.execute(
        insert(api_keys_table).values(
            id=new_id(),
            hash=hash_of(secret),
            name=clean_name(name),
            person=person.id,
            created_at=stored(now),
            expires_at=stored(now + LASTS),
        )
    )
    return secret


def api_keys(connection: Connection, now: datetime) -> Sequence[Row[Any]]:
    """The keys as the coordinator sees them; `is_open`: it works."""
    t = api_keys_table
    is_open = t.c.ended_at.is_(None) & (t.c.expires_at > stored(now))
    return connection.execute(select(t, is_open.label("is_open")).order_by(t.c.created_at)).all()


# Who may use the programs' interface (`/api/…`): whoever brings a key, or a coordinator who is signed in.


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
        found = owner_of(connection, api_keys_table, hash_of(secret), now, api_keys_table.c.used_at)
        wait = 0 if found else seconds_to_wait(connection, keys, now)
    if wait:
        raise HTTPException(429, "Too many keys were tried that do not work. Wait, then try again.")
    if found is None:
        with panel.database.writing() as connection:
            note_failure(connection, keys, now)
        raise HTTPException(401, "This API key does not work. A coordinator can make a new one.")
    if found.used_at is None or abs(now - read(found.used_at)) > _NOTED_AGAIN:
        with panel.database.writing() as connection:
            used = update(api_keys_table).where(api_keys_table.c.hash == hash_of(secret))
            connection.execute(used.values(used_at=stored(now)))
    request.state.person, request.state.csrf = person_of(found), ""
    return person_of(found)


def add_api_key_routes(router: APIRouter, panel: Panel) -> None:
    @router.get("/api-keys")
    def keys(request: Request, person: Coordinator) -> Response:
        return _keys_page(request, panel)

    @router.post("/api-keys")
    def make(request: Request, person: Coordinator, form: SentForm) -> Response:
        try:
            with panel.database.writing() as connection:
                secret = make_api_key(connection, person, form.get("name", ""), panel.now())
                trail(connection, person, "made an API key", form.get("name", ""), now=panel.now())
        except MedjuryError as error:
            return _keys_page(request, panel, problem=str(error), status=400)
        return _keys_page(request, panel, secret=secret)

    @router.post("/api-keys/{identity}/withdraw")
    def withdraw(request: Request, identity: str, person: Coordinator, form: SentForm) -> Response:
        with panel.database.writing() as connection:
            if not end_open(connection, api_keys_table, panel.now(), api_keys_table.c.id == identity):
                raise HTTPException(404)
            trail(connection, person, "withdrew an API key", identity, now=panel.now())
        return RedirectResponse("/api-keys", 303)

    @router.get("/api/openapi.json", include_in_schema=True, summary="This description")
    def description(request: Request, person: Annotated[Person, Depends(api_access)]) -> dict[str, Any]:
        found: dict[str, Any] = request.app.openapi()
        paths = {path: said for path, said in found["paths"].items() if path.startswith("/api/")}
        schemes = {"key": {"type": "http", "scheme": "bearer", "description": "An API key of this panel."}}
        parts = {**found.get("components", {}), "securitySchemes": schemes}
        return {**found, "paths": paths, "components": parts, "security": [{"key": []}]}


def _keys_page(
    request: Request, panel: Panel, *, problem: str = "", secret: str = "", status: int = 200
) -> Response:
    with panel.database.reading() as connection:
        known = api_keys(connection, panel.now())
    return page(request, "access/api_keys.html", status=status, keys=known, problem=problem, secret=secret)
