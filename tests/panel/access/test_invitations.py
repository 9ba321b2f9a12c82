"""An invitation works once, for a while, for one person, and tells a stranger nothing."""

from __future__ import annotations

import threading

import pytest
from fastapi import FastAPI
from sqlalchemy import select
from tests.panel.rounds import Clock
from tests.panel.visitors import PASSWORD, Visitor, invited, sign_in

from medjury.foundation.errors import MedjuryError
from medjury.panel._access._people import Role, add_person, clean_name
from medjury.panel._access._sessions import hash_of
from medjury.panel._access._sign_in import invite, use_invitation
from medjury.panel._database import PanelDatabase
from medjury.panel._serve import Panel
from medjury.panel._tables import invitations_table


def join(visitor: Visitor, path: str, password: str = PASSWORD) -> int:
    page = visitor.get(path)
    if page.status_code != 200:
        return int(page.status_code)
    return int(visitor.submit(path, path, password=password, again=password).status_code)


def test_a_mail_program_that_opens_the_link_does_not_use_it_up(app: FastAPI, panel: Panel) -> None:
    _, path = invited(panel, "Dr Roe", Role.RATER)
    for _ in range(3):
        assert Visitor(app).get(path).status_code == 200
        Visitor(app).head(path)
    assert join(Visitor(app), path) == 303


def test_a_link_works_once(app: FastAPI, panel: Panel) -> None:
    _, path = invited(panel, "Dr Roe", Role.RATER)
    late = Visitor(app)
    token = late.token(path)
    assert join(Visitor(app), path) == 303
    answer = late.post(path, data={"csrf": token, "password": PASSWORD, "again": PASSWORD})
    assert answer.status_code == 404 and "no longer works" in answer.text
    assert late.get("/account").status_code == 303


def test_a_link_is_too_old_after_a_fortnight(app: FastAPI, panel: Panel, clock: Clock) -> None:
    _, path = invited(panel, "Dr Roe", Role.RATER)
    clock.turn(days=13, hours=23)
    assert Visitor(app).get(path).status_code == 200
    clock.turn(hours=1)
    assert Visitor(app).get(path).status_code == 404


def test_a_used_an_old_and_an_invented_link_are_told_apart_by_nobody(app: FastAPI, panel: Panel) -> None:
    _, used = invited(panel, "Dr Roe", Role.RATER)
    join(Visitor(app), used)
    answers = {
        Visitor(app).get(path).text.partition("<main")[2] for path in (used, "/join/invented", "/join/0")
    }
    assert len(answers) == 1


def test_a_new_link_ends_the_one_before_and_every_old_way_in(app: FastAPI, panel: Panel) -> None:
    coordinator = sign_in(app, Role.COORDINATOR)
    rater = sign_in(app, Role.RATER, "Dr Roe")
    assert rater.person is not None
    with panel.database.writing() as connection:
        first = invite(connection, rater.person, by="a test", now=panel.now())
    answer = coordinator.submit(f"/people/{rater.person.id}/invite", "/people")
    second = "/join/" + answer.text.partition("/join/")[2].partition('"')[0]
    assert Visitor(app).get(f"/join/{first}").status_code == 404
    assert rater.get("/account").status_code == 200, "a link that nobody used changes nothing"
    assert join(Visitor(app), second, "walnut-harbour-velvet-comet") == 303
    assert rater.get("/account").status_code == 303
    assert Visitor(app).submit("/sign-in", "/sign-in", name="Dr Roe", password=PASSWORD).status_code == 403


def test_a_bad_password_does_not_use_the_link_up(app: FastAPI, panel: Panel) -> None:
    _, path = invited(panel, "Dr Roe", Role.RATER)
    assert join(Visitor(app), path, "password1234") == 400
    assert join(Visitor(app), path) == 303


def test_only_the_hash_of_a_link_is_kept(panel: Panel) -> None:
    _, path = invited(panel, "Dr Roe", Role.RATER)
    with panel.database.reading() as connection:
        row = connection.execute(select(invitations_table)).one()
    secret = path.removeprefix("/join/")
    assert row.hash == hash_of(secret) and secret not in map(str, row)


def test_of_two_who_use_a_link_at_once_one_gets_in(either_database: PanelDatabase, clock: Clock) -> None:
    with either_database.writing() as connection:
        person = add_person(connection, "Dr Roe", Role.RATER, now=clock())
        secret = invite(connection, person, by="a test", now=clock())
    found: list[object] = []
    ready = threading.Barrier(6)

    def use() -> None:
        ready.wait()
        with either_database.writing() as connection:
            found.append(use_invitation(connection, hash_of(secret), clock()))

    threads = [threading.Thread(target=use) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found, key=str) == [None] * 5 + [person]


def test_a_name_is_one_persons(either_database: PanelDatabase, clock: Clock) -> None:
    with either_database.writing() as connection:
        add_person(connection, "Dr Roe", Role.RATER, now=clock(), email="roe@h.example")
    for name, email in (("dr  ROE", None), ("Dr Roe", None), ("Another", "ROE@h.example")):
        with pytest.raises(MedjuryError), either_database.writing() as connection:
            add_person(connection, name, Role.VIEWER, now=clock(), email=email)


@pytest.mark.parametrize(
    ("typed", "kept"),
    [("  Dr\tRoe\n", "Dr Roe"), ("Dr \u202eRoe", "Dr Roe"), ("Zoë", "Zoë"), ("A\x00B", "A B")],
)
def test_a_name_is_shown_without_signs_that_nobody_sees(typed: str, kept: str) -> None:
    assert clean_name(typed) == kept


@pytest.mark.parametrize("typed", ["", " \u200b ", "x" * 81])
def test_what_is_no_name_is_refused(typed: str) -> None:
    with pytest.raises(MedjuryError):
        clean_name(typed)
