"""The discussion after a calibration round: the spread of grades without names, and remarks on the definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from medjury.panel._access import Form, Person, Role, form_of, person_with
from medjury.panel._design import Round
from medjury.panel._look import page
from medjury.panel._panel import Panel
from medjury.panel._rating._course import course
from medjury.panel._rating._spread import add_remark, discussed_cases, remarks

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

_Rater = Annotated[Person, Depends(person_with(Role.RATER))]
_LONGEST = 2000


def add_routes(router: APIRouter, panel: Panel) -> None:
    @router.get("/rate/discussion/{name}")
    def discussion(request: Request, name: str, person: _Rater) -> Response:
        return _page(request, panel, name, person)

    @router.post("/rate/discussion/{name}")
    def remark(
        request: Request, name: str, person: _Rater, form: Annotated[Form, Depends(form_of)]
    ) -> Response:
        text, dimension = form.get("text", "").strip(), form.get("dimension", "")
        with panel.database.writing() as connection:
            round_ = _discussed(connection, name, person)
            known = dimension in {question.name for question in round_.questions}
            if known and 0 < len(text) <= _LONGEST:
                add_remark(connection, round_, person.id, dimension, text, panel.now())
                return RedirectResponse(request.url.path, 303)
        problem = f"Choose a question and write a remark of at most {_LONGEST:,} letters."
        return _page(request, panel, name, person, problem=problem, typed=text)


def _page(
    request: Request, panel: Panel, name: str, person: Person, *, problem: str = "", typed: str = ""
) -> Response:
    with panel.database.reading() as connection:
        round_ = _discussed(connection, name, person)
        cases, said = discussed_cases(connection, round_, person.id), remarks(connection, round_)
    values = {"round": round_, "cases": cases, "remarks": said, "problem": problem, "typed": typed}
    return page(request, "rating/discussion.html", status=422 if problem else 200, **values)


def _discussed(connection: Connection, name: str, person: Person) -> Round:
    """The round, where it is being discussed and the rater takes part."""
    for step in course(connection, person.id):
        if step.round.name == name and step.state == "discussion":
            return step.round
    raise HTTPException(404)
