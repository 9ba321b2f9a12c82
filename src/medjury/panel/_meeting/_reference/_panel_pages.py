"""The coordinator's page of panels: make one, see how far each case has come, open a meeting early."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from medjury.foundation.errors import MedjuryError
from medjury.panel._access import Form, Person, Role, form_of, people, person_with, trail
from medjury.panel._look import page
from medjury.panel._meeting._reference._export import case_names
from medjury.panel._meeting._reference._panels import cases_without_panel, make_panel, reference_panels
from medjury.panel._meeting._reference._work import STAGES, CaseWork, all_work, work_by_code
from medjury.panel._meeting._reference._writing import go_on
from medjury.panel._meeting._tables import reference_work_table
from medjury.panel._panel import Panel

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

_Coordinator = Annotated[Person, Depends(person_with(Role.COORDINATOR))]
_Form = Annotated[Form, Depends(form_of)]


def add_routes(router: APIRouter, panel: Panel) -> None:
    @router.get("/panels")
    def everything(request: Request, person: _Coordinator) -> Response:
        return _page(request, panel)

    @router.post("/panels")
    def make(request: Request, person: _Coordinator, form: _Form) -> Response:
        cases = [line.strip() for line in form.get("cases", "").splitlines() if line.strip()]
        try:
            with panel.database.writing() as connection:
                raters = {each.id: each for each in _raters(connection)}
                chosen = [raters[each] for each in dict.fromkeys(form.all("member")) if each in raters]
                made = make_panel(
                    connection,
                    form.get("name", ""),
                    chosen,
                    cases=cases,
                    names=_names(panel),
                    now=panel.now(),
                )
                trail(connection, person, "made a panel", made.name, now=panel.now())
        except MedjuryError as error:
            return _page(request, panel, problem=str(error), typed=form, status=400)
        return RedirectResponse("/panels", 303)

    @router.post("/panels/{code}/open")
    def open_early(request: Request, code: str, person: _Coordinator, form: _Form) -> Response:
        with panel.database.writing() as connection:
            work = work_by_code(connection, code, lock=True)
            if work is None:
                raise HTTPException(404)
            if work.stage == "alone":
                go_on(connection, work, person.id, panel.now(), to="together")
                trail(connection, person, "opened a panel's meeting early", code, now=panel.now())
        return RedirectResponse("/panels", 303)


def _raters(connection: Connection) -> list[Person]:
    states = people(connection)
    return [each.person for each in states if each.person.role == Role.RATER and not each.disabled_at]


def _names(panel: Panel) -> bool:
    return panel.study.settings.panel.meeting.names if panel.study else False


def _page(
    request: Request, panel: Panel, *, problem: str = "", typed: Form | None = None, status: int = 200
) -> Response:
    with panel.database.reading() as connection:
        raters, free = _raters(connection), list(cases_without_panel(connection))
        panels = reference_panels(connection)
        work = all_work(connection, reference_work_table.c.id.is_not(None))
        cases = case_names(connection)
        names = {each.person.id: each.person.name for each in people(connection)}
    by_panel: dict[int, list[CaseWork]] = {each.id: [] for each in panels}
    for each in work:
        by_panel[each.panel.id].append(each)
    return page(
        request,
        "meeting/panels.html",
        status=status,
        panels=panels,
        by_panel=by_panel,
        counts={key: Counter(each.stage for each in own) for key, own in by_panel.items()},
        stages=STAGES,
        names=names,
        cases=cases,
        raters=raters,
        free=free,
        chosen=typed.all("member") if typed else [],
        typed=typed or {},
        problem=problem,
    )
