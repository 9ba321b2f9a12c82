"""The page as PDF: by Chromium where there is one, else by weasyprint."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

from medjury.errors import MedjuryError

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
_SECONDS = 180


def write_pdf(page: str | Path) -> Path:
    """Write `report.pdf` beside the page and return its path. `MEDJURY_CHROMIUM` names a browser of your own."""
    source = Path(page).resolve()
    target = source.with_suffix(".pdf")
    browser = os.environ.get("MEDJURY_CHROMIUM") or next(filter(None, map(shutil.which, _BROWSERS)), None)
    if browser is not None:
        _by_browser(browser, source, target)
    elif find_spec("weasyprint") is not None:
        from importlib import import_module

        import_module("weasyprint").HTML(filename=str(source)).write_pdf(str(target))
    else:
        raise MedjuryError(
            "a PDF needs Chromium (apt-get install chromium, or MEDJURY_CHROMIUM=/path/to/browser) or "
            "weasyprint "
            "(pip install weasyprint); the HTML report prints well from any browser"
        )
    return target


def _by_browser(browser: str, source: Path, target: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="medjury-browser-") as profile:
        command = [
            browser,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--no-pdf-header-footer",
            f"--user-data-dir={profile}",
            f"--print-to-pdf={target}",
            source.as_uri(),
        ]
        target.unlink(missing_ok=True)
        try:
            # The page loads nothing, and its policy forbids it to.
            done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)  # noqa: S603
        except (OSError, subprocess.TimeoutExpired) as error:
            raise MedjuryError(f"{browser} could not print the report: {error}") from None
    if not target.is_file():
        said = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise MedjuryError(f"{browser} could not print the report: {said}")
