"""Sessions begin fresh, end when they should, and are in the database as hashes alone."""

from __future__ import annotations

import pytest
from fastapi import FastAPI
from sqlalchemy import select
from tests.panel.rounds import Clock
from tests.panel.visitors import PASSWORD, Visitor, sign_in

from medjury.panel._access._people import Role, add_person
from medjury.panel._access._sessions import end_sessions, find_session, hash_of, note_seen, start_session
from medjury.panel._access._sign_in import invite
from medjury.panel._database import PanelDatabase
from medjury.panel._serve import Panel, make_app
from medjury.panel._tables import people_table, sessions_table

NEW_PASSWORD = "walnut-harbour-velvet-comet"


def is_in(visitor: Visitor) -> bool:
    return bool(visitor.get("/account").status_code == 200)


def test_a_session_that_was_planted_is_worth_nothing(app: FastAPI) -> None:
    victim = sign_in(app, Role.RATER, "Dr Roe")
    victim.submit("/sign-out")
    victim.cookies.set("medjury-session", "planted-by-somebody-else", domain="localhost.local")
    page = victim.get("/sign-in")
    assert page.status_code == 200
    victim.submit("/sign-in", "/sign-in", name="Dr Roe", password=PASSWORD)
    assert is_in(victim)
    attacker = Visitor(app)
    attacker.cookies.set("medjury-session", "planted-by-somebody-else")
    assert not is_in(attacker)


def test_signing_in_again_ends_the_session_before(app: FastAPI) -> None:
    visitor = sign_in(app, Role.RATER, "Dr Roe")
    old = visitor.cookies["medjury-session"]
    token = visitor.token()
    answer = visitor.post("/sign-in", data={"csrf": token, "name": "Dr Roe", "password": PASSWORD})
    assert answer.status_code == 303 and visitor.cookies["medjury-session"] != old
    thief = Visitor(app)
    thief.cookies.set("medjury-session", old)
    assert not is_in(thief)


def test_cookies_are_out_of_reach_of_scripts_and_other_sites(panel: Panel) -> None:
    from dataclasses import replace

    plain = Visitor(make_app(panel)).get("/sign-in").headers["set-cookie"]
    assert "HttpOnly" in plain and "SameSite=lax" in plain and "Secure" not in plain
    secure = make_app(replace(panel, public_url="https://panel.example"))
    visitor = Visitor(secure)
    cookie = visitor.get("/sign-in").headers["set-cookie"]
    assert cookie.startswith("__Host-medjury-visit=")
    assert {"Secure", "HttpOnly", "Path=/", "SameSite=lax"} <= set(cookie.split("; "))
    person = sign_in(secure, Role.RATER)
    assert "__Host-medjury-session" in person.cookies


def test_nothing_in_the_database_lets_anyone_in(app: FastAPI, database: PanelDatabase) -> None:
    visitor = sign_in(app, Role.RATER)
    with database.reading() as connection:
        kept = connection.execute(select(sessions_table)).one()
        person = connection.execute(select(people_table)).one()
    assert kept.hash == hash_of(visitor.cookies["medjury-session"])
    assert person.password.startswith("$argon2id$")
    thief = Visitor(app)
    thief.cookies.set("medjury-session", kept.hash)
    assert not is_in(thief)


def test_a_session_ends_after_two_idle_hours_and_after_a_working_day(app: FastAPI, clock: Clock) -> None:
    visitor = sign_in(app, Role.RATER)
    clock.turn(hours=1, minutes=59)
    assert is_in(visitor)
    clock.turn(hours=2)
    assert not is_in(visitor)
    busy = sign_in(app, Role.RATER, "Busy")
    for _ in range(11):
        clock.turn(hours=1)
        assert is_in(busy)
    clock.turn(hours=1)
    assert not is_in(busy)


def test_a_clock_that_jumps_back_lengthens_no_session(app: FastAPI, clock: Clock) -> None:
    visitor = sign_in(app, Role.RATER)
    clock.turn(hours=1)
    assert is_in(visitor)
    clock.turn(seconds=-90)
    assert is_in(visitor), "a small correction signs nobody out"
    clock.turn(hours=-1)
    assert not is_in(visitor)
    other = Visitor(app)
    other.submit("/sign-in", "/sign-in", name="A rater", password=PASSWORD)
    assert is_in(other), "and everybody can sign in again at once"


