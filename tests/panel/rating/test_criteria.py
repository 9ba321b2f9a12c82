"""Cases with criteria of their own: each is asked by its own, and a mark is a rating like any other."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from playwright.sync_api import Browser, expect
from tests.panel.criteria_study import criteria_rows
from tests.panel.raters import Rater, rater
from tests.panel.rating.at_browsers import PHONE, nothing_serious, open_case, panel_of, rater_at
from tests.panel.rounds import write_study

from medjury.foundation.errors import MedjuryError
from medjury.instruments import NotApplicable, Score, load_instrument
from medjury.panel._design._rounds import rounds, set_state
from medjury.panel._exchange._collecting import collect, refuse_changed
from medjury.panel._exchange._files import FORMATS
from medjury.panel._meeting._differences import open_meeting
from medjury.panel._rating._answers import Collected

MakePanel = Callable[..., FastAPI]
STUDY: dict[str, Any] = {"instrument": "criteria", "dimensions": ""}
MARKS = {"grade.aid": "1", "grade.dose": "1", "grade.drive": "0", "grade.plain": "na"}


def marks(case: int, **others: str) -> dict[str, str]:
    return {**MARKS, f"grade.own-{case}": "1", **{f"grade.{name}": mark for name, mark in others.items()}}


def cases_of(one: Rater) -> dict[int, str]:
    """The rater's codes by the number of the case."""
    found = {}
    for code in one.codes():
        shown = re.search(r"Answer (\d+)\.0", one.get(f"/rate/{code}").text)
        assert shown
        found[int(shown[1])] = code
    return found


def collected(app: FastAPI) -> list[Collected]:
    with app.state.panel.database.reading() as connection:
        return collect(connection)


def test_each_case_asks_its_own_criteria_and_shows_no_points(make_panel: MakePanel) -> None:
    one = rater(make_panel(rows=criteria_rows(3), **STUDY))
    for case, code in cases_of(one).items():
        html = one.get(f"/rate/{code}").text
        asked = re.findall(r'<fieldset class="question[^>]* data-name="([^"]+)"', html)
        assert asked == ["aid", "dose", "drive", "plain", f"own-{case}"]
        assert f"Names finding {case} of the examination." in html and "points" not in html
        met, not_met = re.findall(r'name="grade.plain" value="([01])"', html)
        assert (met, not_met) == ("1", "0")
        assert "Met <span" in html and "this is so" in html and "this is not so" in html


def test_points_are_shown_where_the_study_says_so(make_panel: MakePanel) -> None:
    app = make_panel(rows=criteria_rows(1), panel="panel: {points: true}\n", **STUDY)
    one = rater(app)
    html = one.get(f"/rate/{one.codes()[0]}").text
    assert re.findall(r"points: (-?[\d.]+)", html) == ["5", "3", "-6", "-2", "4"]


def test_a_mark_is_a_rating_by_the_criterions_id(make_panel: MakePanel) -> None:
    one = rater(make_panel(rows=criteria_rows(2), **STUDY))
    by_case = cases_of(one)
    unfinished = marks(0)
    del unfinished["grade.own-0"]
    answer = one.rate(by_case[0], **unfinished)
    assert answer.status_code == 422 and 'href="#q-own-0">Names finding 0' in answer.text
    assert one.rate(by_case[0], **marks(0)).status_code == 303
    assert one.rate(by_case[1], **marks(1, drive="1")).status_code == 303
    found = {(each.item, each.dimension): each.outcome for each in collected(one.app)}
    assert len(found) == 10
    assert found["marmoset-00", "drive"] == Score(0) and found["marmoset-01", "drive"] == Score(1)
    assert found["marmoset-00", "own-0"] == Score(1) and isinstance(
        found["marmoset-01", "plain"], NotApplicable
    )


def test_a_redcap_file_has_a_column_for_every_criterion(make_panel: MakePanel) -> None:
    one = rater(make_panel(rows=criteria_rows(2), **STUDY))
    for case, code in cases_of(one).items():
        assert one.rate(code, **marks(case)).status_code == 303
    written = FORMATS["redcap"].write(collected(one.app), load_instrument("criteria")).decode()
    head, *rows = [line.split(",") for line in written.splitlines()]
    assert {"aid", "dose", "drive", "plain", "own_0", "own_1"} <= set(head)
    assert sorted(row[head.index("own_1")].strip('"') for row in rows) == ["", "1"]


def test_marks_of_criteria_that_have_changed_since_are_refused(make_panel: MakePanel, tmp_path: Path) -> None:
    one = rater(make_panel(rows=criteria_rows(1), **STUDY))
    assert one.rate(one.codes()[0], **marks(0)).status_code == 303
    rows = criteria_rows(1)
    refuse_changed(write_study(tmp_path, rows=rows, **STUDY), collected(one.app))
    rows[0]["criteria"][0]["text"] = "Advises calling nobody."
    with pytest.raises(MedjuryError, match="marmoset-00 was changed after it was rated"):
        refuse_changed(write_study(tmp_path, rows=rows, **STUDY), collected(one.app))


