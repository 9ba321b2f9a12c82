"""The adjudicator's pages: what raters could not settle, and the decision with its reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from medjury.panel._access import Form, Person, Role, form_of, person_with, trail
from medjury.panel._design import Problem, Said
from medjury.panel._look import page
from medjury.panel._meeting._difference import difference_of
from medjury.panel._meeting._form_texts import typed_version
from medjury.panel._meeting._items import MeetingItem, item_by_code, items_for_adjudicator
from medjury.panel._meeting._settling import Overtaken, decide, read_settled
from medjury.panel._meeting._together_pages import OVERTAKEN
from medjury.panel._panel import Panel

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

_Adjudicator = Annotated[Person, Depends(person_with(Role.ADJUDICATOR))]
_Form = Annotated[Form, Depends(form_of)]


def add_routes(router: APIRouter, panel: Panel) -> None:
    @router.get("/decisions")
    def everything(request: Request, person: _Adjudicator) -> Response:
        with panel.database.reading() as connection:
            items = items_for_adjudicator(connection)
        return page(request, "meeting/decisions.html", items=items)

    @router.get("/decisions/{code}")
    def one(request: Request, code: str, person: _Adjudicator) -> Response:
        with panel.database.reading() as connection:
            return _page(request, connection, _sent(connection, code), person)

    @router.post("/decisions/{code}")
    def enter(request: Request, code: str, person: _Adjudicator, form: _Form) -> Response:
        with panel.database.reading() as connection:
            item = _sent(connection, code)
            shown = difference_of(connection, item, person.id)
            read = read_settled(form, shown.round.instrument, item, shown.rated)
            if read.problems:
                return _page(
                    request, connection, item, person, said=read.said, problems=read.problems, status=400
                )
        try:
            with panel.database.writing() as connection:
                decide(connection, code, person.id, typed_version(form), read, panel.now())
                trail(connection, person, "decided", code, now=panel.now())
        except Overtaken:
            with panel.database.reading() as connection:
                item = _sent(connection, code)
                return _page(request, connection, item, person, said=read.said, problem=OVERTAKEN, status=409)
        return RedirectResponse(f"/decisions/{code}", 303)


def _sent(connection: Connection, code: str) -> MeetingItem:
    item = item_by_code(connection, code)
    if item is None or item.state not in ("adjudicator", "adjudicated"):
        raise HTTPException(404)
    return item


def _page(
    request: Request,
    connection: Connection,
    item: MeetingItem,
    person: Person,
    *,
    said: Said | None = None,
    problems: tuple[Problem, ...] = (),
    problem: str = "",
    status: int = 200,
) -> Response:
    shown = difference_of(connection, item, person.id)
    mine = [each.code for each in items_for_adjudicator(connection)]
    place = mine.index(item.code)
    return page(
        request,
        "meeting/decision.html",
        status=status,
        shown=shown,
        item=item,
        last=shown.decisions[-1] if shown.decisions else None,
        said=said if said is not None else (item.decision.said if item.decision else {}),
        problems={each.dimension: each.message for each in problems},
        problem=problem,
        number=place + 1,
        total=len(mine),
        following=mine[place + 1] if place + 1 < len(mine) else None,
    )
