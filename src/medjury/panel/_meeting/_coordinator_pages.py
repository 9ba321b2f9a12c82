"""The coordinator's page of meetings: open one over a closed round, see how far it has come, end it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from medjury.foundation.errors import MedjuryError
from medjury.panel._access import Form, Person, Role, form_of, person_with, trail
from medjury.panel._design import Round, rounds
from medjury.panel._look import page
from medjury.panel._meeting._items import meeting_items
from medjury.panel._meeting._opening import Meeting, close_meeting, differences, meeting_of, open_meeting
from medjury.panel._meeting._rule import RULES
from medjury.panel._panel import Panel
from medjury.store.runs import GateRules

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

_Coordinator = Annotated[Person, Depends(person_with(Role.COORDINATOR))]
_Form = Annotated[Form, Depends(form_of)]


@dataclass(frozen=True)
class MeetingState:
    """A round and how far its differences are settled. `smaller` are those that the rule leaves without a label."""

    round: Round
    meeting: Meeting | None
    rule: str
    listed: int
    smaller: int
    states: Counter[str]


def add_routes(router: APIRouter, panel: Panel) -> None:
    @router.get("/meetings")
    def everything(request: Request, person: _Coordinator) -> Response:
        return _page(request, panel)

    @router.post("/meetings/{name}/open")
    def begin(request: Request, name: str, person: _Coordinator, form: _Form) -> Response:
        try:
            with panel.database.writing() as connection:
                round_ = _round(connection, name)
                open_meeting(connection, round_, danger=danger_line(panel), now=panel.now())
                trail(connection, person, "opened the meeting", name, now=panel.now())
        except MedjuryError as error:
            return _page(request, panel, problem=str(error), status=400)
        return RedirectResponse("/meetings", 303)

    @router.post("/meetings/{name}/close")
    def end(request: Request, name: str, person: _Coordinator, form: _Form) -> Response:
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


def meeting_states(connection: Connection, danger: float) -> list[MeetingState]:
    """Every round that counts, with its meeting where there is one."""
    found = []
    for round_ in rounds(connection):
        if not round_.counts:
            continue
        meeting = meeting_of(connection, round_.id)
        rule = meeting.differ if meeting else round_.settings["meeting"]["differ"]
        line = meeting.danger if meeting else danger
        listed = len(differences(connection, round_, rule, line))
        smaller = len(differences(connection, round_, "any", line)) - listed
        states = Counter(each.state for each in meeting_items(connection, meeting)) if meeting else Counter()
        found.append(MeetingState(round_, meeting, RULES[rule], listed, smaller, Counter(states)))
    return found


def _round(connection: Connection, name: str) -> Round:
    found = [each for each in rounds(connection) if each.name == name and each.counts]
    if not found:
        raise HTTPException(404)
    return found[0]


def _page(request: Request, panel: Panel, *, problem: str = "", status: int = 200) -> Response:
    with panel.database.reading() as connection:
        states = meeting_states(connection, danger_line(panel))
    return page(request, "meeting/meetings.html", status=status, states=states, problem=problem)
