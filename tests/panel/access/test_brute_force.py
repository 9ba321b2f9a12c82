"""Guessing does not pay, is remembered over a restart, and tells nobody who has an account here."""

from __future__ import annotations

import statistics
import threading
import time
from functools import cache

import pytest
from argon2 import PasswordHasher
from fastapi import FastAPI
from tests.panel.rounds import Clock
from tests.panel.visitors import PASSWORD, Visitor, sign_in

from medjury.foundation.errors import MedjuryError
from medjury.panel._access._passwords import (
    FREE,
    _nobodys_hash,
    address_key,
    begin_attempt,
    check_new_password,
    note_failure,
    seconds_to_wait,
    stranger_keys,
)
from medjury.panel._access._people import Role
from medjury.panel._access._sign_in import invite
from medjury.panel._database import PanelDatabase
from medjury.panel._serve import Panel, make_app


def attempt(visitor: Visitor, name: str, password: str = "wrong") -> tuple[int, str]:
    answer = visitor.submit("/sign-in", "/sign-in", name=name, password=password)
    return answer.status_code, answer.text.partition('role="alert">')[2].partition("</div>")[0]


def test_after_five_failures_even_the_right_password_waits(app: FastAPI, clock: Clock) -> None:
    sign_in(app, Role.RATER, "Dr Roe")
    visitor = Visitor(app)
    assert [attempt(visitor, "Dr Roe")[0] for _ in range(5)] == [403] * 5
    assert attempt(visitor, "Dr Roe", PASSWORD)[0] == 429
    clock.turn(seconds=16)
    assert attempt(visitor, "Dr Roe", PASSWORD)[0] == 303


def test_the_wait_doubles_up_to_a_quarter_of_an_hour(database: PanelDatabase, clock: Clock) -> None:
    keys, waits = stranger_keys("Dr Roe", "198.51.100.7"), []
    with database.writing() as connection:
        for _ in range(14):
            note_failure(connection, keys, clock())
            waits.append(seconds_to_wait(connection, keys, clock()))
    assert waits == [0, 0, 0, 0, 15, 30, 60, 120, 240, 480, 900, 900, 900, 900]


def test_a_restart_forgets_nothing(app: FastAPI, panel: Panel) -> None:
    visitor = Visitor(app)
    for _ in range(5):
        attempt(visitor, "Dr Roe")
    assert attempt(Visitor(make_app(panel)), "Dr Roe")[0] == 429


def test_another_way_of_writing_the_name_is_the_same_account(app: FastAPI) -> None:
    visitor = Visitor(app)
    for name in ("Dr Roe", "dr roe", " DR  ROE ", "Dr Roe", "\uff24r Roe"):
        attempt(visitor, name)
    assert attempt(visitor, "Dr Roe")[0] == 429


def test_many_names_from_one_address_wait_as_well(app: FastAPI, clock: Clock) -> None:
    sign_in(app, Role.RATER, "Dr Roe")
    with app.state.panel.database.writing() as connection:
        for _ in range(FREE["address"]):
            note_failure(connection, (address_key("198.51.100.7"),), clock())
    assert attempt(Visitor(app, address="198.51.100.7"), "Dr Roe", PASSWORD)[0] == 429
    assert attempt(Visitor(app, address="198.51.100.8"), "Dr Roe", PASSWORD)[0] == 303


def test_a_strangers_guesses_do_not_lock_a_clinician_out(app: FastAPI, clock: Clock) -> None:
    own = sign_in(app, Role.RATER, "Dr Roe")
    assert own.submit("/sign-out").status_code == 303
    stranger = Visitor(app, address="198.51.100.66")
    for _ in range(12):
        attempt(stranger, "Dr Roe")
    assert attempt(stranger, "Dr Roe", PASSWORD)[0] == 429
    clock.turn(seconds=1)
    assert attempt(Visitor(app, address="198.51.100.8"), "Dr Roe", PASSWORD)[0] == 303, "another place, too"
    assert attempt(own, "Dr Roe", PASSWORD)[0] == 303
    assert attempt(stranger, "Dr Roe", PASSWORD)[0] == 429, "what was guessed elsewhere stays counted"


