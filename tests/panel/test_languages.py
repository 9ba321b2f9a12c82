"""The raters' pages in their languages: catalogues that are whole, pages without a word of English left."""

from __future__ import annotations

import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Literal

import pytest
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir
from babel.messages.pofile import read_po
from fastapi import FastAPI
from playwright.sync_api import Browser, Locator, Page, expect
from tests.axe import faults, serious_faults
from tests.panel.raters import PROFILE, Rater
from tests.panel.rounds import set_up_panel
from tests.panel.served import served
from tests.panel.visitors import PASSWORD, invited, let_in, sign_in, token_in

from medjury.panel import _language as languages
from medjury.panel._access._people import Role
from medjury.panel._design._rounds import rounds, set_state
from medjury.panel._exchange._collecting import collect, ratings_frame
from medjury.panel._rating._answers import latest_answers
from medjury.panel._serve import Panel, make_app

OTHERS = [each for each in languages.LANGUAGES if each != languages.ENGLISH]
PANEL = Path(languages.__file__).parent
MARKS = re.compile(r"%\(\w+\)s|\{\w+\}|</?\w+>|%")  # what a translation must leave as it is


@cache
def in_the_sources() -> set[Any]:
    found = extract_from_dir(
        PANEL,
        [("**.py", "python"), ("**/templates/**.html", "jinja2")],
        keywords={**DEFAULT_KEYWORDS, "marked": None, "plural": (1, 2)},
        directory_filter=lambda folder: "__pycache__" not in folder,
    )
    return {each[2] if isinstance(each[2], str) else tuple(each[2][:2]) for each in found}


@pytest.mark.parametrize("language", OTHERS)
def test_a_catalogue_is_whole_and_up_to_date(language: str) -> None:
    with (PANEL / "locale" / language / "LC_MESSAGES" / "medjury.po").open("rb") as file:
        catalogue = read_po(file, language)
    messages = [each for each in catalogue if each.id]
    assert {each.id for each in messages} == in_the_sources(), "run `make catalogues`, then translate"
    assert not catalogue.obsolete
    assert len(messages) > 150
    for each in messages:
        ours = (each.id,) if isinstance(each.id, str) else each.id
        theirs = (each.string,) if isinstance(each.string, str) else each.string
        assert not each.fuzzy, ours
        for one, text in zip(ours, theirs, strict=True):  # all of them have two forms, as English has
            assert text.strip() == text != "", one
            assert sorted(MARKS.findall(text)) == sorted(MARKS.findall(one)), one
            assert '"' not in text, one  # it may be an attribute's


@pytest.mark.parametrize(
    ("accepted", "spoken"),
    [
        ("fr-CH, fr;q=0.9, en;q=0.8", "fr"),
        ("it, es;q=0.4, de;q=0.7", "de"),
        ("it", "en"),
        ("en-GB, de", "en"),
        ("de;q=0, es;q=x, *", "en"),
        ("", "en"),
    ],
)
def test_the_browser_asks_for_languages_in_its_order(accepted: str, spoken: str) -> None:
    assert languages.asked_for(accepted) == spoken


# Every word of the study begins with this, so what is left on a page is ours.
OWN = "zq"
INSTRUMENT = """\
name: marked_words
version: "1"
title: zqtitle
instructions: zqinstructions
inputs: [{name: context, label: zqsource}, {name: candidate, label: zqgraded}]
dimensions:
  - {name: one, label: zqfirst, definition: zqdefined, grades: {1: zqbad, 2: zqgood}}
  - name: two
    label: zqsecond
    definition: zqdefined
    grades: {1: zqbad, 2: zqgood}
    skip: {dimension: one, equals: 1}
translations:
  de:
    instructions: zqAnleitung
    inputs: {context: zqQuelle, candidate: zqText}
    dimensions:
      one: {label: zqErste, definition: zqDefiniert, grades: {1: zqSchlecht, 2: zqGut}}
      two: {label: zqZweite, grades: {1: zqSchlecht}}
examples: [{inputs: {candidate: zqtext}, scores: {one: 1, two: null}, explanation: zqexplained}]
"""
ROUNDS = """\
panel:
  justification: {one: required}
  rounds:
    - name: zqpractice
      kind: training
      cases: [a]
      key: [{case: a, grades: {one: 2, two: null}, reason: zqbecause}]
    - {name: zqwords, kind: calibration, cases: [b]}
    - {name: zqrating}
"""
ROWS = [
    {"id": each, "system": "s", "candidate": f"zq{each}", "texts": {"context": f"zq{each}"}}
    for each in "abcd"
]
# Words that are the same in another language, and names.
SAME = {"Medjury", "Passkeys", "Panel", "Pages", "Question", "PIN", "Enter", "Shift", "Ctrl", "Esc"}
SAME |= set(languages.LANGUAGES.values())


