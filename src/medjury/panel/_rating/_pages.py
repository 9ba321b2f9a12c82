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
    next_code,
    places,
    read_form,
    round_by_id,
    said_in,
)
from medjury.panel._design._tables import assignments_table
from medjury.panel._look import NavigationLink, page
from medjury.panel._panel import Panel
from medjury.panel._rating import _discussion_page, _history_page, _profile_page, _rounds_page
from medjury.panel._rating._case_page import case_values, minutes
from medjury.panel._rating._course import Step, can_join_more, course, is_reached
from medjury.panel._rating._profile import profile_of
from medjury.panel._rating._saving import Closed, Entry, Saved, Stale, save
from medjury.panel._rating._timing import note_opened, note_sign_of_life
from medjury.panel._rating._training import compared_answers, conclude_training

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

NAVIGATION = (
    NavigationLink("/rate", "My cases", frozenset({Role.RATER}), order=10),
    NavigationLink("/rounds", "Rounds", frozenset({Role.COORDINATOR}), order=35),
)
Rater = Annotated[Person, Depends(person_with(Role.RATER))]
SentForm = Annotated[Form, Depends(form_of)]
_CLOSED = "This round is closed, so nothing was saved. Ask the coordinator if it should be opened again."
_KEY_SHOWN = "You have seen the key of this case, so your answer stays as it is."


def routes(panel: Panel) -> APIRouter:
    router = APIRouter(include_in_schema=False)
    _profile_page.add_routes(router, panel)
    _discussion_page.add_routes(router, panel)
    _rounds_page.add_routes(router, panel)
    _history_page.add_routes(router, panel)
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
        if more:
            with panel.database.writing() as connection:
                course(connection, person.id, panel.now())
        with panel.database.reading() as connection:
            steps = course(connection, person.id)
            orders = {step.round.id: places(connection, step.round.id, person.id) for step in steps}
        nexts = {
            identity: next((place.code for place in order if not place.is_finished), None)
            for identity, order in orders.items()
        }
        values: dict[str, Any] = {"steps": steps, "orders": orders, "nexts": nexts, "texts": _texts(steps)}
        return page(request, "rating/home.html", minutes=minutes, **values)


def _add_case(router: APIRouter, panel: Panel) -> None:
    @router.get("/rate/{code}")
    def case(request: Request, code: str, person: Rater, saved: str = "") -> Response:
        now = panel.now()
        with panel.database.writing() as connection:
            _, assignment = _mine(connection, code, person)
            note_opened(connection, assignment.id, now)
            _note_begun(connection, assignment, now)
        return _case_page(request, panel, code, person, notice="Your draft is saved." if saved else "")

    @router.get("/rate/{code}/key")
    def key(request: Request, code: str, person: Rater) -> Response:
        with panel.database.reading() as connection:
            round_, assignment = _mine(connection, code, person)
            if assignment.key is None or not assignment.is_finished:
                raise HTTPException(404)
            values = case_values(connection, round_, assignment)
            values["compared"] = compared_answers(connection, round_, person.id)[code]
            values["following"] = next_code(connection, round_.id, person.id, code)
        values["reason"] = assignment.key["reason"]
        return page(request, "rating/key.html", minutes=minutes, **values)


def _add_saving(router: APIRouter, panel: Panel) -> None:
    @router.post("/rate/{code}")
    def send(request: Request, code: str, person: Rater, form: SentForm) -> Response:
        now, submitted = panel.now(), form.get("action") != "save"
        with panel.database.writing() as connection:
            round_, assignment = _mine(connection, code, person, hold=True)
            read = read_form(form, round_.instrument, round_.questions)
            refusal = _refusal(round_, assignment)
            done: Saved | Stale | Closed | None = None
            if refusal is None and not (submitted and read.problems):
                entry = Entry(_version(form), read.said, read.comment, read.outcomes if submitted else None)
                done = save(connection, assignment.id, round_, entry, now)
                following = next_code(connection, round_.id, person.id, code)
                if round_.kind == "training" and submitted and following is None:
                    conclude_training(connection, round_, person.id, now)
        if not isinstance(done, Saved):
            status = 422 if refusal is None and done is None else 409
            notice = refusal or ""
            if isinstance(done, Stale | Closed):
                notice = _stale_words(done) if isinstance(done, Stale) else _CLOSED
            problems = read.problems if status == 422 else ()
            typed = {"said": read.said, "comment": read.comment, "problems": problems, "notice": notice}
            return _case_page(request, panel, code, person, status=status, **typed)
        if not submitted:
            return RedirectResponse(f"/rate/{code}?saved=1", 303)
        if round_.kind == "training":
            return RedirectResponse(f"/rate/{code}/key", 303)
        return RedirectResponse(f"/rate/{following}" if following else "/rate", 303)

    @router.post("/rate/{code}/draft")
    def draft(code: str, person: Rater, form: SentForm) -> Response:
        with panel.database.writing() as connection:
            round_, assignment = _mine(connection, code, person, hold=True)
            if (refusal := _refusal(round_, assignment)) is not None:
                return JSONResponse({"message": refusal}, 409)
            said, comment = said_in(form, round_.questions)
            entry = Entry(_version(form), said, comment)
            done = save(connection, assignment.id, round_, entry, panel.now())
        if isinstance(done, Saved):
            return JSONResponse({"version": done.version})
        return JSONResponse({"message": _stale_words(done) if isinstance(done, Stale) else _CLOSED}, 409)

    @router.post("/rate/{code}/here")
    def here(code: str, person: Rater, form: SentForm) -> Response:
        with panel.database.writing() as connection:
            _, assignment = _mine(connection, code, person)
            note_sign_of_life(connection, assignment.id, panel.now())
        return Response(status_code=204)


def _mine(
    connection: Connection, code: str, person: Person, *, hold: bool = False
) -> tuple[Round, Assignment]:
    """The rater's own case. Another's, one that is not open yet and one that does not exist are answered alike.
    Held, neither can the round be closed nor the case be taken away until the transaction is over."""
    assignment = assignment_of(connection, code, person.id, hold=hold)
    if assignment is None or not is_reached(connection, person.id, assignment.round):
        raise HTTPException(404)
    return round_by_id(connection, assignment.round, hold=hold), assignment


def _case_page(
    request: Request, panel: Panel, code: str, person: Person, *, status: int = 200, **values: Any
) -> Response:
    with panel.database.reading() as connection:
        assignment = assignment_of(connection, code, person.id)
        if assignment is None:
            raise HTTPException(404)
        known = case_values(connection, round_by_id(connection, assignment.round), assignment, **values)
    return page(request, "rating/case.html", status=status, minutes=minutes, **known)


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
