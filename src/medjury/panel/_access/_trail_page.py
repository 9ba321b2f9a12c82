"""The audit trail, for the coordinator."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from medjury.foundation.errors import MedjuryError
from medjury.panel._access._people import Person, Role, people
from medjury.panel._access._trail import about_in_words, check_trail, trail_entries
from medjury.panel._access._visitors import person_with
from medjury.panel._look import page
from medjury.panel._panel import Panel

SHOWN = 500


def add_routes(router: APIRouter, panel: Panel) -> None:
    @router.get("/trail")
    def everything(
        request: Request, person: Annotated[Person, Depends(person_with(Role.COORDINATOR))]
    ) -> Response:
        with panel.database.reading() as connection:
            entries = list(trail_entries(connection, newest=SHOWN))
            names = {state.person.id: state.person.name for state in people(connection)}
            try:
                last, problem = check_trail(connection), ""
            except MedjuryError as error:
                last, problem = None, str(error)
        return page(
            request,
            "access/trail.html",
            entries=entries,
            about=about_in_words,
            names=names,
            problem=problem,
            last=last,
            shown=SHOWN,
        )
