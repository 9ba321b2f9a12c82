"""The browser of this machine, without a window: it prints the page and turns figures into pixels."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import make_private

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
_SECONDS = 180
NO_BROWSER = "Chromium (apt-get install chromium, or MEDJURY_CHROMIUM=/path/to/browser)"


def find_browser() -> str | None:
    """`MEDJURY_CHROMIUM` names a browser of your own."""
    return os.environ.get("MEDJURY_CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)


def run_browser(browser: str, source: Path, target: Path, *flags: str, part: str = "") -> None:
    """Open `source` (its address ends with `part`) with a profile of its own, let the `flags` write `target`, and
    refuse to go on without it."""
    with tempfile.TemporaryDirectory(prefix="medjury-browser-") as profile:
        command = [browser, *_FLAGS, f"--user-data-dir={profile}", *flags, source.as_uri() + part]
        target.unlink(missing_ok=True)
        try:
            # The page loads nothing, and its policy forbids it to.
            done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)  # noqa: S603
        except (OSError, subprocess.TimeoutExpired) as error:
            raise MedjuryError(f"{browser} could not write {target.name}: {error}") from None
    if not target.is_file():
        said = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise MedjuryError(f"{browser} could not write {target.name}: {said}")
    make_private(target)
