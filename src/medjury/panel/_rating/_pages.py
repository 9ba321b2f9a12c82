"""The rater's pages: where I am, one case, and what follows it. Every page works without JavaScript."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response
from sqlalchemy import func, update

from medjury.panel._access import Form, Person, Role, form_of, person_with
from medjury.panel._design import (
    Assignment,
    Round,
    assignment_of,
    places,
    read_form,
    round_by_id,
    said_in,
)
from medjury.panel._design._tables import assignments_table
from medjury.panel._look import NavigationLink, page
from medjury.panel._panel import Panel
from medjury.panel._rating import _discussion_page, _profile_page
from medjury.panel._rating._case_page import case_values, minutes, next_code
from medjury.panel._rating._course import Step, can_join_more, course
from medjury.panel._rating._profile import profile_of
from medjury.panel._rating._saving import Entry, Saved, Stale, save
from medjury.panel._rating._timing import note_opened, note_sign_of_life
from medjury.panel._rating._training import compared_answers, conclude_training

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

NAVIGATION = (NavigationLink("/rate", "My cases", frozenset({Role.RATER}), order=10),)
Rater = Annotated[Person, Depends(person_with(Role.RATER))]
SentForm = Annotated[Form, Depends(form_of)]
_CLOSED = "This round is closed, so nothing was saved. Ask the coordinator if it should be opened again."
_KEY_SHOWN = "You have seen the key of this case, so your answer stays as it is."


def routes(panel: Panel) -> APIRouter:
    router = APIRouter(include_in_schema=False)
    _profile_page.add_routes(router, panel)
    _discussion_page.add_routes(router, panel)
    _add_home(router, panel)
    _add_case(router, panel)
    _add_saving(router, panel)
    return router


def _add_home(router: APIRouter, panel: Panel) -> None:
    @router.get("/rate")
    def home(request: Request, person: Rater) -> Response:
        with panel.database.reading() as connection:
            if profile_of(connection, person.id) is None:
                return RedirectResponse("/rate/profile", 303)
            more = can_join_more(connection, person.id)
            steps = course(connection, person.id)
        if more:
            with panel.database.writing() as connection:
                steps = course(connection, person.id, panel.now())
        with panel.database.reading() as connection:
            orders = {step.round.id: places(connection, step.round.id, person.id) for step in steps}
        nexts = {
            step.round.id: next(
                (place.code for place in orders[step.round.id] if not place.is_finished), None
            )
            for step in steps
        }
        return page(
            request,
            "rating/home.html",
            steps=steps,
            orders=orders,
            nexts=nexts,
            minutes=minutes,
            texts=_texts(steps),
        )


def _add_case(router: APIRouter, panel: Panel) -> None:
    @router.get("/rate/{code}")
    def case(request: Request, code: str, person: Rater, stale: str = "", saved: str = "") -> Response:
        now = panel.now()
        with panel.database.writing() as connection:
            round_, assignment = _mine(connection, code, person)
            note_opened(connection, assignment.id, now)
            _note_begun(connection, assignment, now)
            notice = "Your draft is saved." if saved else ""
            values = case_values(connection, round_, assignment, notice=notice)
        return page(request, "rating/case.html", minutes=minutes, status=200, **values)

    @router.get("/rate/{code}/key")
    def key(request: Request, code: str, person: Rater) -> Response:
        with panel.database.reading() as connection:
            round_, assignment = _mine(connection, code, person)
            compared = compared_answers(connection, round_, person.id) if round_.kind == "training" else {}
            if assignment.key is None or code not in compared:
                raise HTTPException(404)
            values = case_values(connection, round_, assignment)
            following = next_code(connection, round_, person.id, code)
        reason = assignment.key["reason"]
        return page(
            request,
            "rating/key.html",
            compared=compared[code],
            reason=reason,
            following=following,
            minutes=minutes,
            **values,
        )


def _add_saving(router: APIRouter, panel: Panel) -> None:
    @router.post("/rate/{code}")
    def send(request: Request, code: str, person: Rater, form: SentForm) -> Response:
        now, submitted = panel.now(), form.get("action") != "save"
        with panel.database.writing() as connection:
            round_, assignment = _mine(connection, code, person)
            if (refusal := _refusal(round_, assignment)) is not None:
                values = case_values(connection, round_, assignment, notice=refusal)
                return page(request, "rating/case.html", minutes=minutes, status=409, **values)
            read = read_form(form, round_.instrument, round_.questions)
            typed = {"said": read.said, "comment": read.comment}
            if submitted and read.problems:
                values = case_values(connection, round_, assignment, problems=read.problems, **typed)
                values["version"] = _version(form)
                return page(request, "rating/case.html", minutes=minutes, status=422, **values)
            entry = Entry(_version(form), read.said, read.comment, read.outcomes if submitted else None)
            done = save(connection, assignment.id, round_, entry, now)
            if isinstance(done, Stale):
                values = case_values(connection, round_, assignment, notice=_stale_words(done), **typed)
                return page(request, "rating/case.html", minutes=minutes, status=409, **values)
            if not submitted:
                return RedirectResponse(f"/rate/{code}?saved=1", 303)
            following = next_code(connection, round_, person.id, code)
            if round_.kind == "training":
                if following is None:
                    conclude_training(connection, round_, person.id, now)
                return RedirectResponse(f"/rate/{code}/key", 303)
        return RedirectResponse(f"/rate/{following}" if following else "/rate", 303)

    @router.post("/rate/{code}/draft")
    def draft(code: str, person: Rater, form: SentForm) -> Response:
        with panel.database.writing() as connection:
            round_, assignment = _mine(connection, code, person)
            if (refusal := _refusal(round_, assignment)) is not None:
                return JSONResponse({"message": refusal}, 409)
            said, comment = said_in(form, round_.questions)
            done = save(connection, assignment.id, round_, Entry(_version(form), said, comment), panel.now())
        if isinstance(done, Saved):
            return JSONResponse({"version": done.version})
        return JSONResponse({"message": _stale_words(done)}, 409)

    @router.post("/rate/{code}/here")
    def here(code: str, person: Rater, form: SentForm) -> Response:
        with panel.database.writing() as connection:
            _, assignment = _mine(connection, code, person)
            note_sign_of_life(connection, assignment.id, panel.now())
        return Response(status_code=204)


def _mine(connection: Connection, code: str, person: Person) -> tuple[Round, Assignment]:
    """The rater's own case. Another's, and one that does not exist, are answered alike."""
    assignment = assignment_of(connection, code, person.id)
    if assignment is None:
        raise HTTPException(404)
    round_ = round_by_id(connection, assignment.round)
    steps = {step.round.id: step.state for step in course(connection, person.id)}
    if steps.get(round_.id) in (None, "locked"):
        raise HTTPException(404)
    return round_, assignment


def _refusal(round_: Round, assignment: Assignment) -> str | None:
    if round_.state != "open":
        return _CLOSED
    return _KEY_SHOWN if round_.kind == "training" and assignment.is_finished else None


def _note_begun(connection: Connection, assignment: Assignment, now: datetime) -> None:
    table = assignments_table
    begun = func.coalesce(table.c.opened_at, now.isoformat())
    connection.execute(update(table).where(table.c.id == assignment.id).values(opened_at=begun))


def _version(form: Form) -> int:
    """What the form was based on; what is no number is older than anything."""
    text = form.get("version", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1


def _stale_words(stale: Stale) -> str:
    at = datetime.fromisoformat(stale.saved_at).strftime("%H:%M")
    return (
        f"This case was saved at {at} UTC from another tab or device. What you see below is not saved yet: send it "
        "again to keep it. The other version stays in the history."
    )


def _texts(steps: list[Step]) -> dict[str, Any]:
    return dict(steps[0].round.settings["texts"]) if steps else {"welcome": "", "task": "", "thanks": ""}
