"""Takes the pictures of README and docs anew, with the browser of the tests:
`PYTHONPATH=src:. .venv/bin/python docs/pictures.py`."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from playwright.sync_api import Browser
from tests import chromium
from tests.panel.rating.at_browsers import PHONE, open_case, panel_of, rater_at

import medjury
from medjury.cli import main

IMAGES = Path(__file__).parent / "images"
CASES = Path(medjury.__file__).parent / "studies" / "demo" / "cases.jsonl"


def report(browser: Browser, place: Path) -> None:
    """Page one of the demonstration."""
    main(["demo", "--folder", str(place / "demo"), "--no-live", "--quiet"])
    page = browser.new_page(viewport={"width": 1180, "height": 1000})
    page.goto((place / "demo" / "runs" / "demonstration" / "report.html").as_uri())
    page.screenshot(path=IMAGES / "report.png")


def phone(browser: Browser, place: Path) -> None:
    """A clinician's phone, at the questions of a case of the demonstration."""
    place.mkdir()
    rows = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()[:8:2]]
    with panel_of(place, rows=rows) as panel, rater_at(browser, panel, "Dr Anna Weber", PHONE) as page:
        page.get_by_role("link", name="Start").click()
        open_case(page, 1)
        page.locator("#q-accuracy label", has_text="4").first.tap()
        page.locator("#q-accuracy").scroll_into_view_if_needed()
        page.wait_for_load_state("networkidle")
        page.screenshot(path=IMAGES / "phone.png")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, chromium.browser() as opened:
        report(opened, Path(folder))
        phone(opened, Path(folder) / "panel")
