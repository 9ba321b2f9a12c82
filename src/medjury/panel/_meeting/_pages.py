"""The coordinator's page of meetings, the rater's page of everything that follows the rating and of one further
question, and the routes of this part.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import insert

from medjury.foundation.errors import MedjuryError
from medjury.panel._access._people import Person, Role
from medjury.panel._access._trail import trail
from medjury.panel._access._visitors import Coordinator, Rater, SentForm
from medjury.panel._design._rounds import Round, rounds
from medjury.panel._language import _, marked
from medjury.panel._look import NavigationLink, page
from medjury.panel._meeting._differences import (
    RULES,
    close_meeting,
    differences,
    items_of_person,
    meeting_items,
    meeting_of,
    open_meeting,
)
from medjury.panel._meeting._questions import ask_questions, asked_of, questions_for
from medjury.panel._meeting._reference import STAGES, work_of_person
from medjury.panel._meeting._reference_pages import add_panel_routes, add_reference_routes, add_scoring_routes
from medjury.panel._meeting._settling import Overtaken, typed_text
from medjury.panel._meeting._settling_pages import add_decision_routes, add_together_routes, grades_in_short
from medjury.panel._panel import Panel
from medjury.panel._tables import replies_table
from medjury.store.runs import GateRules

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


# A reply to a further question: a new version, or the news that another was saved in the meantime.


def reply(
    connection: Connection, code: str, person: str, version: int, choice: str, why: str, now: datetime
) -> None:
    """Add a version, as the choice was shown."""
    asked = asked_of(connection, code, person, lock=True)
    if asked is None:
        raise LookupError(code)
    if not asked.is_open:
        raise MedjuryError(_("This question can no longer be answered: the raters have met."))
    if choice not in asked.choices:
        raise MedjuryError(_("Choose one of the answers."))
    if (asked.choice, asked.why) == (choice, why) and asked.is_answered:
        return
    if asked.version != version:
        raise Overtaken
    row = {
        "asked": asked.id,
        "version": version + 1,
        "choice": choice,
        "why": why,
        "said_at": now.isoformat(),
    }
    connection.execute(insert(replies_table).values(**row))


_OVERTAKEN = marked(
    "You answered this in another window since you opened it here, so nothing was saved now. Check it and send it "
    "again."
)


def add_question_routes(router: APIRouter, panel: Panel) -> None:
    @router.get("/question/{code}")
    def one(request: Request, code: str, person: Rater) -> Response:
        return _show(request, panel, code, person)

    @router.post("/question/{code}")
    def answer(request: Request, code: str, person: Rater, form: SentForm) -> Response:
        choice, why = form.get("choice", ""), typed_text(form, "why")
        typed = {"choice": choice, "why": why}
        try:
            with panel.database.writing() as connection:
                reply(connection, code, person.id, form.number("version"), choice, why, panel.now())
        except LookupError:
            raise HTTPException(404) from None
        except Overtaken:
            return _show(request, panel, code, person, typed=typed, problem=_(_OVERTAKEN), status=409)
        except MedjuryError as error:
            return _show(request, panel, code, person, typed=typed, problem=str(error), status=400)
        with panel.database.reading() as connection:
            left = [each.code for each in questions_for(connection, person.id) if not each.is_answered]
        return RedirectResponse(f"/question/{left[0]}" if left else "/together", 303)


def _show(
    request: Request,
    panel: Panel,
    code: str,
    person: Person,
    *,
    typed: dict[str, str] | None = None,
    problem: str = "",
    status: int = 200,
) -> Response:
    with panel.database.reading() as connection:
        asked = asked_of(connection, code, person.id)
        codes = [each.code for each in questions_for(connection, person.id)]
    if asked is None:
        raise HTTPException(404)
    return page(
        request,
        "meeting/question.html",
        status=status,
        asked=asked,
        number=codes.index(code) + 1,
        total=len(codes),
        said=typed or {"choice": asked.choice, "why": asked.why},
        problem=problem,
    )


def _add_meetings(router: APIRouter, panel: Panel) -> None:
    @router.get("/meetings")
    def everything(request: Request, person: Coordinator) -> Response:
        return _meetings_page(request, panel)

    @router.post("/meetings/{name}/open")
    def begin(request: Request, name: str, person: Coordinator, form: SentForm) -> Response:
        try:
            with panel.database.writing() as connection:
                round_ = _round(connection, name)
                open_meeting(connection, round_, danger=danger_line(panel), now=panel.now())
                trail(connection, person, "opened the meeting", name, now=panel.now())
        except MedjuryError as error:
            return _meetings_page(request, panel, problem=str(error), status=400)
        return RedirectResponse("/meetings", 303)

    @router.post("/meetings/{name}/close")
    def end(request: Request, name: str, person: Coordinator, form: SentForm) -> Response:
        with panel.database.writing() as connection:
            meeting = meeting_of(connection, _round(connection, name).id)
            if meeting is None:
                raise HTTPException(404)
            close_meeting(connection, meeting, panel.now())
            trail(connection, person, "closed the meeting", name, now=panel.now())
        return RedirectResponse("/meetings", 303)


def danger_line(panel: Panel) -> float:
    """Where the gate of the study draws it, as a share of the scale."""
    return panel.study.settings.gate.danger if panel.study else GateRules().danger


def meeting_states(connection: Connection, danger: float) -> list[dict[str, Any]]:
    """Every round that counts, with its meeting where there is one, and how far its differences are settled;
    `smaller` are those that the rule leaves without a label."""
    found = []
    for round_ in rounds(connection):
        if not round_.counts:
            continue
        meeting = meeting_of(connection, round_.id)
        rule = meeting.differ if meeting else round_.settings["meeting"]["differ"]
        line = meeting.danger if meeting else danger
        listed = len(differences(connection, round_, rule, line))
        smaller = len(differences(connection, round_, "any", line)) - listed
        states = Counter(each.state for each in meeting_items(connection, meeting)) if meeting else {}
        state = {"round": round_, "meeting": meeting, "rule": RULES[rule], "listed": listed}
        found.append({**state, "smaller": smaller, "states": states})
    return found


def _round(connection: Connection, name: str) -> Round:
    found = [each for each in rounds(connection) if each.name == name and each.counts]
    if not found:
        raise HTTPException(404)
    return found[0]


def _meetings_page(request: Request, panel: Panel, *, problem: str = "", status: int = 200) -> Response:
    with panel.database.reading() as connection:
        states = meeting_states(connection, danger_line(panel))
    return page(request, "meeting/meetings.html", status=status, states=states, problem=problem)


def _add_overview(router: APIRouter, panel: Panel) -> None:
    @router.get("/together")
    def everything(request: Request, person: Rater) -> Response:
        with panel.database.reading() as connection:
            is_asking = any(each.settings.get("questions") for each in rounds(connection))
        if is_asking:
            with panel.database.writing() as connection:
                ask_questions(connection, person.id, panel.now())
        with panel.database.reading() as connection:
            items = items_of_person(connection, person.id)
            return page(
                request,
                "meeting/together.html",
                items=items,
                grades=grades_in_short(connection, items),
                work=work_of_person(connection, person.id),
                stages=STAGES,
                questions=questions_for(connection, person.id),
            )


NAVIGATION = (
    NavigationLink("/together", marked("Together"), frozenset({Role.RATER}), order=40),
    NavigationLink("/decisions", "Decisions", frozenset({Role.ADJUDICATOR}), order=10),
    NavigationLink("/meetings", "Meetings", frozenset({Role.COORDINATOR}), order=42),
    NavigationLink("/panels", "Panels", frozenset({Role.COORDINATOR}), order=45),
)


def routes(panel: Panel) -> APIRouter:
    router = APIRouter(include_in_schema=False)
    _add_meetings(router, panel)
    _add_overview(router, panel)
    add_together_routes(router, panel)
    add_decision_routes(router, panel)
    add_panel_routes(router, panel)
    add_reference_routes(router, panel)
    add_scoring_routes(router, panel)
    add_question_routes(router, panel)
    return router
