"""Whoever tries names at the sign-in does not learn which are known: each takes the same work."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from sqlalchemy import event
from tests.panel.rounds import Clock
from tests.panel.visitors import Visitor, invited, sign_in

from medjury.panel._access import _passwords
from medjury.panel._access._people import Role, change_person
from medjury.panel._serve import Panel, make_app, open_panel_database


@pytest.fixture
def app(tmp_path: Path) -> Iterator[FastAPI]:
    database = open_panel_database(tmp_path / "panel.sqlite")
    yield make_app(Panel(database, now=Clock()))
    database.close()


def test_every_name_takes_the_same_questions_and_one_hash(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_in(app, Role.RATER, "Dr Known")
    invited(app.state.panel, "Dr Invited", Role.RATER, "invited@hospital.example")
    out = sign_in(app, Role.RATER, "Dr Out")
    assert out.person is not None
    with app.state.panel.database.writing() as connection:
        change_person(connection, out.person, disabled_at="2026-03-02")
    _passwords._nobodys_hash.cache_clear()  # as after a start
    hashed: list[str] = []
    real = _passwords._hasher()

    class Counted:
        def hash(self, password: str) -> str:
            hashed.append("hash")
            return real.hash(password)

        def verify(self, stored: str, password: str) -> bool:
            hashed.append("verify")
            return real.verify(stored, password)

    monkeypatch.setattr(_passwords, "_hasher", Counted)
    asked: list[str] = []
    engine = app.state.panel.database.engine
    event.listen(engine, "before_cursor_execute", lambda _c, _u, statement, *_: asked.append(statement))
    work = {}
    for name in (
        "Dr Known",
        "Dr Nobody",
        "Dr Invited",
        "invited@hospital.example",
        "Dr Out",
        "dr  KNOWN",
        "",
    ):
        visitor = Visitor(app, address=f"203.0.113.{len(work) + 1}")
        token = visitor.token("/sign-in")
        asked.clear()
        hashed.clear()
        answer = visitor.post("/sign-in", data={"csrf": token, "name": name, "password": "wrong"})
        assert answer.status_code == 403, name
        work[name] = (tuple(asked), hashed.count("verify"), len(answer.content) - len(name))
    first, *others = work.items()
    for name, done in others:
        if name != "dr  KNOWN":  # a second attempt at an account is counted up, whoever has it
            assert done[0] == first[1][0], f"{name}: the database is asked something else than for {first[0]}"
        assert done[1:] == first[1][1:], name
