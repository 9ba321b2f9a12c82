"""The documentation as a site: built without a warning, asks nothing of other machines, open to everybody."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Request
from tests import chromium
from tests.axe import few_rows, serious_faults

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    kept = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=kept)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


def test_every_page_is_in_the_site_and_in_its_contents(site: Path) -> None:
    pages = {page.relative_to(ROOT / "docs") for page in (ROOT / "docs").rglob("*.md")}
    named = set(
        re.findall(r"[\w/-]+\.md", yaml.safe_dump(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]))
    )
    assert named == {str(page) for page in pages}
    for page in pages:
        name = "index" if page.stem == "README" else page.stem
        assert (site / page.parent / f"{name}.html").exists(), page


def test_no_page_fetches_anything_from_another_machine(site: Path) -> None:
    fetched = re.compile(
        r"<(?:script|img|iframe|source|link(?=[^>]*rel=.?(?:stylesheet|preload|preconnect)))[^>]*(?:src|href)=.?(https?:)?//"
    )
    for page in site.rglob("*.html"):
        found = fetched.search(page.read_text(encoding="utf-8"))
        assert found is None, f"{page.relative_to(site)}: {found and found[0]}"


def test_pages_open_from_the_disk_fit_every_window_and_have_no_serious_fault(site: Path) -> None:
    with chromium.browser() as browser:
        page = browser.new_page()
        asked: list[Request] = []
        page.on("request", lambda request: asked.append(request))
        for name in ("index", "which-command", "glossary", "statistics"):
            page.goto((site / f"{name}.html").as_uri())
            for width in (390, 1280):
                page.set_viewport_size({"width": width, "height": 900})
                assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, width)
            few_rows(page)
            assert serious_faults(page) == [], name
        assert all(request.url.startswith(("file:", "data:", "blob:")) for request in asked)