def test_a_new_password_ends_all_other_sessions(app: FastAPI) -> None:
    here = sign_in(app, Role.RATER, "Dr Roe")
    ward = Visitor(app)
    ward.submit("/sign-in", "/sign-in", name="dr  ROE", password=PASSWORD)
    assert is_in(ward)
    wrong = here.submit("/account/password", present="wrong", password=NEW_PASSWORD, again=NEW_PASSWORD)
    assert wrong.status_code == 403 and is_in(ward)
    here.submit("/account/password", present=PASSWORD, password=NEW_PASSWORD, again=NEW_PASSWORD)
    assert is_in(here) and not is_in(ward)
    assert Visitor(app).submit("/sign-in", "/sign-in", name="Dr Roe", password=PASSWORD).status_code == 403


def test_signing_out_everywhere_leaves_only_this_browser(app: FastAPI) -> None:
    here = sign_in(app, Role.RATER, "Dr Roe")
    ward = Visitor(app)
    ward.submit("/sign-in", "/sign-in", name="Dr Roe", password=PASSWORD)
    here.submit("/account/sign-out-everywhere")
    assert is_in(here) and not is_in(ward)


def test_signing_out_ends_the_session_itself(app: FastAPI) -> None:
    visitor = sign_in(app, Role.RATER)
    secret = visitor.cookies["medjury-session"]
    assert visitor.submit("/sign-out").headers["location"] == "/sign-in"
    thief = Visitor(app)
    thief.cookies.set("medjury-session", secret)
    assert not is_in(thief)


def test_somebody_who_is_locked_out_is_out_at_once_and_may_be_let_in_again(app: FastAPI) -> None:
    coordinator, rater = sign_in(app, Role.COORDINATOR), sign_in(app, Role.RATER, "Dr Roe")
    assert rater.person is not None
    panel = app.state.panel
    with panel.database.writing() as connection:
        link = f"/join/{invite(connection, rater.person, by='a test', now=panel.now())}"
    assert Visitor(app).get(link).status_code == 200
    coordinator.submit(f"/people/{rater.person.id}/disable", "/people")
    assert not is_in(rater)
    again = Visitor(app)
    assert again.submit("/sign-in", "/sign-in", name="Dr Roe", password=PASSWORD).status_code == 403
    coordinator.submit(f"/people/{rater.person.id}/enable", "/people")
    assert not is_in(rater), "the old session stays over"
    assert Visitor(app).get(link).status_code == 404, "and so does a link that was open"
    assert again.submit("/sign-in", "/sign-in", name="Dr Roe", password=PASSWORD).status_code == 303


def test_a_coordinator_cannot_lock_themselves_out(app: FastAPI) -> None:
    coordinator = sign_in(app, Role.COORDINATOR)
    assert coordinator.person is not None
    assert coordinator.submit(f"/people/{coordinator.person.id}/disable", "/people").status_code == 400
    assert is_in(coordinator)


def test_sessions_are_the_same_in_both_databases(either_database: PanelDatabase, clock: Clock) -> None:
    with either_database.writing() as connection:
        person = add_person(connection, "Dr Roe", Role.RATER, now=clock())
        secret = start_session(connection, person, clock())
    clock.turn(minutes=5)
    with either_database.writing() as connection:
        assert find_session(connection, secret, clock()) == (person, True)
        note_seen(connection, secret, clock())
        assert find_session(connection, secret, clock()) == (person, False)
        assert find_session(connection, "unknown", clock()) is None
        assert end_sessions(connection, person, clock()) == 1
        assert find_session(connection, secret, clock()) is None


@pytest.mark.parametrize("address", ["roe@", "@x", "a b@c", "a@b@c"])
def test_what_is_no_address_is_refused(app: FastAPI, address: str) -> None:
    answer = sign_in(app, Role.COORDINATOR).submit(
        "/people", "/people", name="Roe", role="rater", email=address
    )
    assert answer.status_code == 400 and "not an e-mail address" in answer.text
