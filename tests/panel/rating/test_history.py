"""The coordinator sees what a rater said before: every version of an answer, and nobody else does."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from fastapi import FastAPI
from tests.panel.raters import GOOD, Rater, rater
from tests.panel.visitors import sign_in

from medjury.panel._access._people import Role
from medjury.panel._rating import _coordinator_pages as _history_page


@pytest.fixture
def app(make_panel: Callable[..., FastAPI]) -> FastAPI:
    return make_panel(cases=2, systems=("zebrafinch-9b",))


def changed_mind(app: FastAPI, name: str = "Dr Ocelot") -> Rater:
    somebody = rater(app, name)
    first, second = somebody.codes()
    somebody.rate(first, "save", **GOOD | {"grade.accuracy": "", "why.clarity": "Hard to <b>read</b>"})
    somebody.rate(first, **GOOD, comment="a slip of the hand")
    somebody.rate(
        first, **GOOD | {"grade.accuracy": "1", "grade.clarity": "cannot", "why.clarity": "cut off"}
    )
    somebody.rate(second, **GOOD)
    return somebody


def test_every_version_is_there_the_first_first(
    make_panel: Callable[..., FastAPI], either_place: str
) -> None:
    app = make_panel(place=either_place, cases=2, systems=("zebrafinch-9b",))
    changed_mind(app)
    coordinator = sign_in(app, Role.COORDINATOR)
    assert 'href="/rounds/rating/history"' in coordinator.get("/rounds").text
    listed = coordinator.get("/rounds/rating/history")
    assert listed.status_code == 200 and listed.text.count("Dr Ocelot</td>") == 2
    rows = re.findall(
        r'href="(/rounds/rating/history/\d+)">.*?number">(\d)</td><td class="number">(\d)</td>', listed.text
    )
    (link,) = [link for link, submitted, saved in rows if (submitted, saved) == ("2", "3")]
    page = coordinator.get(link).text
    told = [page.index(f"Version {number} <span") for number in (1, 2, 3)]
    assert told == sorted(told) and "draft" in page[told[0] : told[1]] and "submitted" in page[told[1] :]
    first, second, third = page[told[0] : told[1]], page[told[1] : told[2]], page[told[2] :]
    assert "nothing chosen" in first and "Hard to &lt;b&gt;read&lt;/b&gt;" in first
    assert "a slip of the hand" in second and "<td>4</td>" in second
    assert "<td>1</td>" in third and "cut off" in third and "can&#39;t judge" in third
    app.state.panel.database.close()


def test_long_lists_come_in_pages_and_are_searched(app: FastAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_history_page, "SHOWN", 1)
    changed_mind(app)
    coordinator = sign_in(app, Role.COORDINATOR)
    first = coordinator.get("/rounds/rating/history").text
    assert "marmoset-00" in first and "marmoset-01" not in first and "start=1" in first
    second = coordinator.get("/rounds/rating/history?start=1").text
    assert "marmoset-01" in second and "marmoset-00" not in second and "start=2" not in second
    assert "marmoset-01" in coordinator.get("/rounds/rating/history?find=set-01").text
    assert "No case with these letters" in coordinator.get("/rounds/rating/history?find=%25").text


def test_what_is_not_there_is_not_found(app: FastAPI) -> None:
    changed_mind(app)
    coordinator = sign_in(app, Role.COORDINATOR)
    for path in ("none/history", "rating/history/999", "none/history/1"):
        assert coordinator.get(f"/rounds/{path}").status_code == 404
