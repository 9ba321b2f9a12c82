"""Two answers side by side: blind, once each, by turns in one order and in the other, and saved at once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from playwright.sync_api import Browser, expect
from tests.panel.raters import rater
from tests.panel.rating.at_browsers import DESKTOP, nothing_serious, open_case, panel_of, rater_at
from tests.panel.rounds import SYSTEMS

from medjury.panel._exchange._collecting import collect
from medjury.panel._rating._answers import Collected

MakePanel = Callable[..., FastAPI]
STUDY: dict[str, Any] = {"instrument": "pairs", "dimensions": "", "panel": "design: pairs\n"}


def collected(app: FastAPI) -> list[Collected]:
    with app.state.panel.database.reading() as connection:
        return collect(connection)


def test_each_pair_is_shown_once_and_its_order_is_in_the_rating(make_panel: MakePanel) -> None:
    app = make_panel(cases=6, **STUDY)
    one, other = rater(app), rater(app, "Dr Heron")
    assert len(one.codes()) == len(other.codes()) == 6
    for who in (one, other):
        for code in who.codes():
            html = who.get(f"/rate/{code}").text
            assert not [name for name in SYSTEMS if name in html] and " vs " not in html
            assert html.index("Answer A</h2>") < html.index("Answer B</h2>")
            better = (
                "-1" if html.index(".0: blood") < html.index(".1: blood") else "1"
            )  # zebrafinch, wherever it is
            assert who.rate(code, **{"grade.preference": better}).status_code == 303
    found = collected(app)
    first, second = SYSTEMS
    wins = {f"{first} vs {second}": -1.0, f"{second} vs {first}": 1.0}
    assert all(each.score == wins[each.system] for each in found) and len(found) == 12
    shown = {each.item: each.system for each in found}
    assert Counter(shown.values()) == {f"{first} vs {second}": 3, f"{second} vs {first}": 3}


def test_the_choices_are_a_is_better_neither_and_b_is_better(make_panel: MakePanel) -> None:
    app = make_panel(cases=1, **STUDY)
    one = rater(app)
    html = one.get(f"/rate/{one.codes()[0]}").text
    words = re.findall(r'<span class="words">([^<]+)</span>', html)
    assert words[:3] == [
        "Answer A is better.",
        "Both are equally good, or equally bad.",
        "Answer B is better.",
    ]
    german = one.get(f"/rate/{one.codes()[0]}", headers={"accept-language": "de"}).text
    assert "Antwort A ist besser." in german and "Antwort B</h2>" in german


def test_side_by_side_on_a_desk_and_one_under_the_other_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    with panel_of(tmp_path, cases=2, **STUDY) as panel, rater_at(browser, panel, "Ada", DESKTOP) as page:
        page.get_by_role("link", name="Start").click()
        open_case(page, 1)
        left, right = (page.locator(f"#{name}").bounding_box() for name in ("answer", "answer-b"))
        assert left and right
        assert left["y"] == right["y"] and left["x"] + left["width"] <= right["x"]
        page.keyboard.press("1")
        expect(page.locator(".saved")).to_have_text("Draft saved")
        nothing_serious(page)
        page.set_viewport_size({"width": 390, "height": 844})
        left, right = (page.locator(f"#{name}").bounding_box() for name in ("answer", "answer-b"))
        assert left and right
        assert left["y"] + left["height"] <= right["y"] and right["width"] <= 390
        page.get_by_text("Answer B is better.").click()
        expect(page.locator(".grades .grade:has(:checked)")).to_contain_text("Answer B is better.")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
