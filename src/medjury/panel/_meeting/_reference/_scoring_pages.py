"""The panel scores an answer against the reference that it has just written, with the study's instrument."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import Response

from medjury.panel._access import Form, Person, Role, form_of, person_with
from medjury.panel._design import form_of_instrument, read_form
from medjury.panel._look import page
from medjury.panel._meeting._form_texts import typed_version
from medjury.panel._meeting._reference._export import FIELDS
from medjury.panel._meeting._reference._pages import OVERTAKEN, act, own_work
from medjury.panel._meeting._reference._shown import shown_of_work
from medjury.panel._meeting._reference._work import AnswerToScore, CaseWork
from medjury.panel._meeting._reference._writing import write
from medjury.panel._meeting._settling import Overtaken
from medjury.panel._panel import Panel

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

_Rater = Annotated[Person, Depends(person_with(Role.RATER))]
_Form = Annotated[Form, Depends(form_of)]


def add_routes(router: APIRouter, panel: Panel) -> None:
    @router.get("/reference/{code}/answer/{answer}")
    def one(request: Request, code: str, answer: str, person: _Rater) -> Response:
        return _show(request, panel, code, answer, person)

    @router.post("/reference/{code}/answer/{answer}")
    def score(request: Request, code: str, answer: str, person: _Rater, form: _Form) -> Response:
        with panel.database.reading() as connection:
            work, found = _found(connection, code, answer, person)
        read = read_form(form, work.instrument, _questions(work))
        said = {**read.said, "comment": read.comment}
        if read.problems:
            problems = {each.dimension: each.message for each in read.problems}
            return _show(request, panel, code, answer, person, said=said, problems=problems, status=400)

        def change(connection: Connection, work: CaseWork) -> None:
            now, version = panel.now(), typed_version(form)
            write(
                connection,
                work,
                person.id,
                found.part,
                version,
                said,
                now,
                submitted=True,
                outcomes=read.outcomes,
            )

        try:
            return act(
                request, panel, code, person, change, typed={}, told="scored an answer", passes_on=True
            )
        except Overtaken:
            return _show(request, panel, code, answer, person, said=said, problem=OVERTAKEN, status=409)


def _questions(work: CaseWork) -> Any:
    return form_of_instrument(work.instrument)


def _found(connection: Connection, code: str, answer: str, person: Person) -> tuple[CaseWork, AnswerToScore]:
    """Before the panel scores, there is no answer to see."""
    work = own_work(connection, code, person)
    found = [each for each in work.answers if each.code == answer]
    if not found or work.stage not in ("scoring", "done"):
        raise HTTPException(404)
    return work, found[0]


def _show(
    request: Request,
    panel: Panel,
    code: str,
    answer: str,
    person: Person,
    *,
    said: dict[str, Any] | None = None,
    problems: dict[str, str] | None = None,
    problem: str = "",
    status: int = 200,
) -> Response:
    with panel.database.reading() as connection:
        work, found = _found(connection, code, answer, person)
        shown = shown_of_work(connection, work, person.id)
    last = work.last(found.part)
    return page(
        request,
        "meeting/scoring.html",
        status=status,
        work=work,
        shown=shown,
        answer=found,
        number=[each.code for each in work.answers].index(answer) + 1,
        fields=FIELDS,
        questions=_questions(work),
        said=said if said is not None else (last.said if last else {}),
        saved=last.said if last and status == 409 else None,
        version=last.version if last else 0,
        problems=problems or {},
        problem=problem,
    )
