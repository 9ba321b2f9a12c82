"""The rater's page of everything that follows the rating: differences to settle, references to write, questions."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from medjury.panel._access import Person, Role, person_with
from medjury.panel._look import page
from medjury.panel._meeting._items import items_of_person
from medjury.panel._meeting._questions import questions_for
from medjury.panel._meeting._questions._asking import ask_questions, asks_questions
from medjury.panel._meeting._reference import work_of_person
from medjury.panel._meeting._reference._work import STAGES
from medjury.panel._panel import Panel

_Rater = Annotated[Person, Depends(person_with(Role.RATER))]


def add_routes(router: APIRouter, panel: Panel) -> None:
    @router.get("/together")
    def everything(request: Request, person: _Rater) -> Response:
        with panel.database.reading() as connection:
            is_asking = asks_questions(connection)
        if is_asking:
            with panel.database.writing() as connection:
                ask_questions(connection, person.id, panel.now())
        with panel.database.reading() as connection:
            return page(
                request,
                "meeting/together.html",
                items=items_of_person(connection, person.id),
                work=work_of_person(connection, person.id),
                stages=STAGES,
                questions=questions_for(connection, person.id),
            )