def test_a_case_without_criteria_cannot_be_rated_by_them(make_panel: MakePanel) -> None:
    rows = criteria_rows(2)
    del rows[1]["criteria"]
    with pytest.raises(MedjuryError, match="marmoset-01: criteria"):
        make_panel(rows=rows, **STUDY)


PRACTICE = """\
panel:
  rounds:
    - {{name: practice, kind: training, cases: [marmoset-00], key: [{{case: marmoset-00, grades: {{{key}}}}}]}}
    - name: rating
"""


def test_a_key_is_of_the_cases_own_criteria(make_panel: MakePanel) -> None:
    app = make_panel(rows=criteria_rows(2), panel=PRACTICE.format(key="drive: 1, own-0: 1"), **STUDY)
    one = rater(app)
    (code,) = one.codes()
    assert one.rate(code, **marks(0)).status_code == 303
    html = one.get(f"/rate/{code}/key").text
    assert "1 of 2 answers agree with the key." in html and "Tells the patient to drive" in html


@pytest.mark.parametrize(
    ("key", "words"), [("own-1: 1", "'own-1' is no criterion of it"), ("drive: 2", "drive: ")]
)
def test_a_key_of_another_cases_criteria_is_refused(make_panel: MakePanel, key: str, words: str) -> None:
    with pytest.raises(MedjuryError, match=words):
        make_panel(rows=criteria_rows(2), panel=PRACTICE.format(key=key), **STUDY)


@pytest.mark.parametrize(
    "part",
    [
        "justification: {criterion: required}",
        "questions: [{name: why, ask: Really, when: {dimension: criterion, is: 1}, choices: [a, b]}]",
        "references: {show: [conversation]}",
    ],
)
def test_what_needs_one_form_for_all_cases_is_refused(tmp_path: Path, part: str) -> None:
    with pytest.raises(MedjuryError, match="each case has its own criteria"):
        write_study(tmp_path, rows=criteria_rows(1), panel=f"panel:\n  {part}\n", **STUDY)


def test_raters_who_differ_on_a_criterion_read_it_when_they_meet(make_panel: MakePanel) -> None:
    app = make_panel(rows=criteria_rows(1), **STUDY)
    one, two = rater(app), rater(app, "Dr Margay")
    for each, drive in ((one, "1"), (two, "0")):
        assert each.rate(each.codes()[0], **marks(0, drive=drive)).status_code == 303
    panel = app.state.panel
    with panel.database.writing() as connection:
        (round_,) = rounds(connection)
        set_state(connection, round_, "closed")
        (round_,) = rounds(connection)
        meeting = open_meeting(connection, round_, danger=0.25, now=panel.now())
    assert meeting.is_open
    (address,) = set(re.findall(r'href="(/together/[^"]+)"', one.get("/together").text))
    html = one.get(address).text
    assert re.findall(r"<legend>([^<]+)</legend>", html) == ["Tells the patient to drive to the hospital."]


def test_criteria_are_marked_in_the_raters_language(make_panel: MakePanel) -> None:
    one = rater(make_panel(rows=criteria_rows(1), **STUDY))
    one.headers["accept-language"] = "de"
    html = one.get(f"/rate/{one.codes()[0]}").text
    assert "Erfüllt <span" in html and "Nicht erfüllt <span" in html and "das trifft nicht zu" in html
    assert "Does not explain medical words." in html and "Not met" not in html


def test_criteria_are_tapped_on_a_phone_and_every_tap_is_kept(browser: Browser, tmp_path: Path) -> None:
    with (
        panel_of(tmp_path, rows=criteria_rows(2), **STUDY) as panel,
        rater_at(browser, panel, "Dr Serval", PHONE) as page,
    ):
        page.get_by_role("link", name="Start").click()
        open_case(page, 1)
        nothing_serious(page)
        expect(page.locator(".so-far")).to_have_text("0 of 5")
        for label in page.locator(".grades .grade").all():
            box = label.bounding_box()
            assert box is not None and box["height"] >= 44 and box["width"] >= 120
        for question in page.locator(".question").all():
            question.get_by_text("Not met", exact=False).first.tap()
        expect(page.locator(".so-far")).to_have_text("5 of 5")
        expect(page.locator(".saved")).to_have_text("Draft saved")
        page.reload()
        expect(page.locator(".so-far")).to_have_text("5 of 5")
        page.get_by_role("button", name="Submit and go on").tap()
        open_case(page, 2)
        page.keyboard.type("11n01")
        expect(page.locator(".so-far")).to_have_text("5 of 5")
        page.keyboard.press("Enter")
        expect(page.locator("body")).to_contain_text("All done. Thank you.")
        with panel.database.reading() as connection:
            found = collect(connection)
        assert len(found) == 10
        assert sorted(str(each.score) for each in found) == sorted(["0.0"] * 6 + ["1.0"] * 3 + ["None"])
