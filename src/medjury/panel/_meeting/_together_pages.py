"""The raters' pages: the cases on which they differ, and settling one together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from medjury.foundation.errors import MedjuryError
from medjury.panel._access import Form, Person, Role, form_of, person_with, trail
from medjury.panel._design import Problem, Said
from medjury.panel._look import page
from medjury.panel._meeting._difference import difference_of
from medjury.panel._meeting._form_texts import typed_text, typed_version
from medjury.panel._meeting._items import MeetingItem, item_by_code, items_of_person
from medjury.panel._meeting._settling import (
    Overtaken,
    confirm,
    do_not_agree,
    propose,
    read_settled,
    said_before,
)
from medjury.panel._panel import Panel

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

_Rater = Annotated[Person, Depends(person_with(Role.RATER))]
_Form = Annotated[Form, Depends(form_of)]
OVERTAKEN = (
    "Somebody saved something else for this case while you had it open, so nothing of yours was saved. Theirs is "
    "shown below, and what you typed still stands in the form. Look at both, then send it again."
)


def add_routes(router: APIRouter, panel: Panel) -> None:
    @router.get("/together/{code}")
    def one(request: Request, code: str, person: _Rater) -> Response:
        with panel.database.reading() as connection:
            return _page(request, connection, _own(connection, code, person), person)

    @router.post("/together/{code}")
    def enter(request: Request, code: str, person: _Rater, form: _Form) -> Response:
        with panel.database.reading() as connection:
            item = _own(connection, code, person)
            shown = difference_of(connection, item, person.id)
            read = read_settled(form, shown.round.instrument, item, shown.rated)
            if read.problems:
                return _page(
                    request, connection, item, person, said=read.said, problems=read.problems, status=400
                )
        try:
            with panel.database.writing() as connection:
                item = propose(connection, code, person.id, typed_version(form), read, panel.now())
                trail(connection, person, "entered grades together", code, now=panel.now())
        except Overtaken:
            return _overtaken(request, panel, code, person, read.said)
        except LookupError:
            raise HTTPException(404) from None
        return RedirectResponse(f"/together/{code}", 303)

    @router.post("/together/{code}/confirm")
    def yes(request: Request, code: str, person: _Rater, form: _Form) -> Response:
        try:
            with panel.database.writing() as connection:
                confirm(connection, code, person.id, typed_version(form), panel.now())
                trail(connection, person, "confirmed grades", code, now=panel.now())
        except Overtaken:
            return _overtaken(request, panel, code, person, None)
        except LookupError:
            raise HTTPException(404) from None
        return RedirectResponse(f"/together/{code}", 303)

    @router.post("/together/{code}/no-agreement")
    def no(request: Request, code: str, person: _Rater, form: _Form) -> Response:
        reason = typed_text(form, "reason")
        try:
            with panel.database.writing() as connection:
                do_not_agree(connection, code, person.id, typed_version(form), reason, panel.now())
                trail(connection, person, "did not agree", code, now=panel.now())
        except Overtaken:
            return _overtaken(request, panel, code, person, None, reason=reason)
        except LookupError:
            raise HTTPException(404) from None
        except MedjuryError as error:
            with panel.database.reading() as connection:
                item = _own(connection, code, person)
                return _page(request, connection, item, person, problem=str(error), reason=reason, status=400)
        return RedirectResponse(f"/together/{code}", 303)


def _own(connection: Connection, code: str, person: Person) -> MeetingItem:
    """Whoever did not rate the case does not learn that there is one."""
    item = item_by_code(connection, code)
    if item is None or person.id not in item.participants or item.meeting.by != "raters":
        raise HTTPException(404)
    return item


def _overtaken(
    request: Request, panel: Panel, code: str, person: Person, said: Said | None, *, reason: str = ""
) -> Response:
    with panel.database.reading() as connection:
        item = _own(connection, code, person)
        return _page(
            request, connection, item, person, said=said, problem=OVERTAKEN, reason=reason, status=409
        )


def _page(
    request: Request,
    connection: Connection,
    item: MeetingItem,
    person: Person,
    *,
    said: Said | None = None,
    problems: tuple[Problem, ...] = (),
    problem: str = "",
    reason: str = "",
    status: int = 200,
) -> Response:
    shown = difference_of(connection, item, person.id)
    mine = [each.code for each in items_of_person(connection, person.id)]
    place = mine.index(item.code)
    return page(
        request,
        "meeting/difference.html",
        status=status,
        shown=shown,
        item=item,
        state=item.state,
        last=shown.proposals[-1] if shown.proposals else None,
        said=said if said is not None else said_before(item, shown.rated),
        problems={each.dimension: each.message for each in problems},
        problem=problem,
        reason=reason,
        number=place + 1,
        total=len(mine),
        following=mine[place + 1] if place + 1 < len(mine) else None,
    )
