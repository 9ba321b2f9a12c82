"""The coordinator's page of people: invite, see how far everyone has come, invite again, lock out."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from medjury.foundation.errors import MedjuryError
from medjury.panel._access._forms import Form, form_of
from medjury.panel._access._joining.invitations import open_invitation_until, withdraw_invitations
from medjury.panel._access._joining.inviting import invite, join_address
from medjury.panel._access._people import (
    Person,
    PersonState,
    Role,
    add_person,
    people,
    person_by_id,
    set_disabled,
)
from medjury.panel._access._sessions import end_sessions
from medjury.panel._access._trail import trail
from medjury.panel._access._visitors import person_with
from medjury.panel._look import page
from medjury.panel._panel import Panel

_Coordinator = Annotated[Person, Depends(person_with(Role.COORDINATOR))]
_Form = Annotated[Form, Depends(form_of)]


def add_routes(router: APIRouter, panel: Panel) -> None:
    @router.get("/people")
    def everyone(request: Request, person: _Coordinator) -> Response:
        return _page(request, panel)

    @router.post("/people")
    def add(request: Request, person: _Coordinator, form: _Form) -> Response:
        now = panel.now()
        try:
            role = Role(form.get("role", ""))
        except ValueError:
            return _page(request, panel, problem="Choose a role.", status=400, typed=form)
        try:
            with panel.database.writing() as connection:
                guest = add_person(connection, form.get("name", ""), role, now=now, email=form.get("email"))
                secret = invite(connection, guest, by=person, now=now)
        except MedjuryError as error:
            return _page(request, panel, problem=str(error), status=400, typed=form)
        return _invited(request, panel, guest, secret)

    @router.post("/people/{identity}/invite")
    def again(request: Request, identity: str, person: _Coordinator, form: _Form) -> Response:
        now = panel.now()
        with panel.database.writing() as connection:
            guest = _known(person_by_id(connection, identity))
            secret = invite(connection, guest, by=person, now=now)
        return _invited(request, panel, guest, secret)

    @router.post("/people/{identity}/disable")
    def disable(request: Request, identity: str, person: _Coordinator, form: _Form) -> Response:
        now = panel.now()
        if identity == person.id:
            return _page(request, panel, problem="You cannot lock yourself out.", status=400)
        with panel.database.writing() as connection:
            guest = _known(person_by_id(connection, identity))
            set_disabled(connection, guest, now)
            end_sessions(connection, guest, now)
            withdraw_invitations(connection, guest, now)
            trail(connection, person, "locked out", guest.id, now=now)
        return RedirectResponse("/people", 303)

    @router.post("/people/{identity}/enable")
    def enable(request: Request, identity: str, person: _Coordinator, form: _Form) -> Response:
        with panel.database.writing() as connection:
            guest = _known(person_by_id(connection, identity))
            set_disabled(connection, guest, None)
            trail(connection, person, "let in again", guest.id, now=panel.now())
        return RedirectResponse("/people", 303)


def _known(found: PersonState | None) -> Person:
    if found is None:
        raise HTTPException(404)
    return found.person


def _page(
    request: Request, panel: Panel, *, problem: str = "", status: int = 200, typed: Form | None = None
) -> Response:
    now = panel.now()
    with panel.database.reading() as connection:
        states = people(connection)
        until = {state.person.id: open_invitation_until(connection, state.person, now) for state in states}
    return page(
        request,
        "access/people.html",
        status=status,
        people=states,
        until=until,
        roles=list(Role),
        problem=problem,
        typed=typed or {},
    )


def _invited(request: Request, panel: Panel, guest: Person, secret: str) -> Response:
    """The link is shown once: only its hash is kept."""
    return page(request, "access/invited.html", guest=guest, link=join_address(panel, secret))
