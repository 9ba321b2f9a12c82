"""Raters, adjudicator and coordinator of a closed round, each at a browser without JavaScript."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from tests.panel.meeting.closed_rounds import ONE_SYSTEM, Grades, only_round, rate
from tests.panel.rounds import NOON, Clock, write_study
from tests.panel.visitors import Visitor, sign_in, token_in

from medjury.panel._access._people import Role
from medjury.panel._design._rounds import set_state, set_up
from medjury.panel._serve import Panel, make_app, open_panel_database


@dataclass
class Closed:
    """A closed round with everyone signed in; `stranger` rates, but not these cases."""

    app: FastAPI
    raters: list[Visitor]
    stranger: Visitor
    adjudicator: Visitor
    coordinator: Visitor


def closed_app(folder: Path, grades: Sequence[Grades], *, raters: int = 2, **study: Any) -> Closed:
    loaded = write_study(folder, **{"cases": len(grades), "systems": ONE_SYSTEM} | study)
    panel = Panel(open_panel_database(folder / "panel.sqlite"), Clock(), loaded)
    with panel.database.writing() as connection:
        set_up(connection, loaded, NOON)
    app = make_app(panel)
    visitors = [sign_in(app, Role.RATER, f"Dr Wallaby {number}") for number in range(raters)]
    stranger = sign_in(app, Role.RATER, "Dr Stranger")
    with panel.database.writing() as connection:
        rate(connection, [each.person for each in visitors if each.person], grades)
        set_state(connection, only_round(connection), "closed")
    adjudicator = sign_in(app, Role.ADJUDICATOR, "Prof Echidna")
    return Closed(app, visitors, stranger, adjudicator, sign_in(app, Role.COORDINATOR, "Coordinator"))


def send(visitor: Visitor, page: str, path: str, **fields: str) -> Any:
    """Send a form that stands on this page."""
    return visitor.post(path, data={"csrf": token_in(visitor.get(page).text)} | fields)
