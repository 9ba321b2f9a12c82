"""What a rater's case sends: the answer, a draft of it, and signs of life. Many come at the same moment, so each is
one piece of work that shares its transaction with the others; it begins with who is asking."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, TypeVar

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from medjury.panel._access import Claim, Form, Role, claimed_by, form_of
from medjury.panel._design import next_code, read_form, said_in
from medjury.panel._panel import Panel
from medjury.panel._rating._case_page import case_page
from medjury.panel._rating._saving import Entry, Saved, Stale, TooMuch, add_version
from medjury.panel._rating._standing import Standing, standing
from medjury.panel._rating._timing import note_sign_of_life
from medjury.panel._rating._training import conclude_training

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

_Rater = Annotated[Claim, Depends(claimed_by(Role.RATER))]
_SentForm = Annotated[Form, Depends(form_of)]
_T = TypeVar("_T")


def add_routes(router: APIRouter, panel: Panel) -> None:
    @router.post("/rate/{code}")
    def send(request: Request, code: str, claim: _Rater, form: _SentForm) -> Response:
        now, submitted = panel.now(), form.get("action") != "save"

        def work(connection: Connection, own: Standing) -> Response | tuple[Standing, int, dict[str, object]]:
            read = read_form(form, own.round.instrument, own.round.questions)
            typed: dict[str, object] = {"said": read.said, "comment": read.comment}
            if own.refusal is not None:
                return own, 409, typed | {"notice": own.refusal}
            if submitted and read.problems:
                return own, 422, typed | {"problems": read.problems}
            entry = Entry(_version(form), read.said, read.comment, read.outcomes if submitted else None)
            done = add_version(connection, own.assignment, own.round, entry, now)
            if not isinstance(done, Saved):
                return own, 409, typed | {"notice": _not_saved(done)}
            return RedirectResponse(_following(connection, own, submitted, now), 303)

        done = _with_own_case(panel, claim, code, now, work)
        if isinstance(done, Response):
            return done
        own, status, typed = done
        return case_page(request, panel, code, own.person, status=status, **typed)

    @router.post("/rate/{code}/draft")
    def draft(code: str, claim: _Rater, form: _SentForm) -> Response:
        now = panel.now()

        def work(connection: Connection, own: Standing) -> Response:
            if own.refusal is not None:
                return JSONResponse({"message": own.refusal}, 409)
            said, comment = said_in(form, own.round.questions)
            entry = Entry(_version(form), said, comment)
            done = add_version(connection, own.assignment, own.round, entry, now)
            if isinstance(done, Saved):
                return JSONResponse({"version": done.version})
            return JSONResponse({"message": _not_saved(done)}, 409)

        return _with_own_case(panel, claim, code, now, work)

    @router.post("/rate/{code}/here")
    def here(code: str, claim: _Rater, form: _SentForm) -> Response:
        now = panel.now()

        def work(connection: Connection, own: Standing) -> Response:
            note_sign_of_life(connection, own.assignment, now)
            return Response(status_code=204)

        return _with_own_case(panel, claim, code, now, work)


def _with_own_case(
    panel: Panel, claim: Claim, code: str, now: datetime, work: Callable[[Connection, Standing], _T]
) -> _T:
    """What `work` makes of the rater's own case; whoever has none, or may not, is answered as everywhere."""

    def whole(connection: Connection) -> _T | Exception:
        person = claim.person(connection, now)
        if isinstance(person, Exception):
            return person
        own = standing(connection, code, person.id, hold=True)
        return HTTPException(404) if own is None else work(connection, own)

    done = panel.database.together(whole)
    if isinstance(done, Exception):
        raise done
    return done


def _following(connection: Connection, own: Standing, submitted: bool, now: datetime) -> str:
    """Where the rater goes from here. It hangs on nothing but the rater's own cases and their order."""
    if not submitted:
        return f"/rate/{own.code}?saved=1"
    following = next_code(connection, own.round.id, own.person, own.code)
    if own.round.kind == "training":
        if following is None:
            conclude_training(connection, own.round, own.person, now)
        return f"/rate/{own.code}/key"
    return f"/rate/{following}" if following else "/rate"


def _version(form: Form) -> int:
    """What the form was based on; what is no number is older than anything."""
    text = form.get("version", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1


def _not_saved(done: Stale | TooMuch) -> str:
    if isinstance(done, TooMuch):
        return done.words
    at = datetime.fromisoformat(done.saved_at).strftime("%H:%M")
    return (
        f"This case was saved at {at} UTC from another tab or device. What you see below is not saved yet: send it "
        "again to keep it. The other version stays in the history."
    )
