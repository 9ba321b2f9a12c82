"""The page on which a rater says who they are, at the first visit and whenever it changes."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from medjury.panel._access import Form, Person, Role, form_of, person_with
from medjury.panel._look import page
from medjury.panel._panel import Panel
from medjury.panel._rating._profile import SENIORITIES, Profile, keep_profile, profile_of, read_profile

_Rater = Annotated[Person, Depends(person_with(Role.RATER))]


def add_routes(router: APIRouter, panel: Panel) -> None:
    @router.get("/rate/profile")
    def profile(request: Request, person: _Rater) -> Response:
        with panel.database.reading() as connection:
            known = profile_of(connection, person.id)
        typed = {name: str(value) for name, value in asdict(known).items()} if known else {}
        return page(request, "rating/profile.html", typed=typed, seniorities=SENIORITIES, problem="")

    @router.post("/rate/profile")
    def keep(request: Request, person: _Rater, form: Annotated[Form, Depends(form_of)]) -> Response:
        read = read_profile(form)
        if not isinstance(read, Profile):
            values = {"typed": form, "seniorities": SENIORITIES, "problem": read}
            return page(request, "rating/profile.html", status=422, **values)
        with panel.database.writing() as connection:
            keep_profile(connection, person.id, read, panel.now())
        return RedirectResponse("/rate", 303)
