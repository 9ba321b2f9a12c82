"""The page as PDF and its figures as PNG: by the Chromium of this machine, without a window."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import make_private
from medjury.store.runs import RunFolder, files

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
        stated = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise MedjuryError(f"{browser} could not write {target.name}: {stated}")
    make_private(target)


Paper = Literal["A4", "letter"]


def write_pdf(page: str | Path, *, paper: Paper = "A4", whole: bool = False) -> Path:
    """Write `report.pdf` beside the page and return its path; the `whole` of it has the folded parts too.
    `MEDJURY_CHROMIUM` names a browser of your own."""
    source = Path(page).resolve()
    target = source.with_suffix(".pdf")
    browser = find_browser()
    if browser is not None:
        flags = ("--no-pdf-header-footer", f"--print-to-pdf={target}")
        # The page itself leaves the paper to who prints it; its script reads which one is meant here.
        run_browser(browser, source, target, *flags, part=f"#paper={paper}{'&whole' * whole}")
    elif find_spec("weasyprint") is not None:
        from importlib import import_module

        weasyprint = import_module("weasyprint")
        unfolded = "details > *, .folds { display: block !important }" * whole
        style = weasyprint.CSS(string=f"@page {{ size: {paper} }} {unfolded}")
        weasyprint.HTML(filename=str(source)).write_pdf(str(target), stylesheets=[style])
        make_private(target)
    else:
        raise MedjuryError(
            f"a PDF needs {NO_BROWSER} or weasyprint (pip install weasyprint); the HTML report prints well from "
            "any browser"
        )
    if (source.parent / files.MANIFEST).is_file():
        RunFolder(source.parent).record_report()
    return target


_SIZE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')


def write_pngs(figures: Iterable[Path]) -> None:
    """A PNG beside each SVG."""
    browser = find_browser()
    if browser is None:
        raise MedjuryError(
            f"PNG needs {NO_BROWSER}; the figures are saved as SVG, which papers and slides take"
        )
    for figure in figures:
        found = _SIZE.search(figure.read_text(encoding="utf-8"))
        assert found is not None
        width, height = (round(float(side) * 4 / 3) for side in found.groups())
        target = figure.resolve().with_suffix(".png")
        run_browser(
            browser,
            figure.resolve(),
            target,
            f"--window-size={width},{height}",
            "--force-device-scale-factor=2",
            f"--screenshot={target}",
        )
