"""The pages of what raters do together, in their languages: no word of English left, nothing hard to use."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from playwright.sync_api import Browser, expect
from tests.axe import serious_faults
from tests.panel.meeting.closed_rounds import only_round, rate
from tests.panel.rounds import NOON, Clock, write_study
from tests.panel.served import served
from tests.panel.test_languages import INSTRUMENT, OTHERS, OWN, Reader, is_wholly_in
from tests.panel.visitors import PASSWORD, Visitor, invited, let_in, sign_in

from medjury.panel import _language as languages
from medjury.panel._access._people import Role
from medjury.panel._design._rounds import set_state, set_up
from medjury.panel._meeting._differences import close_meeting, meeting_items, meeting_of, open_meeting
from medjury.panel._meeting._reference import make_panel, work_of_person
from medjury.panel._meeting._reference_files import panel_references, set_up_references
from medjury.panel._serve import Panel, make_app, open_panel_database

STUDY = """\
panel:
  rounds: [{name: rating}]
  references: {show: [context], routine: ward}
  questions:
    - name: zqasked
      ask: zqask
      when: {dimension: one, is: 2}
      between: [context, answer]
      choices: [zqneither]
"""
ROWS = [
    {"id": each, "system": "s", "candidate": f"zq{each}", "texts": {"context": f"zq{each}", "ward": "zqward"}}
    for each in "abcd"
]
DIFFER = [
    {"one": ("2", "1"), "two": ("1", "na")},
    {"one": ("cannot", "2"), "two": ("1", "1")},
    {"one": ("2", "2"), "two": ("1", "2")},
    {"one": ("2", "2"), "two": ("1", "1")},
]
GRADES = {"grade.one": "2", "why.one": OWN, "grade.two": "1", "why.two": OWN}
TEXTS = {"primary": OWN, "secondary": OWN, "differential": OWN, "reasoning": OWN}


def panel_in(folder: Path) -> Panel:
    (folder / "own.yaml").write_text(INSTRUMENT, encoding="utf-8")
    study = write_study(folder, name=OWN, instrument="own.yaml", rows=ROWS, panel=STUDY, dimensions="")
    panel = Panel(open_panel_database(folder / "panel.sqlite"), Clock(), study)
    with panel.database.writing() as connection:
        set_up(connection, study, NOON)
        set_up_references(connection, study)
    return panel


def met(panel: Panel) -> list[str]:
    """The meeting opened; where its cases are settled, in the order of the study."""
    with panel.database.writing() as connection:
        set_state(connection, only_round(connection), "closed")
        meeting = open_meeting(connection, only_round(connection), danger=0.25, now=NOON)
        items = sorted(meeting_items(connection, meeting), key=lambda each: each.item)
    return [f"/together/{each.code}" for each in items]


class Pair:
    """A rater whose browser asks for a language, and a colleague; every page that the rater comes by."""

    def __init__(self, folder: Path, language: str) -> None:
        self.panel = panel_in(folder)
        self.app: FastAPI = make_app(self.panel)
        self.one, self.two = Reader(self.app, language), sign_in(self.app, Role.RATER, f"{OWN}two")
        self.one.person, path = invited(self.panel, f"{OWN}one", Role.RATER)
        assert self.one.submit(path, path, password=PASSWORD, again=PASSWORD).status_code == 303

    def walk(self) -> dict[str, str]:
        self.one.see("nothing to do", self.one.get("/together"))
        people = [each.person for each in (self.one, self.two) if each.person]
        with self.panel.database.writing() as connection:
            rate(connection, people, DIFFER)
            make_panel(connection, f"{OWN}panel", people, now=NOON)
            work = work_of_person(connection, people[0].id)[0]
        question = self.ask()
        cases = met(self.panel)
        self.one.see("question is closed", self.one.get(question))
        self.settle(*cases)
        self.write(f"/reference/{work.code}")
        return self.one.pages

    def ask(self) -> str:
        one = self.one
        asked = re.findall(r'"(/question/[^"]+)"', one.see("further questions", one.get("/together")))
        assert len(asked) == 3
        at = asked[0]
        one.see("question", one.get(at))
        one.sent("no choice", 400, at, at, version="0", choice="")
        one.sent("long reason", 400, at, at, version="0", choice="left", why="y" * 20_001)
        done(one, at, at, version="0", choice="left", why=OWN)
        one.sent("answered elsewhere", 409, at, at, version="0", choice="right")
        one.see("one is answered", one.get("/together"))
        return at

    def settle(self, first: str, second: str, third: str) -> None:
        one, two = self.one, self.two
        one.see("to talk over", one.get("/together"))
        one.see("difference", one.get(first))
        one.sent("nothing entered", 400, first, first, version="0")
        one.sent("nothing to confirm", 400, f"{first}/confirm", first, version="0")
        done(two, first, first, version="0", **GRADES)
        one.see("to confirm", one.get("/together"))
        one.see("entered by the other", one.get(first))
        one.sent("entered meanwhile", 409, first, first, version="0", **GRADES | {"why.one": OWN + OWN})
        done(one, f"{first}/confirm", first, version="1")
        one.see("settled", one.get(first))
        done(one, second, second, version="0", **GRADES)
        one.see("waits for the other", one.get(second))
        one.see("others wait", one.get("/together"))
        one.sent("no reason", 400, f"{second}/no-agreement", second, version="1", reason="")
        done(one, f"{second}/no-agreement", second, version="1", reason=OWN)
        one.see("no agreement", one.get(second))
        judge = sign_in(self.app, Role.ADJUDICATOR, f"{OWN}judge")
        decision = second.replace("together", "decisions")
        done(judge, decision, decision, version="0", **GRADES)
        one.see("decided", one.get(second))
        one.sent("too late", 400, second, second, version="2", **GRADES)
        with self.panel.database.writing() as connection:
            meeting = meeting_of(connection, only_round(connection).id)
            assert meeting
            close_meeting(connection, meeting, NOON)
        one.see("the meeting is over", one.get(third))
        one.see("all is settled", one.get("/together"))

    def write(self, at: str) -> None:
        one, two = self.one, self.two
        one.see("read alone", one.get(at))
        one.sent("nothing written", 400, f"{at}/alone", at, version="0", do="submit")
        done(one, f"{at}/alone", at, version="0", do="submit", **TEXTS)
        one.see("handed in", one.get(at))
        one.see("the other reads", one.get("/together"))
        one.sent("begun too early", 400, f"{at}/begin", at)
        done(two, f"{at}/alone", at, version="0", do="submit", **TEXTS)
        one.see("all handed in", one.get(at))
        one.see("ready to meet", one.get("/together"))
        done(two, f"{at}/begin", at)
        one.see("write together", one.get(at))
        one.sent("written too late", 409, f"{at}/alone", at, version="1", do="draft", **TEXTS)
        done(one, f"{at}/together", at, version="0", do="submit", **TEXTS)
        one.see("routine diagnosis", one.get(at))
        one.sent("no verdict", 400, f"{at}/routine", at, version="0")
        one.sent("no reason why", 400, f"{at}/routine", at, version="0", agrees="no")
        done(one, f"{at}/routine", at, version="0", agrees="no", why=OWN)
        answers = re.findall(rf'"({at}/answer/[^"]+)"', one.see("answers to score", one.get(at)))
        one.sent("not all scored", 400, f"{at}/finish", at)
        (answer,) = answers
        one.see("score", one.get(answer))
        one.sent("nothing scored", 400, answer, answer, version="0")
        done(two, answer, answer, version="0", **GRADES)
        one.sent("scored meanwhile", 409, answer, answer, version="0", **GRADES | {"comment": OWN})
        done(one, f"{at}/finish", at)
        one.see("scored", one.get(answer))
        one.see("case is done", one.get(at))
        one.see("references", one.get("/together"))


def done(visitor: Visitor, path: str, page: str, /, **fields: str) -> None:
    answer = visitor.submit(path, page, **fields)
    assert answer.status_code == 303, (path, answer.text)


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Pair]:
    found = {each: Pair(tmp_path_factory.mktemp(each), each) for each in languages.LANGUAGES}
    for each in found.values():
        each.walk()
    return found


@pytest.mark.parametrize("language", OTHERS)
def test_no_sentence_of_a_meeting_is_left_in_english(pairs: dict[str, Pair], language: str) -> None:
    is_wholly_in(language, pairs["en"].one.pages, pairs[language].one.pages)


def test_a_meeting_shows_the_instrument_in_the_raters_language(pairs: dict[str, Pair]) -> None:
    for name in ("difference", "score"):
        german, french = (set(re.findall(r"zq\w+", pairs[each].one.pages[name])) for each in ("de", "fr"))
        assert {"zqErste", "zqSchlecht", "zqAnleitung", "zqQuelle", "zqText"} <= german, name
        assert {"zqfirst", "zqbad", "zqinstructions", "zqsource", "zqgraded"} & german == set(), name
        assert {"zqfirst", "zqbad", "zqinstructions", "zqsource", "zqgraded"} <= french, name


def test_what_comes_out_is_the_same_in_every_language(pairs: dict[str, Pair]) -> None:
    texts = set()
    for each in pairs.values():
        with each.panel.database.reading() as connection:
            (reference,) = panel_references(connection).values()
        texts.add(reference["reference"])
    assert len(texts) == 1
    assert "Primary diagnosis: zq" in texts.pop()


def test_axe_finds_nothing_serious_in_a_meeting(browser: Browser, tmp_path: Path) -> None:
    with served(panel_in(tmp_path)) as panel:
        phone = {"width": 390, "height": 844}
        context: Any = browser.new_context(
            base_url=panel.public_url, locale="fr", viewport=phone, color_scheme="dark"
        )
        page = context.new_page()
        one = let_in(context, panel, Role.RATER, "Dr Ocelot")
        two, _ = invited(panel, "Dr Margay", Role.RATER)
        with panel.database.writing() as connection:
            rate(connection, [one, two], DIFFER)
            make_panel(connection, "Nephrology", [one, two], now=NOON)
            work = work_of_person(connection, one.id)[0]
        page.goto("/together")
        question = page.locator("a[href^='/question/']").first.get_attribute("href")
        for at in (question, met(panel)[0], f"/reference/{work.code}", "/together"):
            page.goto(at)
            expect(page.locator("html")).to_have_attribute("lang", "fr")
            assert serious_faults(page) == [], at
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), at
        context.close()
