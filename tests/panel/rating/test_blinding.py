"""Blinding: nothing that a rater can reach tells the system, another rater or a judge."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from fastapi import FastAPI
from tests.panel.raters import GOOD, rater
from tests.panel.rounds import SYSTEMS, VENDORS, case_rows, set_up_panel
from tests.panel.visitors import reachable, sign_in

from medjury.panel._access._people import Role
from medjury.panel._serve import Panel, make_app

MakePanel = Callable[..., FastAPI]
JUDGES = 'judges: [{kind: openai, name: juror-tapir, url: "http://127.0.0.1:9/v1", model: m}]\n'
# What is planted in the study and in other raters' answers. Case ids, patients and metadata tell too.
PLANTED = (*SYSTEMS, *VENDORS, "marmoset", "pangolin", "aardwolf", "Narwhal", "capybara", "juror-tapir")


ELSEWHERE = ("/rate", "/account", "/rounds", "/people", "/trail", "/openapi.json", "/docs", "/api")


def test_no_page_header_or_address_tells_system_case_or_another_rater(make_panel: MakePanel) -> None:
    app = make_panel(panel=JUDGES)
    one, other = rater(app, "Dr Plain"), rater(app, "Dr Narwhal")
    sign_in(app, Role.COORDINATOR, "Coordinator Narwhal")
    for code in other.codes():
        other.rate(code, **GOOD | {"grade.accuracy": "1", "why.accuracy": "capybara", "comment": "capybara"})
    one.rate(one.codes()[0], **GOOD)
    one.rate(one.codes()[1], "save", **GOOD)
    pages = reachable(one, *ELSEWHERE)
    assert sum(path.startswith("/rate/") for path in pages) >= 7
    for path, text in pages.items():
        for planted in PLANTED:
            assert planted.casefold() not in f"{path} {text}".casefold(), f"{path} tells {planted}"
        assert "etag" not in text.casefold().split("\n<!doctype")[0], path
        assert "last-modified" not in text.casefold().split("\n<!doctype")[0], path


def test_what_is_sent_back_on_saving_tells_nothing_either(make_panel: MakePanel) -> None:
    app = make_panel(panel=JUDGES)
    one, other = rater(app, "Dr Plain"), rater(app, "Dr Narwhal")
    for code in other.codes():
        other.rate(code, **GOOD | {"comment": "capybara"})
    code = one.codes()[0]
    token = one.token("/rate/profile")
    sent = [
        one.rate(code),
        one.rate(code, **GOOD),
        one.rate(code, version="0", **GOOD | {"grade.accuracy": "2"}),
        one.post(f"/rate/{code}/draft", data={"csrf": token, "version": "0", "grade.accuracy": "5"}),
        one.post(f"/rate/{code}/here", data={"csrf": token}),
    ]
    assert [each.status_code for each in sent] == [422, 303, 409, 409, 204]
    for answer in sent:
        whole = f"{answer.headers} {answer.text}".casefold()
        assert not [planted for planted in PLANTED if planted.casefold() in whole]


def _page_without_texts(page: str, texts: list[str]) -> str:
    for text in texts:
        page = page.replace(text, "TEXT")
    # What is random on every page: the code of the case and of its neighbours, and the token of the form.
    page = re.sub(r"/rate/[\w-]{16}", "/rate/CODE", page)
    page = re.sub(r'data-code="[\w-]{16}"', 'data-code="CODE"', page)
    return re.sub(r'name="csrf" value="\w+"', "", page).replace("Dr Left", "NAME").replace("Dr Right", "NAME")


def test_the_same_study_with_its_systems_swapped_gives_pages_that_differ_only_in_the_texts(
    tmp_path: Path,
) -> None:
    pages = []
    for name, systems in (("Left", SYSTEMS), ("Right", SYSTEMS[::-1])):
        folder = tmp_path / name
        folder.mkdir()
        rows = case_rows(1, systems)
        database, _ = set_up_panel(folder, rows=rows)
        one = rater(make_app(Panel(database)), f"Dr {name}")
        texts = [row["candidate"] for row in rows]
        found = [_page_without_texts(one.get(f"/rate/{code}").text, texts) for code in one.codes()]
        pages.append(found)
    assert pages[0] == pages[1]


def test_the_order_of_cases_tells_neither_system_nor_file(make_panel: MakePanel) -> None:
    """Over many raters each answer stands equally often in each half, and each rater has an order of their own."""
    app = make_panel(cases=2)
    raters = [rater(app, f"Dr {number}") for number in range(4)]
    orders = []
    for one in raters:
        shown = [re.search(r"Summary (\d\.\d)", one.get(f"/rate/{code}").text) for code in one.codes()]
        orders.append(tuple(found[1] for found in shown if found))
    assert all(Counter(order) == Counter(["0.0", "0.1", "1.0", "1.1"]) for order in orders)
    assert len(set(orders)) > 1


def test_codes_are_random_and_belong_to_one_rater(make_panel: MakePanel) -> None:
    app = make_panel()
    codes = [code for name in ("Dr A", "Dr B") for code in rater(app, name).codes()]
    assert len(set(codes)) == len(codes) == 12
    assert all(re.fullmatch(r"[\w-]{16}", code) for code in codes)
