"""Raters at a real browser: by keyboard on a ward computer, by thumb on a phone, with and without JavaScript."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Browser, expect
from tests.panel.rating.at_browsers import DESKTOP, PHONE, nothing_serious, open_case, panel_of, rater_at

from medjury.instruments import NotApplicable, Score
from medjury.panel._design._assignments import places
from medjury.panel._design._rounds import rounds
from medjury.panel._rating._answers import Collected, latest_answers
from medjury.panel._serve import Panel

NOTES = [{"id": "N1", "text": "Seen: well. Well again."}]


def answers(panel: Panel) -> list[Collected]:
    with panel.database.reading() as connection:
        return list(latest_answers(connection, rounds(connection)[0]))


def test_two_raters_rate_their_cases_by_keyboard_and_by_thumb(browser: Browser, tmp_path: Path) -> None:
    with panel_of(tmp_path, cases=2, systems=("only",)) as panel:
        for name, size, grades in (("Dr Ward", DESKTOP, "224"), ("Dr Phone", PHONE, "")):
            with rater_at(browser, panel, name, size) as page:
                nothing_serious(page)
                page.get_by_role("link", name="Start").click()
                for number in range(1, 3):
                    open_case(page, number)
                    if number == 1:
                        nothing_serious(page)
                    if grades:
                        page.keyboard.type(grades)
                        page.keyboard.press("Enter")
                    else:
                        for question in ("accuracy", "completeness", "clarity"):
                            page.locator(f"#q-{question} label", has_text="5").first.tap()
                        page.get_by_role("button", name="Submit and go on").tap()
                expect(page.locator("body")).to_contain_text("All done. Thank you.")
                nothing_serious(page)
                if name == "Dr Ward":  # goes back to the second case and changes an answer
                    page.locator(".cases a").nth(1).click()
                    open_case(page, 2)
                    page.keyboard.press("j")
                    page.keyboard.press("5")
                    page.keyboard.press("Enter")
                    expect(page.locator("h1")).to_contain_text("My cases")
        found = answers(panel)
        assert len(found) == 2 * 2 * 3
        assert all(each.measured for each in found)
        ward = [each.outcome for each in found if each.dimension == "completeness" and each.version > 1]
        assert Score(5) in ward


def test_a_draft_saves_itself_and_a_second_tab_is_told(browser: Browser, tmp_path: Path) -> None:
    with panel_of(tmp_path) as panel, rater_at(browser, panel, "Dr Desk", DESKTOP) as page:
        page.get_by_role("link", name="Start").click()
        open_case(page, 1)
        second = page.context.new_page()
        second.goto(page.url)
        open_case(second, 1)
        page.keyboard.press("4")
        expect(page.locator(".saved")).to_have_text("Draft saved")
        second.keyboard.press("2")
        expect(second.locator(".saved")).to_contain_text("from another tab or device")
        assert second.locator('input[name="grade.accuracy"][value="2"]').is_checked()
        second.keyboard.type("33")
        second.keyboard.press("Enter")
        expect(second.locator(".note").first).to_contain_text("What you see below is not saved yet")
        assert second.locator('input[name="grade.accuracy"][value="2"]').is_checked()
        second.locator("h1").click()
        second.keyboard.press("Enter")  # now the rater knows, and keeps it
        open_case(second, 2)
        page.reload()
        assert page.locator('input[name="grade.accuracy"][value="2"]').is_checked()


def test_keys_skip_what_does_not_apply_and_say_what_they_do(browser: Browser, tmp_path: Path) -> None:
    rows = [
        {
            "id": f"c{n}",
            "system": "s",
            "candidate": "Well.",
            "notes": [{"id": "N1", "text": "Seen: well. Well again."}],
        }
        for n in range(2)
    ]
    with (
        panel_of(tmp_path, rows=rows, instrument="pdsqi9", dimensions="") as panel,
        rater_at(browser, panel, "Dr Desk", DESKTOP) as page,
    ):
        page.get_by_role("link", name="Start").click()
        open_case(page, 1)
        page.keyboard.press("?")
        expect(page.get_by_role("heading", name="Keys")).to_be_visible()
        nothing_serious(page)
        page.keyboard.press("Escape")
        page.keyboard.press("/")
        page.keyboard.type("well")
        expect(page.locator("mark.found")).to_have_count(2)
        expect(page.locator(".found[role=status]")).to_have_text("1 of 2")
        page.keyboard.press("Escape")
        expect(page.locator("mark.found")).to_have_count(0)
        page.keyboard.type("5555555" + "0")  # seven grades, then: no abstraction needed
        expect(page.locator("#q-synthesized")).to_have_class("question left-out")
        page.keyboard.press("0")
        page.keyboard.press("c")
        page.keyboard.type("Notes are cut 1")  # digits in a text are text
        page.keyboard.press("Control+Enter")
        open_case(page, 2)
        found = {each.dimension: each.outcome for each in answers(panel)}
        assert found["synthesized"] == NotApplicable()
        assert found["abstraction"] == Score(0)
        assert getattr(found["stigmatizing_notes"], "message", "") == "Notes are cut 1"


def test_two_transcripts_with_the_changed_words_marked_and_a_reason(browser: Browser, tmp_path: Path) -> None:
    rows = [
        {
            "id": "a",
            "system": "s",
            "reference": "It's not painful, just gritty.",
            "candidate": "It's painful, just pretty.",
            "texts": {"context": "Doctor: Is your eye painful?"},
        }
    ]
    study = {"rows": rows, "instrument": "transcript_impact", "dimensions": ""}
    with (
        panel_of(tmp_path, panel="panel: {justification: required}\n", **study) as panel,
        rater_at(browser, panel, "Dr Desk", DESKTOP) as page,
    ):
        page.get_by_role("link", name="Start").click()
        open_case(page, 1)
        marked = page.locator("#source mark.differs, #answer mark.differs").all_inner_texts()
        words = [re.sub(r"[\[\]\s]|differs:", "", text) for text in marked]
        assert words == ["not", "gritty.", "pretty."]
        assert page.locator("#answer").inner_text().count("Is your eye painful?") == 1
        page.locator(".guidance summary").click()
        assert page.locator(".example").count() == 4
        nothing_serious(page)
        page.locator("h1").click()
        page.keyboard.press("2")
        page.keyboard.press("Enter")  # no reason yet
        page.keyboard.press("Enter")
        expect(page.locator(".problem")).to_contain_text("Missing: Clinical impact")
        page.locator("#why-impact").fill("A denied symptom is now reported")
        page.keyboard.press("Control+Enter")
        expect(page.locator("h1")).to_contain_text("My cases")
        (only,) = answers(panel)
        assert only.outcome == Score(2, "A denied symptom is now reported")


def test_all_of_it_works_without_javascript_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    with (
        panel_of(tmp_path, cases=1, systems=("only",)) as panel,
        rater_at(browser, panel, "Dr Plain", PHONE, scripts=False) as page,
    ):
        page.get_by_role("link", name="Start").tap()
        page.locator(".jump").get_by_text("Rate").tap()
        page.locator("#q-accuracy label", has_text="4").first.tap()
        page.get_by_role("button", name="Save draft").tap()
        expect(page.locator(".note")).to_contain_text("Your draft is saved.")
        for question in ("completeness", "clarity"):
            page.locator(f"#q-{question} label", has_text="3").first.tap()
        page.get_by_role("button", name="Submit and go on").tap()
        expect(page.locator("body")).to_contain_text("All done. Thank you.")
        found = answers(panel)
        assert {each.dimension: each.outcome for each in found}["accuracy"] == Score(4)
        assert not any(each.measured for each in found)


def test_no_page_is_wider_than_the_screen(browser: Browser, tmp_path: Path) -> None:
    context = "https://example.org/" + "y" * 900
    rows = [{"id": "a", "system": "s", "candidate": "x" * 3000, "texts": {"context": context}}]
    with panel_of(tmp_path, rows=rows) as panel, rater_at(browser, panel, "Dr Wide", PHONE) as page:
        with panel.database.reading() as connection:
            only = rounds(connection)[0]
            person = connection.exec_driver_sql("SELECT person FROM members").scalar_one()
            (place,) = places(connection, only.id, person)
        for path in ("/rate", "/rate/profile", f"/rate/{place.code}"):
            page.goto(path)
            for width in (1280, 390):
                page.set_viewport_size({"width": width, "height": 800})
                assert page.evaluate("document.documentElement.scrollWidth") <= width
