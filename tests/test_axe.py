"""Which axe-core looks at the pages, and that it finds faults at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests import chromium
from tests.axe import VERSION, axe_script, checked, serious_faults

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def test_the_script_is_the_one_that_npm_has() -> None:
    script, source = axe_script()
    assert f"axe v{VERSION}" in script[:200]
    if source != "npm":
        pytest.skip(
            "npm is absent or cannot fetch here: the copy in axe-playwright-python looks at the pages"
        )


def test_another_file_than_the_reviewed_one_is_refused() -> None:
    with pytest.raises(AssertionError, match="another than the one that was reviewed"):
        checked(b"something else")


def test_a_page_with_a_fault_is_found_out(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(
        "<!doctype html><html><title>t</title><main><h1>t</h1><img src='x.png'>"
    )
    with chromium.browser() as browser:
        page = browser.new_page()
        page.goto((tmp_path / "page.html").as_uri())
        assert {"image-alt", "html-has-lang"} <= {name for name, _ in serious_faults(page)}
