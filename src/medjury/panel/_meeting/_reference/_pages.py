"""The members' pages: reading alone, writing together, the routine diagnosis, and scoring the answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from medjury.foundation.errors import MedjuryError
from medjury.panel._access import Form, Person, Role, form_of, person_with, trail
from medjury.panel._look import page
from medjury.panel._meeting._form_texts import typed_text, typed_version
from medjury.panel._meeting._reference._export import FIELDS
from medjury.panel._meeting._reference._shown import shown_of_work
from medjury.panel._meeting._reference._work import ROUTINE, TOGETHER, CaseWork, alone, work_by_code
from medjury.panel._meeting._reference._writing import begin_meeting, go_on, opened_for, write
from medjury.panel._meeting._settling import Overtaken
from medjury.panel._panel import Panel

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

_Rater = Annotated[Person, Depends(person_with(Role.RATER))]
_Form = Annotated[Form, Depends(form_of)]
_Change = Callable[["Connection", CaseWork], None]
OVERTAKEN = (
    "Another member saved something for this case while you had it open, so nothing of yours was saved. What you "
    "typed is kept below. Look at both, then send it again where it still fits."
)


def add_routes(router: APIRouter, panel: Panel) -> None:
    @router.get("/reference/{code}")
    def one(request: Request, code: str, person: _Rater) -> Response:
        return show(request, panel, code, person)

    @router.post("/reference/{code}/alone")
    def write_alone(request: Request, code: str, person: _Rater, form: _Form) -> Response:
        said, submitted = _texts(form), form.get("do") == "submit"
        if submitted and (problem := _lacks(said)):
            return show(request, panel, code, person, typed=said, problem=problem, status=400)

        def change(connection: Connection, work: CaseWork) -> None:
            part, version = alone(person.id), typed_version(form)
            write(connection, work, person.id, part, version, said, panel.now(), submitted=submitted)

        told = "wrote alone" if submitted else ""
        return act(request, panel, code, person, change, typed=said, told=told)

    @router.post("/reference/{code}/begin")
    def begin(request: Request, code: str, person: _Rater, form: _Form) -> Response:
        def change(connection: Connection, work: CaseWork) -> None:
            begin_meeting(connection, work, person.id, panel.now())

        return act(request, panel, code, person, change, typed={}, told="began the panel's meeting")

    @router.post("/reference/{code}/together")
    def write_together(request: Request, code: str, person: _Rater, form: _Form) -> Response:
        said, submitted = _texts(form), form.get("do") == "submit"
        if submitted and (problem := _lacks(said)):
            return show(request, panel, code, person, typed=said, problem=problem, status=400)

        def change(connection: Connection, work: CaseWork) -> None:
            now = panel.now()
            write(connection, work, person.id, TOGETHER, typed_version(form), said, now, submitted=submitted)
            if submitted:
                go_on(connection, work, person.id, now, to=work.following)

        told = "wrote the reference" if submitted else ""
        return act(request, panel, code, person, change, typed=said, told=told)

    @router.post("/reference/{code}/routine")
    def routine(request: Request, code: str, person: _Rater, form: _Form) -> Response:
        said = {"agrees": form.get("agrees", ""), "why": typed_text(form, "why")}
        problem = ""
        if said["agrees"] not in ("yes", "no"):
            problem = "Say whether you agree with the routine diagnosis."
        elif said["agrees"] == "no" and not said["why"]:
            problem = "Say in a few words why you do not agree."
        if problem:
            return show(request, panel, code, person, typed=said, problem=problem, status=400)

        def change(connection: Connection, work: CaseWork) -> None:
            now, version = panel.now(), typed_version(form)
            write(connection, work, person.id, ROUTINE, version, said, now, submitted=True)
            go_on(connection, work, person.id, now, to=work.following)

        return act(request, panel, code, person, change, typed=said, told="judged the routine diagnosis")

    @router.post("/reference/{code}/finish")
    def finish(request: Request, code: str, person: _Rater, form: _Form) -> Response:
        def change(connection: Connection, work: CaseWork) -> None:
            if not work.all_scored:
                raise MedjuryError("Some answers have no grades yet. Score them first.")
            go_on(connection, work, person.id, panel.now(), to="done")

        return act(request, panel, code, person, change, typed={}, told="finished a case")


def act(
    request: Request,
    panel: Panel,
    code: str,
    person: Person,
    change: _Change,
    *,
    typed: Mapping[str, Any],
    told: str,
    passes_on: bool = False,
) -> Response:
    """Do it in one transaction and show the case again; where somebody was quicker, with what was typed."""
    try:
        with panel.database.writing() as connection:
            change(connection, opened_for(connection, code, person.id))
            if told:
                trail(connection, person, told, code, now=panel.now())
    except LookupError:
        raise HTTPException(404) from None
    except Overtaken:
        if passes_on:
            raise
        return show(request, panel, code, person, unsaved=typed, problem=OVERTAKEN, status=409)
    return RedirectResponse(f"/reference/{code}", 303)


def own_work(connection: Connection, code: str, person: Person) -> CaseWork:
    """Whoever is not on the panel does not learn that there is such a case."""
    work = work_by_code(connection, code)
    if work is None or person.id not in work.panel.members:
        raise HTTPException(404)
    return work


def show(
    request: Request,
    panel: Panel,
    code: str,
    person: Person,
    *,
    typed: Mapping[str, Any] | None = None,
    unsaved: Mapping[str, Any] | None = None,
    problem: str = "",
    status: int = 200,
) -> Response:
    with panel.database.reading() as connection:
        work = own_work(connection, code, person)
        shown = shown_of_work(connection, work, person.id)
    return page(
        request,
        "meeting/reference.html",
        status=status,
        work=work,
        shown=shown,
        fields=FIELDS,
        said=typed if typed is not None else shown.said,
        unsaved={FIELDS.get(name, name): text for name, text in (unsaved or {}).items() if text},
        problem=problem,
    )


def _texts(form: Mapping[str, str]) -> dict[str, str]:
    return {name: typed_text(form, name) for name in FIELDS}


def _lacks(said: Mapping[str, str]) -> str:
    lacking = [FIELDS[name].lower() for name in ("primary", "reasoning") if not said[name]]
    return f"Still missing: {' and '.join(lacking)}. Nothing was handed in yet." if lacking else ""
