"""The pages of panels that write references: the members' (reading alone, writing together, the routine diagnosis,
scoring the answers), and the coordinator's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from medjury.foundation.errors import MedjuryError
from medjury.panel._access._people import Person, Role, names_of_people, people
from medjury.panel._access._trail import trail
from medjury.panel._access._visitors import Coordinator, Form, Rater, SentForm
from medjury.panel._design._form import form_of_instrument, labelled, read_form
from medjury.panel._language import _, marked
from medjury.panel._look import page
from medjury.panel._meeting._reference import (
    ROUTINE,
    STAGES,
    TOGETHER,
    AnswerToScore,
    CaseWork,
    all_work,
    alone,
    begin_meeting,
    cases_without_panel,
    go_on,
    make_panel,
    reference_panels,
    shown_of_work,
    work_by_code,
    write,
)
from medjury.panel._meeting._reference_files import FIELDS, case_names
from medjury.panel._meeting._settling import Overtaken, typed_text
from medjury.panel._panel import Panel
from medjury.panel._tables import reference_work_table

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


_Change = Callable[["Connection", CaseWork], None]
_OVERTAKEN = marked(
    "Another member saved something for this case while you had it open, so nothing of yours was saved. What you "
    "typed is kept below. Look at both, then send it again where it still fits."
)


def add_reference_routes(router: APIRouter, panel: Panel) -> None:
    @router.get("/reference/{code}")
    def one(request: Request, code: str, person: Rater) -> Response:
        return show(request, panel, code, person)

    @router.post("/reference/{code}/alone")
    def write_alone(request: Request, code: str, person: Rater, form: SentForm) -> Response:
        return _write_texts(request, panel, code, person, form, alone(person.id), "wrote alone")

    @router.post("/reference/{code}/begin")
    def begin(request: Request, code: str, person: Rater, form: SentForm) -> Response:
        def change(connection: Connection, work: CaseWork) -> None:
            begin_meeting(connection, work, person.id, panel.now())

        return act(request, panel, code, person, change, what="began the panel's meeting")

    @router.post("/reference/{code}/together")
    def write_together(request: Request, code: str, person: Rater, form: SentForm) -> Response:
        return _write_texts(request, panel, code, person, form, TOGETHER, "wrote the reference")

    @router.post("/reference/{code}/routine")
    def routine(request: Request, code: str, person: Rater, form: SentForm) -> Response:
        said = {"agrees": form.get("agrees", ""), "why": typed_text(form, "why")}
        problem = ""
        if said["agrees"] not in ("yes", "no"):
            problem = _("Say whether you agree with the routine diagnosis.")
        elif said["agrees"] == "no" and not said["why"]:
            problem = _("Say in a few words why you do not agree.")
        if problem:
            return show(request, panel, code, person, typed=said, problem=problem, status=400)

        def change(connection: Connection, work: CaseWork) -> None:
            now, version = panel.now(), form.number("version")
            write(connection, work, person.id, ROUTINE, version, said, now)
            go_on(connection, work, person.id, now, to=work.following)

        return act(request, panel, code, person, change, typed=said, what="judged the routine diagnosis")

    @router.post("/reference/{code}/finish")
    def finish(request: Request, code: str, person: Rater, form: SentForm) -> Response:
        def change(connection: Connection, work: CaseWork) -> None:
            if not work.all_scored:
                raise MedjuryError(_("Some answers have no grades yet. Score them first."))
            go_on(connection, work, person.id, panel.now(), to="done")

        return act(request, panel, code, person, change, what="finished a case")


def _write_texts(
    request: Request, panel: Panel, code: str, person: Person, form: Form, part: str, what: str
) -> Response:
    """A draft of one part, or the part handed in; what was written together is then the reference."""
    said, submitted = {name: typed_text(form, name) for name in FIELDS}, form.get("do") == "submit"
    lacking = ", ".join(_labels()[name] for name in ("primary", "reasoning") if not said[name])
    if submitted and lacking:
        problem = _("Still missing: %(what)s. Nothing was handed in yet.", what=lacking)
        return show(request, panel, code, person, typed=said, problem=problem, status=400)

    def change(connection: Connection, work: CaseWork) -> None:
        now, version = panel.now(), form.number("version")
        write(connection, work, person.id, part, version, said, now, submitted=submitted)
        if submitted and part == TOGETHER:
            go_on(connection, work, person.id, now, to=work.following)

    return act(request, panel, code, person, change, typed=said, what=what if submitted else "")


def act(
    request: Request,
    panel: Panel,
    code: str,
    person: Person,
    change: _Change,
    *,
    typed: Mapping[str, Any] | None = None,
    what: str,
    passes_on: bool = False,
) -> Response:
    """Do it in one transaction and show the case again; where somebody was quicker, with what was typed."""
    try:
        with panel.database.writing() as connection:
            work = work_by_code(connection, code, lock=True)  # nobody else's until the transaction ends
            if work is None or person.id not in work.panel.members:
                raise HTTPException(404)
            change(connection, work)
            if what:
                trail(connection, person, what, code, now=panel.now())
    except Overtaken:
        if passes_on:
            raise
        return show(request, panel, code, person, unsaved=typed, problem=_(_OVERTAKEN), status=409)
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
        record=labelled(work.shown, work.shown_instrument),
        fields=_labels(),
        said=typed if typed is not None else shown["said"],
        unsaved={_labels().get(name, name): text for name, text in (unsaved or {}).items() if text},
        problem=problem,
    )


def _labels() -> dict[str, str]:
    return {name: _(label) for name, label in FIELDS.items()}


def add_scoring_routes(router: APIRouter, panel: Panel) -> None:
    @router.get("/reference/{code}/answer/{answer}")
    def one(request: Request, code: str, answer: str, person: Rater) -> Response:
        return _show_answer(request, panel, code, answer, person)

    @router.post("/reference/{code}/answer/{answer}")
    def score(request: Request, code: str, answer: str, person: Rater, form: SentForm) -> Response:
        with panel.database.reading() as connection:
            work, found = _found(connection, code, answer, person)
        read = read_form(form, work.instrument, form_of_instrument(work.shown_instrument))
        said = {**read.said, "comment": read.comment}
        if read.problems:
            return _show_answer(
                request, panel, code, answer, person, said=said, problems=read.problems, status=400
            )

        def change(connection: Connection, work: CaseWork) -> None:
            now, version = panel.now(), form.number("version")
            write(connection, work, person.id, found.part, version, said, now, outcomes=read.outcomes)

        try:
            return act(request, panel, code, person, change, what="scored an answer", passes_on=True)
        except Overtaken:
            return _show_answer(
                request, panel, code, answer, person, said=said, problem=_(_OVERTAKEN), status=409
            )


def _found(connection: Connection, code: str, answer: str, person: Person) -> tuple[CaseWork, AnswerToScore]:
    """Before the panel scores, there is no answer to see."""
    work = own_work(connection, code, person)
    found = [each for each in work.answers if each.code == answer]
    if not found or work.stage not in ("scoring", "done"):
        raise HTTPException(404)
    return work, found[0]


def _show_answer(
    request: Request,
    panel: Panel,
    code: str,
    answer: str,
    person: Person,
    *,
    said: dict[str, Any] | None = None,
    problems: Mapping[str, str] | None = None,
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
        record=labelled(work.shown, work.shown_instrument),
        answer=found,
        answer_shown=labelled(found.shown, work.shown_instrument),
        number=[each.code for each in work.answers].index(answer) + 1,
        fields=_labels(),
        questions=form_of_instrument(work.shown_instrument),
        said=said if said is not None else (last.said if last else {}),
        saved=last.said if last and status == 409 else None,
        version=last.version if last else 0,
        problems=problems or {},
        problem=problem,
    )


def add_panel_routes(router: APIRouter, panel: Panel) -> None:
    @router.get("/panels")
    def everything(request: Request, person: Coordinator) -> Response:
        return _panels_page(request, panel)

    @router.post("/panels")
    def make(request: Request, person: Coordinator, form: SentForm) -> Response:
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
            return _panels_page(request, panel, problem=str(error), typed=form, status=400)
        return RedirectResponse("/panels", 303)

    @router.post("/panels/{code}/open")
    def open_early(request: Request, code: str, person: Coordinator, form: SentForm) -> Response:
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
    return [each for each in states if each.role == Role.RATER and not each.disabled_at]


def _names(panel: Panel) -> bool:
    return panel.study.settings.panel.meeting.names if panel.study else False


def _panels_page(
    request: Request, panel: Panel, *, problem: str = "", typed: Form | None = None, status: int = 200
) -> Response:
    with panel.database.reading() as connection:
        raters, free = _raters(connection), list(cases_without_panel(connection))
        panels = reference_panels(connection)
        work = all_work(connection, reference_work_table.c.id.is_not(None))
        cases = case_names(connection)
        names = names_of_people(connection)
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
