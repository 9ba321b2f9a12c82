"""The coordinator's page of rounds: what is open, who rates in it, who leaves, and what is not blind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from medjury.foundation.errors import MedjuryError
from medjury.panel._access import Form, Person, Role, form_of, people, person_with, trail
from medjury.panel._design import (
    Round,
    deal,
    item_count,
    join,
    leave,
    members,
    round_named,
    rounds,
    set_state,
)
from medjury.panel._look import page
from medjury.panel._panel import Panel
from medjury.panel._rating._answers import Progress, progress
from medjury.panel._rating._course import has_passed
from medjury.panel._rating._training import let_pass

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

_Coordinator = Annotated[Person, Depends(person_with(Role.COORDINATOR))]
_STATES = {"open": "Open", "discussing": "Discuss", "closed": "Close"}


@dataclass(frozen=True)
class Member:
    """A rater in a round, as the coordinator sees them."""

    person: str
    name: str
    progress: Progress
    has_passed: bool


@dataclass(frozen=True)
class RoundState:
    """A round with its raters, and those who could join."""

    round: Round
    items: int
    members: tuple[Member, ...]
    others: tuple[tuple[str, str], ...]

    @property
    def following(self) -> list[tuple[str, str]]:
        """The states it may go to, with the words of the button."""
        allowed = {"waiting": ["open"], "open": ["closed"], "discussing": ["closed"], "closed": ["open"]}
        states = allowed.get(self.round.state, [])  # once raters have met, a round stays as it is
        if self.round.kind == "calibration" and self.round.state == "open":
            states = ["discussing", *states]
        return [(state, _STATES[state]) for state in states]


def add_routes(router: APIRouter, panel: Panel) -> None:
    @router.get("/rounds")
    def every_round(request: Request, person: _Coordinator) -> Response:
        return _page(request, panel)

    @router.post("/rounds/{name}")
    def change(
        request: Request, name: str, person: _Coordinator, form: Annotated[Form, Depends(form_of)]
    ) -> Response:
        try:
            with panel.database.writing() as connection:
                _change(connection, panel, name, person, form)
        except MedjuryError as error:
            return _page(request, panel, problem=str(error), status=400)
        return RedirectResponse("/rounds", 303)


def _change(connection: Connection, panel: Panel, name: str, person: Person, form: Form) -> None:
    round_, now = round_named(connection, name), panel.now()
    action, rater = form.get("action", ""), form.get("person", "")
    raters = [each.person.id for each in people(connection) if each.person.role == Role.RATER]
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
        left = leave(connection, round_, rater, now)
        trail(connection, person, "took out of a round", f"{rater} {name}, {left.moved} moved", now=now)
    elif action == "pass":
        let_pass(connection, round_, rater, now)
        trail(connection, person, "let pass a training round", f"{rater} {name}", now=now)
    else:
        raise HTTPException(404)


def _joined(connection: Connection) -> list[Person]:
    return [
        each.person
        for each in people(connection)
        if each.person.role == Role.RATER and each.joined_at and not each.disabled_at
    ]


def _page(request: Request, panel: Panel, *, problem: str = "", status: int = 200) -> Response:
    with panel.database.reading() as connection:
        names = {each.person.id: each.person.name for each in people(connection)}
        able = _joined(connection)
        states = []
        for each in rounds(connection):
            inside = members(connection, each)
            there = tuple(
                Member(
                    person,
                    names.get(person, person),
                    progress(connection, each, person),
                    has_passed(connection, each, person),
                )
                for person in inside
            )
            others = tuple((other.id, other.name) for other in able if other.id not in inside)
            states.append(RoundState(each, item_count(connection, each.id), there, others))
    return page(request, "rating/rounds.html", status=status, states=states, problem=problem)
