"""A grade that is given is kept, however soon the page is left and whatever becomes of the connection."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.panel.rating.at_browsers import DESKTOP, PHONE, open_case, panel_of, rater_at
from tests.panel.rounds import set_up_panel
from tests.panel.served import served

from medjury.panel._design._rounds import rounds
from medjury.panel._rating._answers import history, latest_answers
from medjury.panel._serve import Panel
from medjury.panel._tables import assignments_table

SOON = 50  # milliseconds, far less than a pause in typing


def drafts(panel: Panel) -> list[tuple[str, str]]:
    """The last version of every case that has one: its grade of accuracy, and the comment."""
    with panel.database.reading() as connection:
        cases = connection.execute(assignments_table.select()).all()
        kept = [history(connection, each.id) for each in cases]
    return [(each[-1].said["accuracy"]["grade"], each[-1].comment) for each in kept if each]


@contextmanager
def rater_in_another_browser(browser: Browser, page: Page) -> Iterator[Page]:
    """The same rater at the same case, with nothing kept from before."""
    context = browser.new_context()
    context.add_cookies(page.context.cookies())  # type: ignore[arg-type]
    second = context.new_page()
    second.goto(page.url)
    open_case(second, 1)
    yield second
    context.close()


def by_the_browsers_back(page: Page) -> None:
    page.go_back()


def by_next(page: Page) -> None:
    page.get_by_role("link", name="Next").click(no_wait_after=True)


def by_closing(page: Page) -> None:
    page.close()


@pytest.mark.parametrize(
    ("what", "leave"),
    [
        ("a grade", by_the_browsers_back),
        ("a grade", by_closing),
        ("a comment", by_next),
        ("a comment", by_closing),
    ],
)
def test_what_was_given_a_moment_before_leaving_is_kept(
    what: str, leave: Callable[[Page], None], browser: Browser, tmp_path: Path
) -> None:
    with panel_of(tmp_path) as panel, rater_at(browser, panel, "Dr Quick", PHONE) as page:
        page.get_by_role("link", name="Start").tap()
        open_case(page, 1)
        if what == "a grade":
            page.locator("#q-accuracy label", has_text="4").first.tap()
        else:
            page.locator(".comment summary").tap()
            page.locator("#comment").type("Dose?")
        page.wait_for_timeout(SOON)
        other = page.context.new_page()
        leave(page)
        other.goto("/rate")
        expect(other.locator(".cases .state").first).to_be_attached()
        for _ in range(100):
            if drafts(panel):
                break
            other.wait_for_timeout(20)
        assert drafts(panel) == [("4", "") if what == "a grade" else ("", "Dose?")]


def test_grades_in_one_breath_and_the_answer_at_once_are_one_answer(browser: Browser, tmp_path: Path) -> None:
    with panel_of(tmp_path) as panel, rater_at(browser, panel, "Dr Quick", DESKTOP) as page:
        page.get_by_role("link", name="Start").click()
        for number in range(1, 6):
            open_case(page, number)
            page.evaluate(
                """() => { for (const key of ["4", "k", "3", "5", "2", "Enter"])
                document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })); }"""
            )
        open_case(page, 6)
        with panel.database.reading() as connection:
            found = list(latest_answers(connection, rounds(connection)[0]))
        assert [f"{getattr(each.outcome, 'value', None):g}" for each in found] == ["3", "5", "2"] * 5


def test_a_killed_connection_loses_nothing_and_the_rater_sees_it(browser: Browser, tmp_path: Path) -> None:
    database, _ = set_up_panel(tmp_path)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    running = served(Panel(database), port)
    panel = running.__enter__()
    with rater_at(browser, panel, "Dr Ward", DESKTOP, may_fail=True) as page:
        page.get_by_role("link", name="Start").click()
        open_case(page, 1)
        address = page.url
        running.__exit__(None, None, None)
        page.keyboard.press("4")
        expect(page.locator(".saved")).to_contain_text("Kept in this browser")
        page.locator(".comment summary").click()
        page.locator("#comment").fill("Which dose?")
        page.wait_for_timeout(1200)
        other = page.context.new_page()
        page.close()
        assert drafts(panel) == []
        with served(Panel(database), port) as panel:
            other.goto("/rate")
            expect(other.locator("#unsent")).to_contain_text("Saved now: 1 of your cases")
            assert drafts(panel) == [("4", "Which dose?")]
            other.goto(address)
            assert other.locator('input[name="grade.accuracy"][value="4"]').is_checked()
            assert other.evaluate("Object.keys(localStorage).length") == 0
    database.close()


def test_what_another_device_saved_meanwhile_is_not_overwritten(browser: Browser, tmp_path: Path) -> None:
    with panel_of(tmp_path) as panel, rater_at(browser, panel, "Dr Ward", DESKTOP, may_fail=True) as page:
        page.get_by_role("link", name="Start").click()
        open_case(page, 1)
        page.route("**/draft", lambda route: route.abort())
        page.keyboard.press("4")
        expect(page.locator(".saved")).to_contain_text("Kept in this browser")
        with rater_in_another_browser(browser, page) as second:
            second.keyboard.press("2")
            expect(second.locator(".saved")).to_have_text("Draft saved")
        page.unroute("**/draft")
        page.reload()
        expect(page.locator(".rate .note")).to_contain_text("from another tab or device")
        assert page.locator('input[name="grade.accuracy"][value="2"]').is_checked()
        assert drafts(panel) == [("2", "")]
        page.get_by_role("button", name="Use what was not sent").click()
        expect(page.locator(".saved")).to_have_text("Draft saved")
        assert drafts(panel) == [("4", "")]


def test_a_missing_grade_is_complained_of_until_it_is_given(browser: Browser, tmp_path: Path) -> None:
    with panel_of(tmp_path) as panel, rater_at(browser, panel, "Dr Desk", DESKTOP) as page:
        page.get_by_role("link", name="Start").click()
        open_case(page, 1)
        page.keyboard.press("4")
        page.keyboard.press("Enter")
        expect(page.locator(".problem li")).to_have_text(["Completeness", "Clarity"])
        expect(page.locator(".question p.bad")).to_have_text(["Choose a grade."] * 2)
        page.locator("#q-clarity label", has_text="5").first.click()
        expect(page.locator(".problem li")).to_have_text(["Completeness"])
        expect(page.locator(".question p.bad")).to_have_count(1)
        page.locator("#q-completeness label", has_text="5").first.click()
        expect(page.locator(".problem")).to_have_count(0)
        expect(page.locator(".saved")).to_have_text("Draft saved")
        assert drafts(panel) == [("4", "")]