def test_the_clinicians_own_browser_signs_in_while_the_whole_world_guesses(app: FastAPI) -> None:
    own = sign_in(app, Role.RATER, "Dr Roe")
    assert own.submit("/sign-out").status_code == 303
    world = [Visitor(app, address=f"198.51.{third}.7") for third in range(FREE["account"] + 5)]
    told = [attempt(each, "Dr Roe")[0] for each in world]
    assert told == [403] * FREE["account"] + [429] * 5, "guesses from many places are bounded together"
    for _ in range(FREE["address"]):
        attempt(Visitor(app), f"Dr Nobody {_}")
    assert attempt(Visitor(app), "Dr Roe", PASSWORD)[0] == 429, "a new browser waits"
    assert attempt(own, "Dr Roe", PASSWORD)[0] == 303, "the clinician's own does not"


def test_in_a_known_browser_guessing_is_bounded_too(app: FastAPI, clock: Clock) -> None:
    own = sign_in(app, Role.RATER, "Dr Roe")
    own.submit("/sign-out")
    assert [attempt(own, "Dr Roe")[0] for _ in range(6)] == [403] * 5 + [429]
    assert attempt(own, "Dr Roe", PASSWORD)[0] == 429
    clock.turn(seconds=16)
    assert attempt(own, "Dr Roe", PASSWORD)[0] == 303


def test_a_browser_is_known_for_those_who_signed_in_with_it_alone(app: FastAPI, clock: Clock) -> None:
    sign_in(app, Role.RATER, "Dr Roe")
    other = sign_in(app, Role.RATER, "Dr Doe")
    other.submit("/sign-out")
    assert [attempt(other, "Dr Roe")[0] for _ in range(6)] == [403] * 5 + [429]
    made_up = Visitor(app, address="198.51.100.9")
    made_up.cookies.set("medjury-device", "x" * 43, domain="localhost.local", path="/")
    assert [attempt(made_up, "Dr Roe")[0] for _ in range(6)] == [403] * 5 + [429]
    clock.turn(hours=25)
    assert attempt(made_up, "Dr Roe", PASSWORD)[0] == 303
    assert made_up.cookies["medjury-device"] != "x" * 43, "only a secret of ours is kept"


def test_a_browser_is_forgotten_when_the_person_signs_out_everywhere_or_is_long_away(
    app: FastAPI, clock: Clock
) -> None:
    first, second = sign_in(app, Role.RATER, "Dr Roe"), Visitor(app)
    assert attempt(second, "Dr Roe", PASSWORD)[0] == 303
    assert second.submit("/account/sign-out-everywhere").status_code == 303
    stranger = Visitor(app)  # from the same address
    for _ in range(5):
        attempt(stranger, "Dr Roe")
    assert attempt(first, "Dr Roe", PASSWORD)[0] == 429
    second.submit("/sign-out")
    assert attempt(second, "Dr Roe", PASSWORD)[0] == 303
    clock.turn(days=181)
    second.cookies.delete("medjury-session")
    for _ in range(5):
        attempt(stranger, "Dr Roe")
    assert attempt(second, "Dr Roe", PASSWORD)[0] == 429


def test_a_signed_in_person_changes_the_password_whatever_strangers_guess(app: FastAPI) -> None:
    own = sign_in(app, Role.RATER, "Dr Roe")
    for third in range(FREE["account"] + 1):
        attempt(Visitor(app, address=f"198.51.{third}.7"), "Dr Roe")
    new = "maple winter kettle drum"
    assert own.submit("/account/password", present=PASSWORD, password=new, again=new).status_code == 303


def test_a_new_invitation_forgets_what_was_guessed(app: FastAPI, panel: Panel) -> None:
    roe = sign_in(app, Role.RATER, "Dr Roe").person
    stranger = Visitor(app)
    for _ in range(5):
        attempt(stranger, "Dr Roe")
    assert roe is not None
    with panel.database.writing() as connection:
        invite(connection, roe, by="a test", now=panel.now())
    assert attempt(stranger, "Dr Roe", PASSWORD)[0] == 303


def test_failures_are_forgotten_after_a_day_and_after_success(app: FastAPI, clock: Clock) -> None:
    sign_in(app, Role.RATER, "Dr Roe")
    visitor = Visitor(app)
    for _ in range(4):
        attempt(visitor, "Dr Roe")
    assert attempt(visitor, "Dr Roe", PASSWORD)[0] == 303
    visitor = Visitor(app)
    assert [attempt(visitor, "Dr Roe")[0] for _ in range(4)] == [403] * 4


def test_a_clock_that_jumps_back_makes_nobody_wait_longer_than_the_wait(app: FastAPI, clock: Clock) -> None:
    visitor = Visitor(app)
    for _ in range(5):
        attempt(visitor, "Dr Roe")
    clock.turn(days=-400)
    assert "15 seconds" in attempt(visitor, "Dr Roe")[1]