class _Strings(HTMLParser):
    """Every text of a page that somebody reads or hears, and what its scripts may say."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.language = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        known = dict(attributes)
        if tag == "html":
            self.language = known["lang"] or ""
        said = {"aria-label", "placeholder", "title", "alt"}
        for name, value in known.items():
            if value and (name in said or (name.startswith("data-") and " " in value)):
                self.found.append(value)

    def handle_data(self, data: str) -> None:
        self.found.append(data)


def strings(html: str) -> tuple[str, set[str]]:
    reader = _Strings()
    reader.feed(html)
    texts = (re.sub(rf"{OWN}\w*|[\d:%./×·✓]+", " ", each) for each in reader.found)
    plain = {" ".join(each.split()).strip(" ,;()") for each in texts}
    return reader.language, {each for each in plain if re.search(r"[^\W\d_]{2}", each)} - SAME


class Reader(Rater):
    """A rater whose browser asks for a language, and every page that they come by."""

    def __init__(self, app: FastAPI, language: str) -> None:
        super().__init__(app, address=f"203.0.113.{list(languages.LANGUAGES).index(language)}")
        self.headers["accept-language"] = f"{language}-XX,{language};q=0.9"
        self.pages: dict[str, str] = {}

    def see(self, name: str, answer: Any, status: int = 200) -> str:
        assert answer.status_code == status, (name, answer.text)
        self.pages[name] = answer.text
        return str(answer.text)

    def sent(self, name: str, status: int, path: str, page: str, /, **fields: str) -> None:
        self.see(name, self.submit(path, page, **fields), status)

    def join(self) -> None:
        panel = self.app.state.panel  # type: ignore[attr-defined]
        name = f"{OWN}{self.headers['accept-language'][:2]}"
        self.person, path = invited(panel, name, Role.RATER)
        self.see("sign in", self.get("/sign-in"))
        self.sent("wrong password", 403, "/sign-in", "/sign-in", name=name, password="x")
        for _ in range(8):
            answer = self.submit("/sign-in", "/sign-in", name=name, password="x")
        self.see("too many", answer, 429)
        self.sent("passkey of nobody", 403, "/sign-in/passkey", "/sign-in", credential="{}")
        self.see("no invitation", self.get("/join/nothing"), 404)
        self.see("join", self.get(path))
        for words, password in {"short": "short", "guessed": "password1234", "long": "aB3" * 100}.items():
            self.sent(f"{words} password", 400, path, path, password=password, again=password)
        self.sent("two passwords", 400, path, path, password=PASSWORD, again="x")
        assert self.submit(path, path, password=PASSWORD, again=PASSWORD).status_code == 303
        self.see("account", self.get("/account"))
        self.sent("wrong present", 403, "/account/password", "/account", present="x")
        self.sent("no other way in", 400, "/account/passkeys", "/account", credential="{}")
        self.see("not for you", self.get("/people"), 403)
        self.see("no page", self.get("/rate/nothing"), 404)
        self.see("old form", self.post("/rate/profile", data={"csrf": "x"}), 403)
        self.see("other site", self.post("/rate/profile", headers={"origin": "https://x.example"}), 403)
        self.see("profile", self.get("/rate/profile"))
        for name, value in {
            "years": "x",
            "specialty": "",
            "affiliation": "y" * 200,
            "seniority": "x",
        }.items():
            self.sent(f"wrong {name}", 422, "/rate/profile", "/rate/profile", **PROFILE | {name: value})
        assert self.submit("/rate/profile", "/rate/profile", **PROFILE).status_code == 303

    def case(self, name: str) -> str:
        """The next case that is open, seen; its code."""
        found = re.search(
            r'class="button" href="/rate/([^"]+)"', self.see(f"home at {name}", self.get("/rate"))
        )
        assert found
        self.see(name, self.get(f"/rate/{found[1]}"))
        return found[1]

    def practise(self) -> None:
        code = self.case("practice")
        self.see("nothing answered", self.rate(code), 422)
        answer = self.rate(code, **{"grade.one": "cannot", "grade.two": "na"})
        self.see("no reason", answer, 422)
        assert self.rate(code, **{"grade.one": "1", "why.one": OWN, "grade.two": "na"}).status_code == 303
        self.see("key", self.get(f"/rate/{code}/key"))
        self.see("after the key", self.rate(code), 409)

    def define(self) -> None:
        code = self.case("words")
        grades = {"grade.one": "cannot", "why.one": OWN, "grade.two": "1"}
        assert self.rate(code, **grades).status_code == 303
        self.see("waits", self.get("/rate"))

    def discuss(self) -> None:
        address = f"/rate/discussion/{OWN}words"
        self.see("discussion", self.get(address))
        self.sent("empty remark", 422, address, address, dimension="one", text="")

    def give(self) -> None:
        code = self.case("case")
        fields = {"grade.one": "2", "why.one": OWN, "grade.two": "1"}
        html = self.pages["case"]
        draft = {"csrf": token_in(html), "version": "0"} | fields
        assert self.post(f"/rate/{code}/draft", data=draft).json() == {"version": 1}
        self.see("draft", self.get(f"/rate/{code}?saved=1"))
        stale = self.post(f"/rate/{code}/draft", data=draft | {"why.one": f"{OWN} " + OWN})
        self.pages["stale"] = f'<html lang="{self.language}"><p>{stale.json()["message"]}</p>'
        long = self.post(f"/rate/{code}/draft", data=draft | {"version": "1", "comment": OWN + "y" * 10001})
        self.pages["too long"] = f'<html lang="{self.language}"><p>{long.json()["message"]}</p>'
        assert self.rate(code, **fields).status_code == 303
        self.see("submitted", self.get(f"/rate/{code}"))
        assert self.rate(code, action="save", **fields | {"comment": OWN}).status_code == 303
        self.see("changed after", self.get(f"/rate/{code}"))
        self.rate(self.case("last"), **fields)
        self.see("done", self.get("/rate"))

    @property
    def language(self) -> str:
        return str(self.headers["accept-language"][:2])


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Reader]:
    """A rater for each language, all the way through a study."""
    folder = tmp_path_factory.mktemp("languages")
    (folder / "own.yaml").write_text(INSTRUMENT, encoding="utf-8")
    database, _ = set_up_panel(folder, instrument="own.yaml", rows=ROWS, panel=ROUNDS, dimensions="")
    app = make_app(Panel(database))
    found = {each: Reader(app, each) for each in languages.LANGUAGES}
    for each in found.values():
        each.join()
        each.practise()
        each.define()
    _set(app, f"{OWN}words", "discussing")
    for each in found.values():
        each.discuss()
    _set(app, f"{OWN}words", "closed")
    for each in found.values():
        each.give()
    _set(app, f"{OWN}rating", "closed")
    for each in found.values():
        each.see("closed", each.get(each.get("/rate").text.split('<li><a href="')[-1].partition('"')[0]))
    return found


def _set(app: FastAPI, name: str, state: str) -> None:
    with app.state.panel.database.writing() as connection:
        (one,) = [each for each in rounds(connection) if each.name == name]
        set_state(connection, one, state)


@pytest.mark.parametrize("language", OTHERS)
def test_no_sentence_of_a_raters_page_is_left_in_english(readers: dict[str, Reader], language: str) -> None:
    is_wholly_in(language, readers["en"].pages, readers[language].pages)


def is_wholly_in(language: str, english: dict[str, str], other: dict[str, str]) -> None:
    """These pages hold no sentence of the same pages in English."""
    assert list(english) == list(other)
    assert len(english) > 30
    for name, html in other.items():
        spoken, found = strings(html)
        before, ours = strings(english[name])
        assert (before, spoken) == ("en", language), name
        assert ours, name
        assert found & ours == set(), f"{name} is not wholly in {language}"
        assert len(found) >= len(ours) - 3, name


def test_a_rater_chooses_a_language_and_keeps_it(readers: dict[str, Reader]) -> None:
    one = readers["fr"]
    answer = one.submit("/account/language", "/rate", language="es", next="/rate")
    assert (answer.status_code, answer.headers["location"]) == (303, "/rate")
    assert strings(one.get("/rate").text)[0] == "es"
    assert "Mis casos" in one.get("/rate").text
    assert "Esa página no existe" in one.get("/rate/nothing").text
    assert one.submit("/account/language", "/rate", language="xx").status_code == 422
    assert (
        one.submit("/account/language", "/rate", language="fr", next="//x.example").headers["location"] == "/"
    )


def test_a_language_chosen_before_signing_in_is_kept(readers: dict[str, Reader]) -> None:
    new = Reader(readers["en"].app, "en")  # type: ignore[arg-type]  # the same application
    panel = new.app.state.panel  # type: ignore[attr-defined]
    new.person, path = invited(panel, "Dr Gecko", Role.RATER)
    answer = new.submit("/language", path, language="de", next=path)
    assert (answer.status_code, answer.headers["location"]) == (303, path)
    joining = new.get(path)
    assert strings(joining.text)[0] == "de"
    assert f'name="next" value="{path}"' in joining.text
    assert 'value="/sign-in?next=/rate"' in new.get("/sign-in?next=/rate").text
    assert 'action="/language"' not in new.submit(path, path, password="x", again="x").text
    assert new.submit(path, path, password=PASSWORD, again=PASSWORD).status_code == 303
    new.cookies.delete("medjury-language")
    assert strings(new.get("/account").text)[0] == "de", "it is the rater's own choice now"
    assert new.submit("/language", "/account", language="xx").status_code == 422
    elsewhere = new.submit("/language", "/account", language="fr", next="//x.example")
    assert elsewhere.headers["location"] == "/"
    coordinator = Reader(readers["en"].app, "en")  # type: ignore[arg-type]
    assert coordinator.submit("/language", "/sign-in", language="fr").status_code == 303
    _, path = invited(panel, "Ada", Role.COORDINATOR)
    assert coordinator.submit(path, path, password=PASSWORD, again=PASSWORD).status_code == 303
    assert strings(coordinator.get("/account").text)[0] == "en"


def test_the_coordinators_pages_are_english_whatever_the_browser_asks_for(tmp_path: Path) -> None:
    database, _ = set_up_panel(tmp_path)
    coordinator = sign_in(make_app(Panel(database)), Role.COORDINATOR)
    coordinator.headers["accept-language"] = "de"
    assert coordinator.submit("/account/language", "/account", language="de").status_code == 403
    spoken, found = strings(coordinator.get("/account").text)
    assert spoken == "en"
    assert "Change your password" in found
    assert coordinator.get("/api/nothing").json()["error"].startswith("The address may be mistyped")


def test_a_rater_reads_the_instrument_in_their_language_and_answers_the_same(
    readers: dict[str, Reader],
) -> None:
    german, french = (readers[each].pages["case"] for each in ("de", "fr"))
    assert not {"zqErste", "zqGut", "zqQuelle", "zqText"} & set(re.findall(r"zq\w+", french))
    words = set(re.findall(r"zq\w+", german))
    assert {"zqAnleitung", "zqQuelle", "zqText", "zqErste", "zqDefiniert", "zqSchlecht", "zqGut"} <= words
    assert {"zqfirst", "zqsource", "zqgraded", "zqinstructions"} & words == set()
    assert "zqgood" in words, "the second dimension's grade 2 has no translation"
    assert "„zqErste“ mit 1 (zqSchlecht)" in german
    app: Any = readers["de"].app
    panel = app.state.panel
    coordinators = sign_in(app, Role.COORDINATOR).get("/rounds").text
    assert coordinators.count("Raters answer in Spanish and French and read the instrument in English") == 3
    with panel.database.reading() as connection:
        (*_, rating) = rounds(connection)
        given: dict[str, set[tuple[str, str, object]]] = {}
        for each in latest_answers(connection, rating):
            given.setdefault(each.rater, set()).add((each.item, each.dimension, each.outcome))
        assert len(given) == 4 and len(set(map(frozenset, given.values()))) == 1
        found = {each.rater: each.profile["rated_in"] for each in collect(connection)}
        assert found == {"zqen": "English", "zqde": "German", "zqes": "Spanish", "zqfr": "French"}
        assert set(ratings_frame(collect(connection))["rated_in"]) == set(found.values())
        assert [each for each in rating.warnings if "translation" in each] == [
            "The instrument's translation de lacks two (definition, grade 2). Raters read this in English."
        ]


@pytest.mark.parametrize(("language", "width", "scheme"), [("de", 390, "dark"), ("es", 1280, "light")])
def test_axe_finds_nothing_serious_in_a_language(
    browser: Browser, tmp_path: Path, language: str, width: int, scheme: Literal["dark", "light"]
) -> None:
    database, _ = set_up_panel(tmp_path, cases=1)
    with served(Panel(database)) as panel:
        context = browser.new_context(
            base_url=panel.public_url,
            locale=language,
            viewport={"width": width, "height": 844},
            color_scheme=scheme,
        )
        page = context.new_page()
        page.goto("/sign-in")
        assert _is_dark(page) == (scheme == "dark")
        page.locator(".languages summary").click()
        _is_in_sight(page.locator(".languages form"), width)
        _is_sound(page, language)
        page.goto(invited(panel, "Dr Ocelot", Role.RATER)[1])
        _is_sound(page, language)
        page.locator("#password").fill(PASSWORD)
        page.locator("#again").fill(PASSWORD)
        page.locator("form:has(#again) button").click()
        page.wait_for_url("**/rate/profile")
        _is_sound(page, language)
        page.locator("#specialty").fill("Nephrology")
        page.locator("#years").fill("8")
        page.locator("#seniority").select_option("specialist")
        page.locator("form.fields button").click()
        page.locator(".languages summary").click()
        _is_in_sight(page.locator(".languages form"), width)
        _is_sound(page, language)
        page.locator(".card .button").first.click()
        expect(page.locator(".question.current")).to_have_count(1)
        page.locator(".languages summary").click()
        _is_in_sight(page.locator(".languages form"), width)
        page.locator(".languages summary").click()
        page.locator("#q-accuracy label").nth(3).click()
        expect(page.locator(".saved")).not_to_be_empty()
        _is_sound(page, language)
        page.goto("/account")
        _is_sound(page, language)
        context.close()


def test_the_coordinators_pages_can_be_read_in_the_dark(browser: Browser, tmp_path: Path) -> None:
    database, _ = set_up_panel(tmp_path)
    with served(Panel(database)) as panel:
        context = browser.new_context(base_url=panel.public_url, color_scheme="dark")
        page = context.new_page()
        let_in(context, panel, Role.COORDINATOR, "Dr Okapi")
        page.goto("/")
        places = page.locator("nav[aria-label=Pages] a").evaluate_all("each => each.map(a => a.pathname)")
        assert len(places) > 4
        for place in places:
            page.goto(place)
            assert _is_dark(page), place
            assert faults(page, "color-contrast") == [], place  # all else is as it is in the light
        context.close()


def _is_in_sight(menu: Locator, width: int) -> None:
    expect(menu).to_be_visible()
    box = menu.bounding_box()
    assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= width


def _is_dark(page: Page) -> bool:
    return bool(page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 24, 31)")


def _is_sound(page: Page, language: str) -> None:
    expect(page.locator("html")).to_have_attribute("lang", language)
    assert serious_faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), page.url
