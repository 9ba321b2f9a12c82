"""The coordinator's pages of rounds: what is open, who rates in it, who leaves, what is not blind; and the answers
of a round with every version that was ever saved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import Integer, cast, func, select

from medjury.foundation.errors import MedjuryError
from medjury.panel._access._people import Person, Role, names_of_people, people
from medjury.panel._access._trail import trail
from medjury.panel._access._visitors import Coordinator, Form, SentForm
from medjury.panel._design._assignments import deal, join, leave, members
from medjury.panel._design._form import CANNOT_JUDGE, NOT_APPLICABLE
from medjury.panel._design._rounds import Round, item_count, round_named, rounds, set_state
from medjury.panel._language import ENGLISH, IN_ENGLISH
from medjury.panel._look import page
from medjury.panel._panel import Panel
from medjury.panel._rating._answers import history, let_pass, progress
from medjury.panel._rating._course import has_passed
from medjury.panel._tables import answers_table, assignments_table, items_table

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Row


_STATES = {"open": "Open", "discussing": "Discuss", "closed": "Close"}


def _following(round_: Round) -> list[tuple[str, str]]:
    """The states that a round may go to, with the words of the button; once raters have met, it stays as it is."""
    allowed = {"waiting": ["open"], "open": ["closed"], "discussing": ["closed"], "closed": ["open"]}
    states = allowed.get(round_.state, [])
    if round_.kind == "calibration" and round_.state == "open":
        states = ["discussing", *states]
    return [(state, _STATES[state]) for state in states]


def add_round_routes(router: APIRouter, panel: Panel) -> None:
    @router.get("/rounds")
    def every_round(request: Request, person: Coordinator) -> Response:
        return _rounds_page(request, panel)

    @router.post("/rounds/{name}")
    def change(request: Request, name: str, person: Coordinator, form: SentForm) -> Response:
        try:
            with panel.database.writing() as connection:
                _change(connection, panel, name, person, form)
        except MedjuryError as error:
            return _rounds_page(request, panel, problem=str(error), status=400)
        return RedirectResponse("/rounds", 303)


def _change(connection: Connection, panel: Panel, name: str, person: Person, form: Form) -> None:
    round_, now = round_named(connection, name), panel.now()
    action, rater = form.get("action", ""), form.get("person", "")
    raters = [each.id for each in people(connection) if each.role == Role.RATER]
    if action == "state" and form.get("state") in _STATES:
        set_state(connection, round_, form["state"])
        trail(connection, person, f"made a round {form['state']}", name, now=now)
    elif action == "deal":
        deal(connection, round_, [each.id for each in _joined(connection)], now)
        trail(connection, person, "dealt a round", name, now=now)
    elif rater not in raters:
        raise HTTPException(404)
    elif action == "join":
        join(connection, round_, rater, now)
        trail(connection, person, "put into a round", f"{rater} {name}", now=now)
    elif action == "leave":
        moved = leave(connection, round_, rater, now)
        trail(connection, person, "took out of a round", f"{rater} {name}, {moved} moved", now=now)
    elif action == "pass":
        let_pass(connection, round_, rater, now)
        trail(connection, person, "let pass a training round", f"{rater} {name}", now=now)
    else:
        raise HTTPException(404)


def _joined(connection: Connection) -> list[Person]:
    return [
        each
        for each in people(connection)
        if each.role == Role.RATER and each.joined_at and not each.disabled_at
    ]


def _rounds_page(request: Request, panel: Panel, *, problem: str = "", status: int = 200) -> Response:
    with panel.database.reading() as connection:
        names, able = names_of_people(connection), _joined(connection)
        states = []
        for each in rounds(connection):
            inside = members(connection, each)
            there = [
                {
                    "person": person,
                    "name": names.get(person, person),
                    "progress": progress(connection, each, person),
                    "has_passed": has_passed(connection, each, person),
                }
                for person in inside
            ]
            state: dict[str, Any] = {"round": each, "members": there, "following": _following(each)}
            state["others"] = [(other.id, other.name) for other in able if other.id not in inside]
            state["untranslated"] = _untranslated(connection, each)
            states.append({**state, "answers": item_count(connection, each.id)})
    return page(request, "rating/rounds.html", status=status, states=states, problem=problem)


def _untranslated(connection: Connection, each: Round) -> tuple[str, ...]:
    """The languages in which raters answer, while they read the instrument in English."""
    a, s = assignments_table, answers_table
    known = (ENGLISH, *each.instrument.translations)
    query = (
        select(s.c.language)
        .join(a, a.c.id == s.c.assignment)
        .where(a.c.round == each.id, s.c.language.not_in(known))
        .distinct()
        .order_by(s.c.language)
    )
    return tuple(IN_ENGLISH[language] for language in connection.execute(query).scalars())


SHOWN = 100  # answers on one page
_WORDS = {NOT_APPLICABLE: "not applicable", CANNOT_JUDGE: "can't judge", "": "nothing chosen"}


def add_history_routes(router: APIRouter, panel: Panel) -> None:
    @router.get("/rounds/{name}/history")
    def answers(
        request: Request,
        person: Coordinator,
        name: str,
        find: str = "",
        start: Annotated[int, Query(ge=0, le=2**31)] = 0,
    ) -> Response:
        with panel.database.reading() as connection:
            round_ = _round(connection, name)
            kept, names = _kept(connection, round_, find=find, start=start), names_of_people(connection)
        values: dict[str, Any] = {"round": round_, "kept": kept[:SHOWN], "names": names, "find": find}
        more = len(kept) > SHOWN
        return page(request, "rating/history.html", **values, start=start, step=SHOWN, more=more)

    @router.get("/rounds/{name}/history/{assignment}")
    def versions(request: Request, person: Coordinator, name: str, assignment: int) -> Response:
        with panel.database.reading() as connection:
            round_ = _round(connection, name)
            kept = _kept(connection, round_, only=assignment)
            if not kept:
                raise HTTPException(404)
            found, names = history(connection, assignment), names_of_people(connection)
        rater = names.get(kept[0].person, kept[0].person)
        values: dict[str, Any] = {"kept": kept[0], "rater": rater, "versions": found, "said_of": _said}
        return page(request, "rating/versions.html", round=round_, **values)


def _round(connection: Connection, name: str) -> Round:
    try:
        return round_named(connection, name)
    except MedjuryError:
        raise HTTPException(404) from None


def _kept(
    connection: Connection, round_: Round, *, find: str = "", start: int = 0, only: int | None = None
) -> Sequence[Row[Any]]:
    """The answers in the order of cases and raters; one more than is shown tells that there are more."""
    a, i, s = assignments_table.c, items_table.c, answers_table.c
    query = (
        select(
            a.id.label("assignment"),
            i.item,
            i.system,
            a.person,
            a.withdrawn_at.is_not(None).label("is_withdrawn"),
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
    return connection.execute(query).all()


def _said(version: Any) -> list[tuple[str, str, str]]:
    """Dimension, grade in words and reason, as they stood in the form."""
    return [
        (name, _WORDS.get(each["grade"], each["grade"]), each.get("why", ""))
        for name, each in version.said.items()
    ]
