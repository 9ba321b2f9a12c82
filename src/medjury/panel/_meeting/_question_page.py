"""The rater's page of one further question."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import insert

from medjury.foundation.errors import MedjuryError
from medjury.panel._access import Person, Rater, SentForm
from medjury.panel._language import _, marked
from medjury.panel._look import page
from medjury.panel._meeting._questions import asked_of, questions_for
from medjury.panel._meeting._settling import Overtaken, typed_text, typed_version
from medjury.panel._panel import Panel
from medjury.panel._tables import replies_table

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
                reply(connection, code, person.id, typed_version(form), choice, why, panel.now())
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
