"""The coordinator's page of API keys, and the description of the interface, for those who may use it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from medjury.foundation.errors import MedjuryError
from medjury.panel._access._forms import Form, form_of
from medjury.panel._access._people import Person, Role
from medjury.panel._access._programs.api_access import api_access
from medjury.panel._access._programs.api_keys import api_keys, make_api_key, withdraw_api_key
from medjury.panel._access._trail import trail
from medjury.panel._access._visitors import person_with
from medjury.panel._look import page
from medjury.panel._panel import Panel

_Coordinator = Annotated[Person, Depends(person_with(Role.COORDINATOR))]
_Form = Annotated[Form, Depends(form_of)]


def add_routes(router: APIRouter, panel: Panel) -> None:
    @router.get("/api-keys")
    def keys(request: Request, person: _Coordinator) -> Response:
        return _page(request, panel)

    @router.post("/api-keys")
    def make(request: Request, person: _Coordinator, form: _Form) -> Response:
        try:
            with panel.database.writing() as connection:
                secret = make_api_key(connection, person, form.get("name", ""), panel.now())
                trail(connection, person, "made an API key", form.get("name", ""), now=panel.now())
        except MedjuryError as error:
            return _page(request, panel, problem=str(error), status=400)
        return _page(request, panel, secret=secret)

    @router.post("/api-keys/{identity}/withdraw")
    def withdraw(request: Request, identity: str, person: _Coordinator, form: _Form) -> Response:
        with panel.database.writing() as connection:
            if not withdraw_api_key(connection, identity, panel.now()):
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


def _page(
    request: Request, panel: Panel, *, problem: str = "", secret: str = "", status: int = 200
) -> Response:
    with panel.database.reading() as connection:
        known = api_keys(connection, panel.now())
    return page(request, "access/api_keys.html", status=status, keys=known, problem=problem, secret=secret)
