"""The frame of the panel: people join by a link, every page has one look, and no page is served without a guard."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from fastapi import APIRouter, Depends
from sqlalchemy import delete, update
from sqlalchemy.exc import DatabaseError
from tests.panel.visitors import Visitor, sign_in

from medjury.panel._access._people import Role
from medjury.panel._access._trail import trail
from medjury.panel._access._visitors import form_of, person_with
from medjury.panel._database import PanelDatabase, open_panel_database
from medjury.panel._declared import declared_routes
from medjury.panel._serve import Panel, make_app
from medjury.panel._tables import trail_table


@pytest.fixture
def panel(tmp_path: Path) -> Panel:
    return Panel(open_panel_database(tmp_path / "panel.sqlite"))


def test_a_coordinator_joins_by_a_link_and_invites(panel: Panel) -> None:
    app = make_app(panel)
    coordinator = sign_in(app, Role.COORDINATOR)
    assert coordinator.get("/").headers["location"] == "/live"
    answer = coordinator.submit("/people", "/people", name="Dr <b>Roe</b>", role="rater")
    assert answer.status_code == 200
    assert "Invitation for Dr &lt;b&gt;Roe&lt;/b&gt;" in answer.text
    assert "/join/" in answer.text


def test_a_list_of_names_is_invited_at_once_or_not_at_all(panel: Panel) -> None:
    coordinator = sign_in(make_app(replace(panel, public_url="https://panel.example")), Role.COORDINATOR)
    both = coordinator.submit(
        "/people", "/people", name="Dr Roe\r\n\r\nDr Doe", role="rater", email="roe@x.example"
    )
    links = re.findall(r'value="(https://panel\.example/join/[\w-]+)"', both.text)
    assert len(set(links)) == 2 and both.text.count("<svg") == 2 and "only on this machine" not in both.text
    refused = coordinator.submit("/people", "/people", name="Dr New\nDr Roe", role="rater")
    assert refused.status_code == 400 and "Dr New" not in coordinator.get("/people").text
    many = coordinator.submit("/people", "/people", name="\n".join(map(str, range(101))), role="rater")
    assert many.status_code == 400 and "at most 100" in many.text
    assert coordinator.submit("/people", "/people", name=" \n", role="rater").status_code == 400


def test_nobody_is_led_to_the_sign_in_and_back(panel: Panel) -> None:
    assert sign_in(make_app(panel), Role.RATER).get("/").headers["location"] == "/rate"
    answer = Visitor(make_app(panel)).get("/people?sort=name")
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in?next=/people%3Fsort%3Dname")


def test_a_route_that_does_not_say_who_may_use_it_is_not_served() -> None:
    router = APIRouter()
    router.get("/open")(lambda: "")
    with pytest.raises(TypeError, match="does not say who may use it"):
        list(declared_routes(router))


def test_a_route_that_changes_something_without_a_guard_is_not_served() -> None:
    router = APIRouter()
    router.post("/change", dependencies=[Depends(person_with(Role.RATER))])(lambda: "")
    with pytest.raises(TypeError, match="is not guarded"):
        list(declared_routes(router))
    guarded = APIRouter()
    guarded.post("/change", dependencies=[Depends(person_with(Role.RATER)), Depends(form_of)])(lambda: "")
    assert [route.roles for route in declared_routes(guarded)] == [{Role.RATER}]


def test_the_trail_cannot_be_changed_in_the_database(either_place: str, tmp_path: Path) -> None:
    database: PanelDatabase = open_panel_database(either_place)
    with database.writing() as connection:
        trail(connection, "a test", "invited")
    for change in (update(trail_table).values(what="nothing"), delete(trail_table)):
        with pytest.raises(DatabaseError, match="trail is append-only"), database.writing() as connection:
            connection.execute(change)
    database.close()
