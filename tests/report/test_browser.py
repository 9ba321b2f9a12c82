"""The report in a real Chromium, opened from disk with no network: quiet, reachable, sortable, printable."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.axe import axe_script
from tests.chromium import chromium
from tests.report import test_adaptive_section as adaptive
from tests.report import test_claims_section as claims
from tests.report import test_closed_loop_section as loops
from tests.report import test_deliberations as deliberations
from tests.report import test_records as others
from tests.report.browser import Page, open_page
from tests.report.pdf_text import pdf_pages
from tests.report.planted import write_run
from tests.report.ways import judges_of, ways_frame

from medjury.report import write_page, write_pdf

HERE = Path(__file__).parent
OWN_CHECK = (HERE / "accessibility.js").read_text()
WIDTHS = {"desktop": 1280, "phone": 390}
# What the page of the demonstration, which `test_first_page` reads as a whole, does not have.
OWN_SECTIONS = ["#strategies", "#claims", "#closed-loop", "#deliberations", "#adaptive", "#shortened"]

# `make test` installs Chromium where it may; only someone who cannot install it is let off.
pytestmark = pytest.mark.skipif(
    chromium() is None and os.geteuid() != 0, reason="Chromium is not installed, and only root can install it"
)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("browser")
    ratings = ways_frame(
        cases=110,
        systems=("alpha", "beta"),
        repeats=2,
        unscored=0.02,
        explanation="<script>alert(1)</script> & more",
    )
    before, after = loops.scores(accuracy=2, clarity=3), loops.scores(accuracy=4, clarity=3)
    told = claims.lines([claims.story(claims.MIXED, dose=[]), claims.story(claims.COURTESY)])
    told += others.lines(*(loops.loop(number, [before, after], before, after) for number in range(8)))
    told += others.lines(others.cut(1, "context", 250), others.cut(2, "context", 750))
    told += deliberations.lines(deliberations.stories()) + adaptive.lines(adaptive.stories()[:4])
    page = write_page(write_run(folder, ratings, judges=judges_of(), records=told), cases_shown=4)
    assert chromium() is not None, "Chromium is not installed: apt-get install -y chromium"
    return page


@pytest.fixture
async def page(report: Path) -> AsyncIterator[Page]:
    async with open_page(report) as opened:
        yield opened


async def test_the_page_opens_from_disk_without_a_message_or_a_request(page: Page, report: Path) -> None:
    await page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    await page.evaluate("new Promise((done) => setTimeout(done, 300))")
    assert page.complaints() == []
    assert page.requests() == [report.as_uri()]


async def test_nothing_is_wider_than_the_window(page: Page) -> None:
    for name, width in WIDTHS.items():
        await page.width(width)
        wide = await page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert wide <= 0, name
    await page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    said = "[...document.querySelectorAll('#deliberations dd')].map((each) => each.clientWidth)"
    assert await page.evaluate(f"Math.min(...{said})") > 250, "nearly the whole width of a phone"


async def test_tables_of_intervals_are_not_cut_on_a_screen(page: Page) -> None:
    await page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    cut = """[...document.querySelectorAll('.scroll:has(> table.stacked)')].filter((each) =>
      each.scrollWidth > each.clientWidth + 1).map((each) => each.ariaLabel)"""
    for width in (1280, 1100):
        await page.width(width)
        assert await page.evaluate("document.querySelectorAll('table.stacked').length") > 2
        assert await page.evaluate(cut) == [], width


async def test_readers_with_other_senses_can_use_it(page: Page) -> None:
    await page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    for width in WIDTHS.values():
        await page.width(width)
        assert await page.evaluate(OWN_CHECK) == []
    await page.evaluate(axe_script()[0])
    found = await page.evaluate(
        f"axe.run({json.dumps(OWN_SECTIONS)}, {{ resultTypes: ['violations'] }})"
        ".then((r) => JSON.stringify(r.violations))"
    )
    serious = [each for each in json.loads(found) if each["impact"] in ("serious", "critical")]
    assert [(each["id"], each["nodes"][0]["html"][:200]) for each in serious] == []


async def test_a_table_sorts_by_number_and_back(page: Page) -> None:
    column = """(() => {
      const table = document.querySelector('#coverage table.sortable');
      const button = table.tHead.querySelectorAll('button')[2];
      const read = () => [...table.tBodies[0].rows].map((row) => Number(row.cells[2].dataset.value));
      button.click(); const rising = read(); const said = button.parentElement.ariaSort;
      button.click(); return { rising, falling: read(), said };
    })()"""
    found = await page.evaluate(column)
    assert found["rising"] == sorted(found["rising"]) and found["said"] == "ascending"
    assert found["falling"] == sorted(found["rising"], reverse=True)


async def test_without_script_every_word_is_there(report: Path) -> None:
    async with open_page(report, script=False) as quiet:
        snapshot = await quiet.send("DOM.getDocument", depth=-1)
        text = json.dumps(snapshot)
        for title in (
            "May we trust this jury?",
            "Ways of judging",
            "Claims",
            "Closed loop",
            "Deliberations",
            "Adaptive juries",
            "Shortened records",
        ):
            assert title in text
        assert quiet.complaints() == []


async def test_on_paper_is_what_is_unfolded_and_no_table_is_cut(page: Page) -> None:
    await page.send("Emulation.setEmulatedMedia", media="print")
    shown = """[...document.querySelectorAll('.appendix, .folds > h2, .left-out')].filter((each) =>
      each.offsetHeight).map((each) => each.querySelector('section')?.id ?? each.className)"""
    assert await page.evaluate(shown) == ["soft left-out"]
    await page.evaluate("document.querySelector('#cost').closest('details').open = true")
    assert await page.evaluate(shown) == ["soft left-out", "layer", "cost"]
    await page.evaluate("document.querySelector('#unfold button').click()")
    assert "soft left-out" not in await page.evaluate(shown)
    await page.width(700)  # an A4 page less its margins, in CSS pixels
    cut = """[...document.querySelectorAll('table, svg')].filter((each) =>
      each.getBoundingClientRect().right > document.documentElement.clientWidth + 1).map((each) =>
      each.caption?.textContent ?? each.getAttribute('aria-label'))"""
    assert await page.evaluate(cut) == []
    assert await page.evaluate("document.querySelectorAll('details:not([open])').length") == 0
    assert (await page.pdf()).startswith(b"%PDF")


def test_the_command_line_browser_prints_a_pdf(report: Path) -> None:
    short = len(pdf_pages(write_pdf(report)))
    whole = len(pdf_pages(write_pdf(report, whole=True)))
    assert 3 < short < whole / 2