def test_an_unknown_name_gets_the_same_answers(app: FastAPI) -> None:
    sign_in(app, Role.RATER, "Dr Roe")
    known = [attempt(Visitor(app), "Dr Roe") for _ in range(7)]
    unknown = [attempt(Visitor(app), "Dr Nobody") for _ in range(7)]
    assert known == unknown
    assert [status for status, _ in known] == [403] * 5 + [429] * 2


def test_an_unknown_name_takes_the_same_time(
    app: FastAPI, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hash of a password is worked out for nobody too. Without that an unknown name is answered many times
    faster; we ask only that it takes at least half as long, which no busy machine turns round."""
    monkeypatch.setattr("medjury.panel._access._passwords._hasher", cache(PasswordHasher))
    _nobodys_hash.cache_clear()
    sign_in(app, Role.RATER, "Dr Roe")
    times: dict[str, list[float]] = {"Dr Roe": [], "Dr Nobody": []}
    visitor = Visitor(app)
    token = visitor.token("/sign-in")
    for _ in range(3):
        for name, taken in times.items():
            started = time.perf_counter()
            visitor.post("/sign-in", data={"csrf": token, "name": name, "password": "wrong"})
            taken.append(time.perf_counter() - started)
        clock.turn(hours=25)
    assert statistics.median(times["Dr Nobody"]) > 0.5 * statistics.median(times["Dr Roe"])


def test_guessing_the_present_password_waits_too(app: FastAPI) -> None:
    visitor = sign_in(app, Role.RATER, "Dr Roe")
    told = [visitor.submit("/account/password", present="wrong").status_code for _ in range(6)]
    assert told == [403] * 5 + [429]


def test_guessing_api_keys_waits_too(app: FastAPI, clock: Clock) -> None:
    visitor = Visitor(app)
    keys = {"Authorization": "Bearer medjury_guessed"}
    assert visitor.get("/api/openapi.json", headers=keys).status_code == 401
    with app.state.panel.database.writing() as connection:
        for _ in range(FREE["address"]):
            note_failure(connection, (address_key("203.0.113.5"),), clock())
    assert visitor.get("/api/openapi.json", headers=keys).status_code == 429


@pytest.mark.parametrize(
    "password",
    ["short", "password1234", "P@ssw0rd!2026", "123456789012", "qwertyuiop12", "aaaaaaaaaaaaaa", "abcabcabcabc",
     "DrAnneRoe2026!", "Krankenhaus2026!", "correcthorsebatterystaple", "hospital-hospital", "x" * 300],
)  # fmt: skip
def test_a_password_that_would_be_guessed_is_refused(password: str) -> None:
    with pytest.raises(MedjuryError):
        check_new_password(password, password, "Dr Anne Roe")


@pytest.mark.parametrize(
    "password",
    [PASSWORD, "maple winter kettle drum", "vGh73-kkPq-02x!", "grün gedacht Laterne", "ходил по льду"],
)
def test_a_good_password_is_taken(password: str) -> None:
    check_new_password(password, password, "Dr Anne Roe")
    with pytest.raises(MedjuryError, match="differ"):
        check_new_password(password, password + " ", "Dr Anne Roe")


def test_many_guesses_at_once_are_not_more_than_one_after_another(app: FastAPI) -> None:
    sign_in(app, Role.RATER, "Dr Roe")
    visitors = [Visitor(app) for _ in range(12)]
    tokens = [visitor.token("/sign-in") for visitor in visitors]
    found: list[int] = []

    def guess(visitor: Visitor, token: str) -> None:
        fields = {"csrf": token, "name": "Dr Roe", "password": "wrong"}
        found.append(visitor.post("/sign-in", data=fields).status_code)

    threads = [threading.Thread(target=guess, args=pair) for pair in zip(visitors, tokens, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [403] * 5 + [429] * 7


def test_attempts_at_once_are_all_counted(either_database: PanelDatabase, clock: Clock) -> None:
    keys = stranger_keys("Dr Roe", "198.51.100.7")
    waits: list[int] = []

    def attempt_once() -> None:
        with either_database.writing() as connection:
            waits.append(begin_attempt(connection, keys, clock()))

    threads = [threading.Thread(target=attempt_once) for _ in range(9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(waits) == [0] * 5 + [15] * 4


def test_many_who_sign_in_from_one_address_do_not_wait(app: FastAPI) -> None:
    sign_in(app, Role.RATER, "Dr Roe")
    assert {attempt(Visitor(app), "Dr Roe", PASSWORD)[0] for _ in range(FREE["address"] + 2)} == {303}
