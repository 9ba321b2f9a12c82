"""What goes wrong around the panel while people work: its database is restarted, its clock is set."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from playwright.sync_api import expect
from tests import chromium
from tests.panel.raters import GOOD, Rater, rater
from tests.panel.rounds import Clock, set_up_panel
from tests.panel.served import served
from tests.panel.visitors import PASSWORD, Visitor, hand_over, invited, sign_in
from tests.stoppable_postgres import end, own_server, own_url, start  # noqa: F401 - fixtures

from medjury.instruments import Score
from medjury.panel._access._people import Role
from medjury.panel._access._trail import check_trail, trail_entries
from medjury.panel._database import PanelDatabase
from medjury.panel._design._rounds import rounds
from medjury.panel._rating._answers import latest_answers
from medjury.panel._serve import Panel, make_app

TYPED = 'The dose is "5 mg" <daily>\r\n& not more: 1 > 0 – naïve €'
_HIDDEN = re.compile(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', re.DOTALL)


@pytest.fixture
def database(tmp_path: Path, own_url: str) -> Iterator[PanelDatabase]:  # noqa: F811
    database, _ = set_up_panel(tmp_path, own_url)
    yield database
    database.close()


def fields_of(html: str) -> dict[str, str]:
    """The form that a page holds ready to be sent again."""
    return {unescape(name): unescape(value) for name, value in _HIDDEN.findall(html)}


def comments(app: FastAPI) -> list[str]:
    with app.state.panel.database.reading() as connection:
        return [each.comment for each in latest_answers(connection, rounds(connection)[0])]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["stopped", "killed"])
def test_while_postgresql_is_away_pages_say_so_and_what_was_typed_is_kept(
    how: signal.Signals,
    database: PanelDatabase,
    own_server: Any,  # noqa: F811
    capfd: pytest.CaptureFixture[str],
) -> None:
    app = make_app(Panel(database))
    one = rater(app)
    first, second, *_ = one.codes()
    assert one.rate(first, **GOOD, comment="before").status_code == 303
    sent = GOOD | {"csrf": one.token("/rate/profile"), "version": "0", "comment": TYPED, "action": "submit"}
    end(own_server, how)
    for address in ("/rate", f"/rate/{second}", "/account", "/sign-in", "/", "/healthz"):
        answer = one.get(address)
        assert (answer.status_code, answer.headers.get("retry-after")) == (503, "5"), address
        assert "Try again in a moment" in answer.text
    assert one.get("/api/rounds").json() == {
        "error": "The panel cannot reach its database just now. Try again in a moment."
    }
    assert one.post(f"/rate/{second}/draft", data=sent).status_code == 503
    answer = one.post(f"/rate/{second}", data=sent)
    assert answer.status_code == 503 and "not saved yet" in answer.text
    assert fields_of(answer.text) == sent
    assert f'action="/rate/{second}"' in answer.text
    told = capfd.readouterr().err
    assert "OperationalError" in told and "5 mg" not in told and "postgresql" not in answer.text
    start(own_server)
    again = one.post(f"/rate/{second}", data=fields_of(answer.text))
    assert again.status_code == 303, again.text
    assert set(comments(app)) == {"before", TYPED}
    assert one.get("/healthz").text == "ok"


def test_a_password_is_never_put_back_on_a_page(database: PanelDatabase, own_server: Any) -> None:  # noqa: F811
    panel = Panel(database)
    app = make_app(panel)
    guest = Visitor(app)
    _, path = invited(panel, "Dr Quoll", Role.RATER)
    sent = {"csrf": guest.token(path), "password": PASSWORD, "again": PASSWORD}
    end(own_server)
    answer = guest.post(path, data=sent)
    assert answer.status_code == 503 and PASSWORD not in answer.text and "Go back" in answer.text
    start(own_server)
    assert guest.post(path, data=sent).status_code == 303


def test_in_the_browser_a_draft_waits_for_the_database(
    database: PanelDatabase,
    own_server: Any,  # noqa: F811
) -> None:
    with served(Panel(database)) as panel, chromium.browser() as browser:
        context = browser.new_context(base_url=panel.public_url)
        page = context.new_page()
        known = rater(make_app(panel))
        hand_over(known, context)
        page.goto(f"/rate/{known.codes()[0]}")
        expect(page.locator(".question.current")).to_have_count(1)
        end(own_server)
        page.keyboard.type("435")
        expect(page.locator(".saved")).to_contain_text("out of reach for a moment")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Try again in a moment")).to_be_visible()
        start(own_server)
        page.get_by_role("button", name="Send it again").click()
        expect(page.locator("h1")).to_contain_text("Case 2")
        with database.reading() as connection:
            kept = {each.outcome for each in latest_answers(connection, rounds(connection)[0])}
        assert kept == {Score(4), Score(3), Score(5)}


@pytest.mark.parametrize("hours", [-6, -1 / 60, 6, 24 * 400])
def test_whatever_the_clock_does_nothing_is_lost_and_the_trail_holds(hours: float, tmp_path: Path) -> None:
    clock = Clock()
    database, _ = set_up_panel(tmp_path)
    app = make_app(Panel(database, now=clock))
    one = rater(app)
    first, second, *_ = one.codes()
    assert one.rate(first, **GOOD, comment="before").status_code == 303
    clock.turn(3600 * hours)
    if one.get("/rate").status_code != 200:  # a session that lies in the future or is too old is over
        assert abs(hours) >= 2
        again = Rater(app)
        answer = again.submit("/sign-in", "/sign-in", name="Dr Ocelot", password=PASSWORD)
        assert answer.status_code == 303, answer.text
        again.person, one = one.person, again
    assert one.codes()[:2] == [first, second], "the order of the cases does not hang on the clock"
    assert one.rate(second, **GOOD, comment="after").status_code == 303
    assert one.rate(first, **GOOD, comment="changed").status_code == 303
    assert set(comments(app)) == {"changed", "after"}, "the last word is what was saved last"
    sign_in(app, Role.COORDINATOR, "Ada")
    with database.reading() as connection:
        found = list(latest_answers(connection, rounds(connection)[0]))
        check_trail(connection)
        numbers = [each.number for each in trail_entries(connection)]
    assert all(each.seconds is not None and 0 <= each.seconds <= 3600 for each in found)
    assert len(numbers) > 3 and numbers == list(range(1, len(numbers) + 1))
    database.close()
