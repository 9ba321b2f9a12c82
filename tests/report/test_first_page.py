"""The report on paper, on a phone and for readers with other senses: its first page is one page whatever the study,
and nothing is wider than the screen."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import Browser
from tests.axe import few_rows, serious_faults
from tests.recipes.offline import run_demonstration, run_recipe
from tests.report.pdf_text import pdf_pages
from tests.report.planted import planted_frame, write_run

from medjury.report import write_page
from medjury.studies import Recipe

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
NAMES = [recipe.name for recipe in Recipe.all()]


def first_pages(browser: Browser, report: Path, target: Path) -> dict[str, list[str]]:
    """The words of the memo and of the first two pages behind it on both papers, with the summary on the screen."""
    page = browser.new_page()
    page.goto(report.as_uri())
    found = {"screen": page.inner_text("#verdict").split("\n")}
    for paper in ("A4", "Letter"):
        page.pdf(path=target, format=paper, page_ranges="1-3", print_background=True)
        found[paper] = pdf_pages(target)
    page.close()
    return found


def assert_one_page(found: dict[str, list[str]]) -> None:
    screen = letters("".join(found["screen"]))
    for paper in ("A4", "Letter"):
        memo, first, second = found[paper]
        assert [each.splitlines()[:2] for each in (memo, first, second)] == [
            ["Page ", each] for each in "123"
        ]
        assert "Memofortheboard" in letters(memo) and letters(memo).endswith("Dateandsignature")
        # All of the summary is on the first page, and its last words are the last ones there.
        assert letters(first).endswith(screen[-60:]), (paper, first[-200:])
        assert "Maywetrustth" in letters(first) and "Whattodonext" in letters(first)
        assert second.partition("Medjury report\n")[2].startswith("The evidence\n"), (paper, second[:200])


def letters(words: str) -> str:
    """Without spaces and with ligatures undone: lines break elsewhere on paper."""
    import unicodedata

    return "".join(unicodedata.normalize("NFKC", words).replace("•", "").split())


@pytest.mark.parametrize(
    "name",
    # With `make test-simulations`; every time there is one of more judges below.
    [pytest.param(name, marks=pytest.mark.simulation) for name in NAMES],
)
def test_the_summary_of_every_recipe_is_one_page(
    name: str, browser: Browser, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for run in sorted((run_recipe(tmp_path_factory, name) / "runs").iterdir()):
        assert_one_page(first_pages(browser, run / "report.html", tmp_path / "printed.pdf"))


def test_the_page_of_the_demonstration_fits_every_screen_and_has_no_serious_fault(
    browser: Browser, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    report = run_demonstration(tmp_path_factory) / "runs" / "demonstration" / "report.html"
    page = browser.new_page()
    page.goto(report.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    # What is wider scrolls in a box of its own, which the keyboard reaches.
    outside = """[...document.querySelectorAll('table, svg')].filter((each) =>
      each.closest('.scroll, .picture') === null && each.getBoundingClientRect().right > innerWidth + 1).length"""
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(outside) == 0
    few_rows(page)
    assert serious_faults(page) == []
    page.close()
    assert_one_page(first_pages(browser, report, tmp_path / "printed.pdf"))


def test_seven_judges_with_long_names_still_make_one_page(browser: Browser, tmp_path: Path) -> None:
    judges = {
        f"judge-{number}-of-a-family-of-models-with-long-names": 0.4 + number / 5 for number in range(7)
    }
    dimensions = [f"dimension_{number}_with_a_name_that_goes_on_and_on" for number in range(3)]
    frame = planted_frame(cases=12, dimensions=dimensions, judges=judges, unscored=0.2).filter(
        pl.col("rater_kind") != "jury"
    )
    run = write_run(tmp_path / "run", frame, jury={"name": "jury", "rule": "none"}, study="A study " * 12)
    found = first_pages(browser, write_page(run), tmp_path / "printed.pdf")
    assert_one_page(found)
    assert any("3 more are in the evidence" in line for line in found["screen"])


def test_one_jury_with_many_reasons_still_makes_one_page(browser: Browser, tmp_path: Path) -> None:
    dimensions = [f"dimension_{number}_with_a_name_that_goes_on_and_on" for number in range(5)]
    frame = planted_frame(cases=20, dimensions=dimensions, unscored=0.3, judges={"one": 0.2, "two": 2.0})
    run = write_run(tmp_path / "run", frame, study="A study " * 12)
    assert_one_page(first_pages(browser, write_page(run), tmp_path / "printed.pdf"))


def test_the_demonstration_ends_after_page_one_and_its_evidence(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """At most 5,000 words meet the reader; all else is folded in the same file, a link away."""
    report = run_demonstration(tmp_path_factory) / "runs" / "demonstration" / "report.html"
    page = browser.new_page()
    page.goto(report.as_uri())
    assert 1_500 < len(page.inner_text("main").split()) <= 5_000
    folded = page.locator("main details.appendix:not([open])")
    assert folded.count() > 15
    page.goto(f"{report.as_uri()}#ranking")
    assert page.locator("#ranking").is_visible() and "tie groups" in page.inner_text("#ranking")
    page.close()
