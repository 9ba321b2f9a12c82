"""Passages of the answer that a rater marks: kept with the comment, checked against the answer, and nobody else's
before the round is closed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import polars
from fastapi import FastAPI
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import select
from tests.panel.raters import GOOD, rater
from tests.panel.rating.at_browsers import DESKTOP, PHONE, nothing_serious, open_case, panel_of, rater_at
from tests.panel.rating.test_leaving import SOON
from tests.panel.rounds import SYSTEMS, case_rows
from tests.panel.visitors import reachable, sign_in

from medjury.panel._access._people import Role
from medjury.panel._design._rounds import rounds, set_state
from medjury.panel._exchange._collecting import collect
from medjury.panel._exchange._files import FORMATS
from medjury.panel._meeting._differences import close_meeting, open_meeting
from medjury.panel._rating._answers import history, latest_answers
from medjury.panel._serve import Panel
from medjury.panel._tables import assignments_table, meeting_items_table
from medjury.store.ratings import read_ratings

MakePanel = Callable[..., FastAPI]
ANSWER = "Seen \U0001f600 today.\r\nGive <b>5 mg</b> now. Warfarin goes on."
ROWS = [row | {"candidate": ANSWER} for row in case_rows(1, SYSTEMS[:1])]
DOSE = {"start": 14, "end": 33, "text": "Give <b>5 mg</b> no"}


def sent(*marks: dict[str, Any]) -> dict[str, str]:
    return {"marks": json.dumps(marks)}


def kept(panel: Panel) -> list[list[str]]:
    """The words marked in the last version of every case that has one."""
    with panel.database.reading() as connection:
        cases = connection.execute(select(assignments_table.c.id)).scalars().all()
        found = [history(connection, each) for each in cases]
    return [[mark["text"] for mark in each[-1].marks] for each in found if each]


def test_marks_are_kept_with_an_answer_and_a_draft_and_come_back(make_panel: MakePanel) -> None:
    app = make_panel(rows=ROWS)
    one = rater(app)
    (code,) = one.codes()
    own = {"csrf": one.token("/rate/profile"), "version": "0", "page": "a" * 32}
    draft = one.post(f"/rate/{code}/draft", data=own | sent(DOSE) | {"turn": "1"})
    assert draft.json() == {"version": 1} and kept(app.state.panel) == [[DOSE["text"]]]
    found = re.search('name="marks" value="([^"]*)"', one.get(f"/rate/{code}").text)
    assert found and json.loads(unescape(found[1])) == [DOSE]
    assert one.rate(code, **GOOD).status_code == 303, "a form that says nothing of marks leaves them"
    assert kept(app.state.panel) == [[DOSE["text"]]]
    assert one.rate(code, **GOOD, **sent()).status_code == 303
    assert kept(app.state.panel) == [[]]


REFUSED = {
    "words": json.dumps([DOSE | {"text": "Give 50 mg"}]),
    "start": json.dumps([DOSE | {"start": 15}]),
    "negative": json.dumps([DOSE | {"start": -36}]),
    "empty": json.dumps([DOSE | {"end": 14, "text": ""}]),
    "text": json.dumps([DOSE | {"start": "14"}]),
    "twice": json.dumps([DOSE, DOSE]),
    "too-long": json.dumps([{"start": 0, "end": 10_000, "text": ANSWER.replace("\r\n", "\n")}]),
    "deep": "[" * 100_000,
    "no-list": '{"start": 1}',
}


def test_marks_that_are_not_the_answers_words_are_refused(make_panel: MakePanel) -> None:
    app = make_panel(rows=ROWS)
    one = rater(app)
    (code,) = one.codes()
    own = {"csrf": one.token("/rate/profile"), "version": "0"}
    for name, marks in REFUSED.items():
        refused = one.rate(code, **GOOD, marks=marks, comment="Typed")
        assert refused.status_code == 409 and "Typed" in refused.text, name
        assert one.post(f"/rate/{code}/draft", data=own | {"marks": marks}).status_code == 409, name
    assert kept(app.state.panel) == []


def test_nobody_sees_anothers_marks_before_the_round_is_closed_and_then_those_who_meet_do(
    make_panel: MakePanel,
) -> None:
    app = make_panel(rows=ROWS)
    one, other = rater(app, "Dr Plain"), rater(app, "Dr Narwhal")
    other.rate(other.codes()[0], **GOOD | {"grade.accuracy": "1"}, **sent(DOSE))
    one.rate(one.codes()[0], **GOOD)
    pages = reachable(one)
    assert f'value="{[]}"' in pages[f"/rate/{one.codes()[0]}"]
    words = "Give &lt;b&gt;5 mg&lt;/b&gt; no</q>"
    assert [path for path, text in pages.items() if words in text or "<q" in text] == []
    assert words in other.get(f"/rate/{other.codes()[0]}").text
    coordinator = sign_in(app, Role.COORDINATOR, "Dr Oversees")
    answers = set(re.findall(r"/rounds/rating/history/\d+", coordinator.get("/rounds/rating/history").text))
    assert sorted(words in coordinator.get(each).text for each in answers) == [False, True]
    with app.state.panel.database.writing() as connection:
        (round_,) = rounds(connection)
        set_state(connection, round_, "closed")
        (round_,) = rounds(connection)
        meeting = open_meeting(connection, round_, danger=0.5, now=app.state.panel.now())
        code = connection.execute(select(meeting_items_table.c.code)).scalar_one()
    page = one.get(f"/together/{code}").text
    who = re.search(r"<dt>(Rater [AB])</dt><dd><q class=\"said\">" + re.escape(words), page)
    assert who and "Narwhal" not in page
    with app.state.panel.database.writing() as connection:
        close_meeting(connection, meeting, app.state.panel.now())
    decides = sign_in(app, Role.ADJUDICATOR, "Dr Decides").get(f"/decisions/{code}").text
    assert who[0] in decides and "Narwhal" not in decides


def test_marks_leave_beside_the_comment_and_reach_no_rating_that_judges_learn_from(
    make_panel: MakePanel, tmp_path: Path
) -> None:
    app = make_panel(rows=ROWS)
    one = rater(app)
    one.rate(one.codes()[0], **GOOD, **sent(DOSE), comment="Too much")
    with app.state.panel.database.reading() as connection:
        found, (round_,) = collect(connection), rounds(connection)
        assert {mark.text for each in latest_answers(connection, round_) for mark in each.marks} == {
            DOSE["text"]
        }
    file = tmp_path / "out.csv"
    file.write_bytes(FORMATS["csv"].write(found, round_.instrument))
    frame = polars.read_csv(file)
    assert [json.loads(cell) for cell in frame["marks"]] == [[DOSE]] * 3
    assert frame.columns.index("marks") == frame.columns.index("comment") + 1
    again = read_ratings(file, instrument=round_.instrument)
    assert len(again.ratings) == 3 and not [each for each in again.ratings if DOSE["text"] in repr(each)]


def select_words(page: Page, words: str) -> None:
    """As a mouse or a finger would: from the first letter of the words to the last, through whatever lies there."""
    page.evaluate(
        """(words) => {
            const text = document.querySelector("#answer [data-letters]");
            const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
            const nodes = [];
            while (walker.nextNode()) nodes.push(walker.currentNode);
            const at = nodes.map((node) => node.data).join("").indexOf(words);
            const place = (letters) => {
                for (const node of nodes) {
                    if (letters <= node.length) return [node, letters];
                    letters -= node.length;
                }
            };
            getSelection().setBaseAndExtent(...place(at), ...place(at + words.length));
        }""",
        words,
    )


def test_words_are_marked_kept_a_moment_later_and_taken_away(browser: Browser, tmp_path: Path) -> None:
    with panel_of(tmp_path, rows=ROWS) as panel, rater_at(browser, panel, "Dr Quick", PHONE) as page:
        page.get_by_role("link", name="Start").click()
        open_case(page, 1)
        button = page.get_by_role("button", name="Mark this")
        expect(button).to_have_count(0)
        select_words(page, " today.\nGive <b>5 mg</b>")
        button.tap()
        page.wait_for_timeout(SOON)
        page.go_back()
        page.locator(".cases a").first.click()
        open_case(page, 1)
        expect(page.locator(".marks q")).to_have_text(["today. Give <b>5 mg</b>"])
        assert page.locator("mark.marked").all_inner_texts() == ["today.\nGive <b>5 mg</b>"]
        assert kept(panel) == [["today.\nGive <b>5 mg</b>"]]
        select_words(page, "5 mg</b> now")  # over the end of the other: one mark
        button.click()
        expect(page.locator(".marks q")).to_have_text(["today. Give <b>5 mg</b> now"])
        nothing_serious(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.get_by_role("button", name="Remove").click()
        expect(page.locator(".marks li")).to_have_count(0)
        expect(page.locator("mark.marked")).to_have_count(0)
        expect(page.locator(".saved")).to_have_text("Draft saved")
        assert kept(panel) == [[]]


def test_sentences_are_marked_by_keyboard(browser: Browser, tmp_path: Path) -> None:
    with panel_of(tmp_path, rows=ROWS) as panel, rater_at(browser, panel, "Dr Keys", DESKTOP) as page:
        page.get_by_role("link", name="Start").click()
        open_case(page, 1)
        page.keyboard.press("m")
        names = ["Seen \U0001f600 today.", "Give <b>5 mg</b> now.", "Warfarin goes on."]
        expect(page.locator(".sentences button")).to_have_text(names)
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.locator(".sentences [aria-pressed=true]")).to_have_text(names[2:])
        expect(page.locator(".saved")).to_have_text("Draft saved")
        assert kept(panel) == [names[2:]]
        nothing_serious(page)
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Space")
        expect(page.locator(".marks q")).to_have_text(names[1:])
        page.keyboard.press("Space")
        expect(page.locator(".marks q")).to_have_text(names[2:])
        page.locator(".marks button").focus()
        page.keyboard.press("Enter")
        expect(page.locator(".sentences summary")).to_be_focused()
        expect(page.locator(".saved")).to_have_text("Draft saved")
        assert kept(panel) == [[]]


def test_a_mark_goes_over_words_that_differ_without_what_is_there_for_screen_readers(
    browser: Browser, tmp_path: Path
) -> None:
    row = {"id": "t-1", "system": "s", "texts": {"context": "Doctor: And the dose?"}}
    row |= {"reference": "Take two tablets daily.", "candidate": "Take ten tablets daily."}
    study: dict[str, Any] = {"rows": [row], "instrument": "transcript_impact", "dimensions": ""}
    with panel_of(tmp_path, **study) as panel, rater_at(browser, panel, "Dr Ears", DESKTOP) as page:
        page.get_by_role("link", name="Start").click()
        open_case(page, 1)
        expect(page.locator("#answer mark.differs")).to_have_count(1)
        page.locator("#answer [data-letters]").select_text()
        page.keyboard.press("m")
        expect(page.locator(".marks q")).to_have_text([row["candidate"]])
        expect(page.locator(".saved")).to_have_text("Draft saved")
        assert kept(panel) == [[row["candidate"]]]
