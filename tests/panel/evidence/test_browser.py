"""In a real browser: pages fit a desk and a phone, are read by keys alone, by a screen reader, and without
JavaScript; they ask no other machine for anything and complain of nothing."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from tests import chromium
from tests.axe import faults
from tests.panel.evidence.planted_run import explained, plant_study, small_ratings
from tests.panel.served import running

from medjury.panel._evidence._run import EvidenceRun
from medjury.panel._evidence._serve import OneTimeLink, view_app, write_evidence_file

pytestmark = pytest.mark.skipif(chromium.chromium() is None, reason="there is no Chromium on this machine")
CASE = "/case/econsult-06/draft-assistant"


@contextmanager
def served(run: EvidenceRun, beside: EvidenceRun | None = None) -> Iterator[tuple[str, OneTimeLink]]:
    """The evidence on a port of this machine."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        door = OneTimeLink(port)
        with running(view_app(run, door, beside=beside, hosts=frozenset({"127.0.0.1"})), bound):
            yield f"http://127.0.0.1:{port}", door


def wrong(page: Page) -> list[tuple[str, str, str]]:
    """All that axe finds, but parts of the same name: two answers are two answers."""
    return [fault for fault in faults(page) if fault[0] != "landmark-unique"]


class Desk:
    """One open page on the evidence, with all that it asked for and complained of."""

    def __init__(self, browser: Browser, base: str, door: OneTimeLink, **context: Any) -> None:
        self.base = base
        self.page: Page = browser.new_context(viewport={"width": 1280, "height": 900}, **context).new_page()
        self.asked: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda each: self.asked.append(each.url))
        self.page.on("console", lambda each: self.complaints.append(each.text))
        self.page.on("pageerror", lambda each: self.complaints.append(str(each)))
        self.page.goto(f"{base}/open/{door.token}")

    def open(self, path: str) -> Page:
        self.page.goto(self.base + path)
        return self.page


@pytest.fixture(scope="module")
def evidence(econsult: Path) -> EvidenceRun:
    return EvidenceRun(econsult)


