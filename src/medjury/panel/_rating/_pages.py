"""The rater's pages: where I am, one case, and what follows it. Every page works without JavaScript."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from medjury.panel._access import Form, Person, Role, form_of, person_with
from medjury.panel._design import assignment_of, next_code, places
from medjury.panel._look import NavigationLink, page
from medjury.panel._panel import Panel
from medjury.panel._rating import (
    _discussion_page,
    _history_page,
    _rounds_page,
    _saving_pages,
)
from medjury.panel._rating._case_page import case_page, case_values, minutes
from medjury.panel._rating._course import Step, can_join_more, course
from medjury.panel._rating._profile import SENIORITIES, Profile, keep_profile, profile_of, read_profile
from medjury.panel._rating._standing import standing
from medjury.panel._rating._timing import note_opened
from medjury.panel._rating._training import compared_answers

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


NAVIGATION = (
    NavigationLink("/rate", "My cases", frozenset({Role.RATER}), order=10),
    NavigationLink("/rounds", "Rounds", frozenset({Role.COORDINATOR}), order=35),
)
Rater = Annotated[Person, Depends(person_with(Role.RATER))]


def routes(panel: Panel) -> APIRouter:
    router = APIRouter(include_in_schema=False)
    _add_profile(router, panel)
    _discussion_page.add_routes(router, panel)
    _rounds_page.add_routes(router, panel)
    _history_page.add_routes(router, panel)
    _add_home(router, panel)
    _add_case(router, panel)
    _saving_pages.add_routes(router, panel)
    return router


def _add_profile(router: APIRouter, panel: Panel) -> None:
    """Where a rater says who they are, at the first visit and whenever it changes."""

    @router.get("/rate/profile")
    def profile(request: Request, person: Rater) -> Response:
        with panel.database.reading() as connection:
            known = profile_of(connection, person.id)
        typed = {name: str(value) for name, value in asdict(known).items()} if known else {}
        return page(request, "rating/profile.html", typed=typed, seniorities=SENIORITIES, problem="")

    @router.post("/rate/profile")
    def keep(request: Request, person: Rater, form: Annotated[Form, Depends(form_of)]) -> Response:
        read = read_profile(form)
        if not isinstance(read, Profile):
            values = {"typed": form, "seniorities": SENIORITIES, "problem": read}
            return page(request, "rating/profile.html", status=422, **values)
        with panel.database.writing() as connection:
            keep_profile(connection, person.id, read, panel.now())
        return RedirectResponse("/rate", 303)


def _add_home(router: APIRouter, panel: Panel) -> None:
    @router.get("/rate")
    def home(request: Request, person: Rater) -> Response:
        with panel.database.reading() as connection:
            if profile_of(connection, person.id) is None:
                return RedirectResponse("/rate/profile", 303)
            more = can_join_more(connection, person.id)
        if more:
            with panel.database.writing() as connection:
                course(connection, person.id, panel.now())
        with panel.database.reading() as connection:
            steps = course(connection, person.id)
            orders = {step.round.id: places(connection, step.round.id, person.id) for step in steps}
        nexts = {
            identity: next((place.code for place in order if not place.is_finished), None)
            for identity, order in orders.items()
        }
        values: dict[str, Any] = {"steps": steps, "orders": orders, "nexts": nexts, "texts": _texts(steps)}
        return page(request, "rating/home.html", minutes=minutes, **values)


def _add_case(router: APIRouter, panel: Panel) -> None:
    @router.get("/rate/{code}")
    def case(request: Request, code: str, person: Rater, saved: str = "") -> Response:
        now = panel.now()

        def opened(connection: Connection) -> bool:
            if (own := standing(connection, code, person.id)) is not None:
                note_opened(connection, own.assignment, now)
            return own is not None

        if not panel.database.together(opened):
            raise HTTPException(404)
        return case_page(request, panel, code, person.id, notice="Your draft is saved." if saved else "")

    @router.get("/rate/{code}/key")
    def key(request: Request, code: str, person: Rater) -> Response:
        with panel.database.reading() as connection:
            own, assignment = (
                standing(connection, code, person.id),
                assignment_of(connection, code, person.id),
            )
            if own is None or assignment is None or assignment.key is None or not own.is_finished:
                raise HTTPException(404)
            values = case_values(connection, own.round, assignment)
            values["compared"] = compared_answers(connection, own.round, person.id)[code]
            values["following"] = next_code(connection, own.round.id, person.id, code)
        values["reason"] = assignment.key["reason"]
        return page(request, "rating/key.html", minutes=minutes, **values)


def _texts(steps: list[Step]) -> dict[str, Any]:
    return dict(steps[0].round.settings["texts"]) if steps else {"welcome": "", "task": "", "thanks": ""}
