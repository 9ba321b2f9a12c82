"""Raters at real browsers: what the tests of their pages share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect
from tests.axe import serious_faults
from tests.panel.raters import rater
from tests.panel.rounds import set_up_panel
from tests.panel.served import served
from tests.panel.visitors import hand_over

from medjury.panel._serve import Panel, make_app

DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}


@contextmanager
def panel_of(folder: Path, **study: Any) -> Iterator[Panel]:
    database, _ = set_up_panel(folder, **study)
    with served(Panel(database)) as running:
        yield running
    database.close()


@contextmanager
def rater_at(
    browser: Browser,
    panel: Panel,
    name: str,
    size: dict[str, int],
    *,
    scripts: bool = True,
    may_fail: bool = False,
) -> Iterator[Page]:
    """Somebody who has joined and said who they are; nothing goes elsewhere, and no script complains."""
    is_phone = size["width"] < 500
    context = browser.new_context(
        base_url=panel.public_url,
        viewport={"width": size["width"], "height": size["height"]},
        has_touch=is_phone,
        is_mobile=is_phone,
        java_script_enabled=scripts,
    )
    page = context.new_page()
    complaints: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    hand_over(rater(make_app(panel), name), context)
    page.goto("/rate")
    yield page
    context.close()
    assert [each for each in asked if not each.startswith(panel.public_url)] == []
    assert may_fail or [each for each in complaints if "status of 4" not in each] == []


def open_case(page: Page, number: int) -> None:
    """The case is there and its script has begun: the first question is marked."""
    expect(page.locator("h1")).to_contain_text(f"Case {number}")
    expect(page.locator(".question.current")).to_have_count(1)


def nothing_serious(page: Page) -> None:
    assert serious_faults(page) == []
