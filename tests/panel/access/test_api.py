"""The programs' interface: opened by a key or a coordinator, described only to them, and not broken by a fuzzer."""

from __future__ import annotations

from fastapi import FastAPI
from tests.panel.rounds import Clock
from tests.panel.visitors import Visitor, sign_in

from medjury.panel._access._people import Role


def key_of(app: FastAPI, name: str = "script") -> tuple[Visitor, str]:
    coordinator = sign_in(app, Role.COORDINATOR, f"Maker of {name}")
    shown = coordinator.submit("/api-keys", "/api-keys", name=name).text
    return coordinator, shown.partition('readonly value="')[2].partition('"')[0]


def ask(app: FastAPI, key: str) -> int:
    return int(Visitor(app).get("/api/openapi.json", headers={"Authorization": f"Bearer {key}"}).status_code)


def test_a_key_opens_the_interface_until_it_is_withdrawn(app: FastAPI) -> None:
    coordinator, key = key_of(app)
    assert key.startswith("medjury_") and ask(app, key) == 200
    shown = coordinator.get("/api-keys").text
    assert key not in shown
    path = shown.partition('action="/api-keys/')[2].partition('"')[0]
    assert coordinator.submit(f"/api-keys/{path}", "/api-keys").status_code == 303
    assert ask(app, key) == 401
    assert coordinator.submit(f"/api-keys/{path}", "/api-keys").status_code == 404


def test_a_key_works_for_a_year_and_while_its_maker_may_sign_in(app: FastAPI, clock: Clock) -> None:
    maker, key = key_of(app)
    clock.turn(days=364)
    assert ask(app, key) == 200
    other = sign_in(app, Role.COORDINATOR, "Other")
    assert maker.person is not None
    other.submit(f"/people/{maker.person.id}/disable", "/people")
    assert ask(app, key) == 401
    other.submit(f"/people/{maker.person.id}/enable", "/people")
    assert ask(app, key) == 200
    clock.turn(days=1)
    assert ask(app, key) == 401


def test_a_key_opens_no_page(app: FastAPI) -> None:
    _, key = key_of(app)
    answer = Visitor(app).get("/people", headers={"Authorization": f"Bearer {key}"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in?next=/people")


def test_only_the_interface_is_described(app: FastAPI) -> None:
    coordinator = sign_in(app, Role.COORDINATOR)
    described = coordinator.get("/api/openapi.json").json()
    assert described["paths"] and all(path.startswith("/api/") for path in described["paths"])
    assert described["security"] == [{"key": []}]
    assert Visitor(app).get("/api/openapi.json").json().keys() == {"error"}
    assert sign_in(app, Role.RATER).get("/api/openapi.json").status_code == 403
