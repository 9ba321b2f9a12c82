"""For the coordinator: the answers of a round, and of each every version that was ever saved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from fastapi.responses import Response
from sqlalchemy import Integer, cast, func, select

from medjury.foundation.errors import MedjuryError
from medjury.panel._access import Person, Role, people, person_with
from medjury.panel._design import CANNOT_JUDGE, NOT_APPLICABLE, Round, round_named
from medjury.panel._design._tables import assignments_table, items_table
from medjury.panel._look import page
from medjury.panel._panel import Panel
from medjury.panel._rating._answers import history
from medjury.panel._rating._tables import answers_table

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

SHOWN = 100  # answers on one page
_Coordinator = Annotated[Person, Depends(person_with(Role.COORDINATOR))]
_WORDS = {NOT_APPLICABLE: "not applicable", CANNOT_JUDGE: "can't judge", "": "nothing chosen"}


@dataclass(frozen=True)
class Kept:
    """One rater's answer on one case: how many versions of it were saved, how many of them submitted, and when."""

    assignment: int
    item: str
    system: str
    rater: str
    versions: int
    submitted: int
    last_at: str
    is_withdrawn: bool


def add_routes(router: APIRouter, panel: Panel) -> None:
    @router.get("/rounds/{name}/history")
    def answers(
        request: Request,
        person: _Coordinator,
        name: str,
        find: str = "",
        start: Annotated[int, Query(ge=0, le=2**31)] = 0,
    ) -> Response:
        with panel.database.reading() as connection:
            round_ = _round(connection, name)
            kept = _kept(connection, round_, find=find, start=start)
        values: dict[str, Any] = {
            "round": round_,
            "kept": kept[:SHOWN],
            "find": find,
            "start": start,
            "step": SHOWN,
        }
        return page(request, "rating/history.html", more=len(kept) > SHOWN, **values)

    @router.get("/rounds/{name}/history/{assignment}")
    def versions(request: Request, person: _Coordinator, name: str, assignment: int) -> Response:
        with panel.database.reading() as connection:
            round_ = _round(connection, name)
            kept = _kept(connection, round_, only=assignment)
            if not kept:
                raise HTTPException(404)
            found = history(connection, assignment)
        values: dict[str, Any] = {"round": round_, "kept": kept[0], "versions": found, "said_of": _said}
        return page(request, "rating/versions.html", **values)


def _round(connection: Connection, name: str) -> Round:
    try:
        return round_named(connection, name)
    except MedjuryError:
        raise HTTPException(404) from None


def _kept(
    connection: Connection, round_: Round, *, find: str = "", start: int = 0, only: int | None = None
) -> list[Kept]:
    """The answers in the order of cases and raters; one more than is shown tells that there are more."""
    a, i, s = assignments_table.c, items_table.c, answers_table.c
    query = (
        select(
            a.id,
            i.item,
            i.system,
            a.person,
            a.withdrawn_at,
            func.count(s.id).label("versions"),
            func.sum(cast(s.submitted, Integer)).label("submitted"),
            func.max(s.saved_at).label("last_at"),
        )
        .join(items_table, a.item == i.id)
        .join(answers_table, s.assignment == a.id)
        .where(a.round == round_.id, i.item.contains(find, autoescape=True))
        .group_by(a.id, i.id, i.item, i.system, a.person, a.withdrawn_at)
        .order_by(i.id, a.id)
    )
    query = query.where(a.id == only) if only is not None else query.offset(start).limit(SHOWN + 1)
    names = {each.person.id: each.person.name for each in people(connection)}
    return [
        Kept(
            row.id,
            row.item,
            row.system,
            names.get(row.person, row.person),
            row.versions,
            row.submitted,
            row.last_at,
            row.withdrawn_at is not None,
        )
        for row in connection.execute(query)
    ]


def _said(version: Any) -> list[tuple[str, str, str]]:
    """Dimension, grade in words and reason, as they stood in the form."""
    return [
        (name, _WORDS.get(each["grade"], each["grade"]), each.get("why", ""))
        for name, each in version.said.items()
    ]
