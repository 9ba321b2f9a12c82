"""axe-core, which finds what readers with other senses stumble over: npm's own file, checked by its hash, or where
there is no npm the copy that comes with a package of the tests."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import shutil
import subprocess
import tarfile
import tempfile
from functools import cache
from importlib import resources
from pathlib import Path

from playwright.sync_api import Page

VERSION = "4.12.1"
INTEGRITY = "sha512-s7iGf5GaVMxEG0ENN9x+xTr7GFZCb1ZP/1uATUpCEK2X78nDB3RwbtFCo9pGAf9ru+VwoQ464DkaLEeRM08wJA=="
_KEPT = Path(__file__).parent.parent / ".venv" / "axe-core" / f"axe-core-{VERSION}.tgz"
_SECONDS = 30


def faults(page: Page, *rules: str) -> list[tuple[str, str, str]]:
    """Every fault of an open page, or those against these rules: its name, how bad it is, and the first place where
    it is."""
    page.evaluate(axe_script()[0])
    found = page.evaluate(
        "(rules) => axe.run({ resultTypes: ['violations'], ...(rules.length ? { runOnly: rules } : {}) }).then("
        "(found) => found.violations.map((each) => [each.id, each.impact, each.nodes[0].html.slice(0, 200)]))",
        rules,
    )
    return [(name, impact, where) for name, impact, where in found]


def serious_faults(page: Page) -> list[tuple[str, str]]:
    """Every serious or critical one."""
    return [(name, where) for name, impact, where in faults(page) if impact in ("serious", "critical")]


def few_rows(page: Page) -> None:
    """A long table repeats its rows, and axe looks long at each: three of them show all that it can find."""
    page.evaluate("document.querySelectorAll('tbody tr:nth-child(n+4)').forEach((each) => each.remove())")


def looks_good(page: Page, name: str) -> None:
    """Nothing is wider than a desk's window or a phone's, and axe finds nothing wrong. Pictures on request."""
    kept = page.viewport_size
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, (name, width)
        if folder := os.environ.get("MEDJURY_PICTURES"):
            page.screenshot(path=f"{folder}/{name.strip('/').replace('/', '-')}-{width}.png", full_page=True)
    assert (name, faults(page)) == (name, [])
    if kept is not None:
        page.set_viewport_size(kept)


@cache
def axe_script() -> tuple[str, str]:
    """The script, and where it came from: `npm` or `package`."""
    if (archive := _from_npm()) is None:
        return resources.files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8"), "package"
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        script = files.extractfile("package/axe.min.js")
        assert script is not None
        return script.read().decode(), "npm"


def _from_npm() -> bytes | None:
    """npm's archive, fetched once and kept; None where npm is absent or cannot fetch. Another file than the one
    whose hash is written here is an error, never used."""
    if not _KEPT.exists():
        if (npm := shutil.which("npm")) is None:
            return None
        _KEPT.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=_KEPT.parent) as folder:
            command = [npm, "pack", f"axe-core@{VERSION}", "--silent", "--fetch-retries=0"]
            try:
                subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=_SECONDS)
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
                return None
            checked((Path(folder) / _KEPT.name).read_bytes())
            (Path(folder) / _KEPT.name).replace(_KEPT)
    return checked(_KEPT.read_bytes())


def checked(archive: bytes) -> bytes:
    kind, _, wanted = INTEGRITY.partition("-")
    found = base64.b64encode(hashlib.new(kind, archive).digest()).decode()
    assert found == wanted, f"axe-core {VERSION} is another than the one that was reviewed; delete {_KEPT}"
    return archive
