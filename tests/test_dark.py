"""The report, the memo and the evidence in the dark have enough contrast, and paper stays light."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests import chromium
from tests.axe import faults, few_rows, serious_faults
from tests.recipes.offline import run_demonstration

from medjury.cli import main

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
OWN_CHECK = (Path(__file__).parent / "report" / "accessibility.js").read_text()
BEHIND = "getComputedStyle(document.body).backgroundColor"


def test_pages_in_the_dark_have_contrast_and_paper_stays_light(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    run = tmp_path / "run"
    shutil.copytree(run_demonstration(tmp_path_factory), tmp_path / "demo")
    (tmp_path / "demo" / "runs" / "demonstration").rename(run)
    cases = str(tmp_path / "demo" / "cases.jsonl")
    evidence = tmp_path / "evidence.html"
    assert main(["report", str(run), "--board", "--quiet", "--resamples", "200"]) == 0
    assert main(["view", str(run), "--cases", cases, "--file", str(evidence), "--most", "6"]) == 0
    with chromium.browser() as browser:
        for file in (run / "report.html", run / "board.html", evidence):
            page = browser.new_page(color_scheme="dark")
            page.goto(file.as_uri())
            page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
            assert page.evaluate(BEHIND) == "rgb(18, 24, 31)"
            assert [each for each in page.evaluate(OWN_CHECK) if "contrast" in each] == [], file.name
            if file == evidence:
                assert page.locator(".answer .differs-from").count() and page.locator(".legend").count()
            few_rows(page)
            # The report in the light is looked at as a whole by `test_first_page.py`; memo and file only here.
            found = faults(page, "color-contrast") if file.name == "report.html" else serious_faults(page)
            assert found == [], file.name
            page.emulate_media(media="print", color_scheme="dark")
            assert page.evaluate(BEHIND) == "rgb(255, 255, 255)"
            page.close()