@pytest.fixture(scope="module")
def file(econsult: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("file") / "evidence.html"
    write_evidence_file(econsult, out)
    return out


@pytest.fixture
def desk(browser: Browser, evidence: EvidenceRun) -> Iterator[Desk]:
    with served(evidence) as (base, door):
        made = Desk(browser, base, door)
        yield made
        made.page.context.close()


PAGES = ("/", "/cases?sort=difference", CASE, f"{CASE}/text/0", "/numbers", "/numbers/severe-errors",
         "/number/severe-errors/1", "/cases?q=nothingatall")  # fmt: skip


def test_pages_fit_are_accessible_and_ask_nobody_else(desk: Desk) -> None:
    for path in PAGES:
        page = desk.open(path)
        assert wrong(page) == [], path
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (path, width)
        page.set_viewport_size({"width": 1280, "height": 900})
    assert desk.complaints == []
    assert [url for url in desk.asked if not url.startswith(desk.base + "/")] == []


def test_a_reader_goes_through_the_worst_cases_by_keys_alone(desk: Desk) -> None:
    page = desk.open("/cases?sort=difference")
    names = page.locator("a.answer").all_inner_texts()
    for _ in range(3):
        page.keyboard.press("j")
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.textContent") == names[1]
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.inner_text("h1").startswith(names[1])
    with page.expect_navigation():
        page.keyboard.press("j")
    assert page.inner_text("h1").startswith(names[2])
    with page.expect_navigation():
        page.keyboard.press("k")
    assert page.inner_text("h1").startswith(names[1])
    with page.expect_navigation():
        page.keyboard.press("u")
    assert "sort=difference" in page.url
    page.keyboard.press("/")
    page.keyboard.type("jk levothyroxine")  # what is typed into a field is no command
    assert page.input_value("#q") == "jk levothyroxine"
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    assert page.evaluate("document.activeElement.id") == "by-show"


def test_a_filter_works_at_once_and_a_quotation_leads_to_its_place(desk: Desk) -> None:
    page = desk.open("/cases")
    with page.expect_navigation():
        page.select_option("#by-show", "missed")
    assert page.locator("a.answer").count() == 5
    page = desk.open(CASE)
    quotation = page.locator("a.quoted").first
    quotation.click()
    target = page.url.rpartition("#")[2]
    assert page.locator(f"#{target} + mark").first.is_visible()


def test_without_javascript_everything_is_reached(browser: Browser, evidence: EvidenceRun) -> None:
    with served(evidence) as (base, door):
        desk = Desk(browser, base, door, java_script_enabled=False)
        page = desk.page
        page.click("text=Dangerous, and missed")
        assert page.locator("a.answer").count() == 5
        page.select_option("#by-sort", "apart")
        page.click("button:has-text('Show')")
        assert "sort=apart" in page.url
        page.locator("a.answer").first.click()
        assert page.locator("h2:has-text('Votes')").is_visible()
        page.click("a[rel=next]")
        page.fill("#q", "warfarin apixaban")
        page.click("button:has-text('Search')")
        assert page.locator("h1").inner_text() == "“warfarin apixaban”"
        page.context.close()


def test_two_answers_stand_side_by_side_with_their_words_compared(browser: Browser, tmp_path: Path) -> None:
    ratings = small_ratings()
    first = plant_study(
        tmp_path / "one", ratings, texts={"case-0001": {"candidate": "Take 5 mg of it daily."}}
    )
    second = plant_study(
        tmp_path / "two", ratings, texts={"case-0001": {"candidate": "Take 10 mg of it daily."}}
    )
    with served(EvidenceRun(first), EvidenceRun(second)) as (base, door):
        desk = Desk(browser, base, door)
        page = desk.open("/case/case-0001/alpha")
        page.click("text=Beside the other run")
        marked = page.locator("mark.differs").all_inner_texts()
        assert [each.strip() for each in marked] == ["5", "10"]
        assert wrong(page) == []
        page = desk.open("/case/case-0001/alpha")
        page.locator("a:has-text('beta')").first.click()
        assert "case-0001: alpha beside beta" in page.inner_text("h1")
        assert "the same, word for word" in page.inner_text("main")
        assert desk.complaints == []
        page.context.close()


def test_hostile_texts_run_nothing(browser: Browser, tmp_path: Path) -> None:
    script = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    ratings = explained(small_ratings(), "judge-a", script)
    run = plant_study(tmp_path, ratings, texts={"case-0001": {"candidate": script, "reference": script}})
    with served(EvidenceRun(run)) as (base, door):
        desk = Desk(browser, base, door)
        page = desk.open("/case/case-0001/alpha")
        assert "owned" not in page.title()
        assert page.locator("img").count() == 0
        assert desk.complaints == []
        page.context.close()
    write_evidence_file(run, tmp_path / "evidence.html")
    page = browser.new_page()
    page.goto((tmp_path / "evidence.html").as_uri())
    assert "owned" not in page.title()
    assert page.locator("img").count() == 0
    page.context.close()


def test_the_file_is_filtered_searched_and_read_by_keys(browser: Browser, file: Path) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    complaints: list[str] = []
    asked: list[str] = []
    page.on("console", lambda each: complaints.append(each.text))
    page.on("pageerror", lambda each: complaints.append(str(each)))
    page.on("request", lambda each: asked.append(each.url))
    page.goto(file.as_uri())
    assert page.inner_text("#count") == "40 of 40 answers"
    page.select_option("#by-show", "missed")
    assert page.inner_text("#count") == "5 of 40 answers"
    page.select_option("#by-show", "")
    page.fill("#q", "levothyroxine TSH")
    kept = page.locator("details.case:visible").count()
    assert 0 < kept < 40
    page.fill("#q", "")
    page.select_option("#by-sort", "difference")
    gaps = [float(each.get_attribute("data-difference") or 0) for each in page.locator("details.case").all()]
    assert gaps == sorted(gaps, reverse=True)
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    opened = page.locator("details.case[open]")
    assert opened.count() == 1
    assert opened.locator("table.votes").first.is_visible()
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert complaints == []
    assert asked == [file.as_uri()]
    page.context.close()


def test_a_screen_reader_finds_its_way_in_the_file(browser: Browser, econsult: Path, tmp_path: Path) -> None:
    out = tmp_path / "evidence.html"
    write_evidence_file(econsult, out, most=2)
    page = browser.new_page()
    page.goto(out.as_uri())
    for summary in page.locator("details.case > summary").all():
        summary.click()
    assert wrong(page) == []
    page.context.close()


def test_the_file_is_read_without_javascript(browser: Browser, file: Path) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(file.as_uri())
    assert page.locator("#filters").is_hidden()
    assert page.locator("details.case").count() == 40
    page.locator("details.case > summary").first.click()
    assert page.locator("details.case").first.locator("table.votes").first.is_visible()
    page.context.close()
