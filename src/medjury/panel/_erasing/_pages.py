"""The coordinator's page of erasing: first what would go, then the id typed once more."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from medjury.foundation.errors import MedjuryError
from medjury.panel._access import Form, Person, Role, form_of, person_with
from medjury.panel._erasing._erasing import Choice, choice_of, erase, would_go
from medjury.panel._look import page
from medjury.panel._panel import Panel

_Coordinator = Annotated[Person, Depends(person_with(Role.COORDINATOR))]
_Form = Annotated[Form, Depends(form_of)]
_KINDS = ("patient", "case")


def routes(panel: Panel) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.get("/erase")
    def ask(request: Request, person: _Coordinator) -> Response:
        return _page(request)

    @router.post("/erase")
    def show(request: Request, person: _Coordinator, form: _Form) -> Response:
        try:
            found = would_go(panel, _choice(panel, form))
        except MedjuryError as error:
            return _page(request, form, problem=str(error), status=400)
        return _page(request, form, found=found)

    @router.post("/erase/now")
    def now(request: Request, person: _Coordinator, form: _Form) -> Response:
        try:
            choice = _choice(panel, form)
            if form.get("again", "").strip() != form.get("id", "").strip():
                return _page(
                    request,
                    form,
                    problem="The two ids differ. Nothing was erased. Type the id once more.",
                    found=would_go(panel, choice),
                    status=400,
                )
            done = erase(panel, choice, person)
        except MedjuryError as error:
            return _page(request, form, problem=str(error), status=400)
        return _page(request, told=done.text("the panel"))

    return router


def _choice(panel: Panel, form: Form) -> Choice:
    named = form.get("id", "").strip()
    if not named or form.get("kind") not in _KINDS:
        raise MedjuryError("Type the id of a patient or of a case.")
    return choice_of(panel, named) if form["kind"] == "patient" else choice_of(panel, cases=[named])


def _page(request: Request, form: Form | None = None, *, status: int = 200, **values: Any) -> Response:
    typed = {} if form is None else {"id": form.get("id", "").strip(), "kind": form.get("kind", "patient")}
    shown = {"problem": "", "told": "", "found": None, "id": "", "kind": "patient", **typed, **values}
    return page(request, "erasing/erase.html", status=status, **shown)
