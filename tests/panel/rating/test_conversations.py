"""A conversation of thirty turns with calls of tools, rated by turn and as a whole on a phone: readable, long
results folded, and no message looks like another."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from playwright.sync_api import Browser, expect
from tests.panel.raters import rater
from tests.panel.rating.at_browsers import DESKTOP, PHONE, nothing_serious, open_case, panel_of, rater_at
from tests.panel.rating.test_marks import kept, select_words
from tests.panel.visitors import sign_in

from medjury.panel._access._people import Role
from medjury.panel._design._rounds import rounds
from medjury.panel._exchange._collecting import collect, ratings_frame

MakePanel = Callable[..., FastAPI]
LABS = "\n".join(f"2026-03-{day:02} potassium 4.{day % 10} mmol/l" for day in range(1, 29))
FAKED = "Turn 2, assistant:\nTake ten.</div></article><article class='chat'><h4>Assistant</h4>"


def talk(turns: int) -> list[dict[str, Any]]:
    """Made up: turns by two sides in order; the assistant looks something up every second time."""
    rows: list[dict[str, Any]] = [{"role": "system", "content": "You help patients of ward quokka-scribe."}]
    for turn in range(1, turns + 1):
        if turn % 2:
            rows.append({"role": "user", "content": FAKED if turn == 3 else f"Question {turn}, please."})
            continue
        if turn % 4 == 0:
            call = {"id": f"c{turn}", "function": {"name": "get_labs", "arguments": '{"days": 28}'}}
            rows += [
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": f"c{turn}", "content": LABS},
            ]
        rows.append({"role": "assistant", "content": f"Answer {turn}: your potassium is fine."})
    return rows


STUDY: dict[str, Any] = {"instrument": "conversation_quality", "dimensions": ""}
ROWS = [{"id": "talk", "system": "quokka-scribe", "messages": talk(30)}]


def test_turns_are_cases_of_one_conversation_and_blinded(make_panel: MakePanel) -> None:
    rows = json.loads(json.dumps(ROWS).replace("get_labs", "quokka_scribe_labs"))  # a tool tells as much
    app = make_panel(rows=rows, panel="unit: turn\npanel: {blind_words: [quokka-scribe]}\n", **STUDY)
    one = rater(app)
    assert len(one.codes()) == 15
    pages = [one.get(f"/rate/{code}").text for code in one.codes()]
    assert not [page for page in pages if "quokka" in page]
    assert not [page for page in pages if "<article class='chat'>" in page]
    grades = {f"grade.{name}": "4" for name in ("asks", "consistent", "safe_advice", "clear")}
    for code in one.codes():
        assert one.rate(code, **grades, **{"grade.escalates": "na"}).status_code == 303
    with app.state.panel.database.reading() as connection:
        frame = ratings_frame(collect(connection))
        (round_,) = rounds(connection)
    assert set(frame["item"]) == {f"talk#{turn}" for turn in range(2, 31, 2)}
    assert round_.instrument.name == "conversation_quality"
    assert sign_in(app, Role.COORDINATOR, "Dr Oversees").get("/rounds").status_code == 200


def test_a_whole_conversation_has_all_its_messages(make_panel: MakePanel) -> None:
    one = rater(make_panel(rows=ROWS, panel="unit: conversation\n", **STUDY))
    assert one.get(f"/rate/{one.codes()[0]}").text.count('<article class="chat') == 1 + 30 + 2 * 7


def test_a_turn_of_a_long_conversation_is_read_and_rated_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    order = "unit: turn\npanel: {rounds: [{name: r, cases: [talk#28]}]}\n"
    with (
        panel_of(tmp_path, rows=ROWS, panel=order, **STUDY) as panel,
        rater_at(browser, panel, "Dr Quick", PHONE) as page,
    ):
        page.get_by_role("link", name="Start").click()
        open_case(page, 1)
        if shots := os.environ.get("MEDJURY_SHOTS"):
            page.screenshot(path=f"{shots}/turn_390.png", full_page=True)
        answer, earlier = page.locator("#answer"), page.locator("#source details.earlier")
        expect(earlier.locator("> summary")).to_have_text("34 earlier messages")
        expect(page.get_by_text("Question 1, please.")).to_be_hidden()
        earlier.locator("> summary").tap()
        expect(page.get_by_text("Question 1, please.")).to_be_visible()
        expect(page.locator("#source .chat h4").first).to_have_text("Instructions to the assistant")
        headings = ["Assistant calls the tool get_labs", "Result of the tool get_labs", "Assistant"]
        expect(answer.locator(".chat h4")).to_have_text([f"Turn 28 · {each}" for each in headings])
        forged = page.locator(".chat.user .said", has_text="Take ten.")
        expect(forged).to_have_text(FAKED)
        result = answer.locator(".chat.result").first
        expect(result.locator(".said")).to_be_hidden()
        result.locator("summary").tap()
        expect(result.locator(".said")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        nothing_serious(page)
        # Words of a result are marked in it, at their place in the answer's text; headings are no sentences.
        select_words(page, "2026-03-03 potassium 4.3")
        page.get_by_role("button", name="Mark this").tap()
        expect(page.locator(".marks q")).to_have_text(["2026-03-03 potassium 4.3"])
        expect(page.locator(".saved")).to_have_text("Draft saved")
        assert kept(panel) == [["2026-03-03 potassium 4.3"]]
        assert not [each for each in page.locator(".sentences button").all_inner_texts() if "Turn 28" in each]


def test_what_is_searched_for_opens_the_fold_it_is_in(browser: Browser, tmp_path: Path) -> None:
    with (
        panel_of(tmp_path, rows=ROWS, panel="unit: last\n", **STUDY) as panel,
        rater_at(browser, panel, "Dr Finds", DESKTOP) as page,
    ):
        page.get_by_role("link", name="Start").click()
        open_case(page, 1)
        page.locator("#find").fill("Answer 2:")
        expect(page.locator("mark.found.here")).to_be_visible()
        if shots := os.environ.get("MEDJURY_SHOTS"):
            page.screenshot(path=f"{shots}/last_1280.png")
