"""One Chromium for each worker of the suite, started when the first test wants to see a page.

Tests open contexts of their own in it, which share nothing: neither cookies nor storage. To start one for every
file of tests would take longer than most of what they look at. It reaches this machine alone.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
    "--disable-extensions", "--disable-default-apps", "--disable-back-forward-cache", "--mute-audio",
    "--disable-background-timer-throttling", "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows", "--force-color-profile=srgb", "--password-store=basic",
    "--process-per-site", "--renderer-process-limit=1",
    # A mouse, as at a desk: what depends on one is shown.
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4",
    # What it would suggest under an address bar that nobody sees: two pages of its own, a second for each context.
    "--disable-features=PaintHolding,WebUIOmniboxPopup,WebUIOmniboxAimPopup",
    "--hide-scrollbars", "--remote-debugging-port=0",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
)  # fmt: skip
_SECONDS = 90
_running: list[tuple[subprocess.Popen[bytes], Path, str]] = []
_drivers: list[tuple[Playwright, asyncio.AbstractEventLoop]] = []


def chromium() -> str | None:
    """Where the browser is on this machine."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return os.environ.get("MEDJURY_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


def address() -> str:
    """Of the debugging protocol of the worker's browser; one that has died is started again."""
    if _running and _running[0][0].poll() is not None:
        stop()
    if not _running:
        browser = chromium()
        assert browser is not None, "Chromium is not installed: apt-get install -y chromium"
        profile = Path(tempfile.mkdtemp(prefix="medjury-chromium-"))
        command = [browser, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            _running.append((process, profile, _listening(profile, process)))
        except BaseException:
            _end(process, profile)
            raise
    return _running[0][2]


def stop() -> None:
    """At the end of the session."""
    while _drivers:
        playwright, loop = _drivers.pop()
        asyncio._set_running_loop(loop)
        playwright.stop()
        asyncio._set_running_loop(None)
    while _running:
        process, profile, _ = _running.pop()
        _end(process, profile)


@contextmanager
def browser() -> Iterator[Browser]:
    """The worker's browser for a file of tests: what they opened in it is closed at the end. Playwright's driver, a
    process that starts slowly, is one for the session; its event loop counts as running only in here, so that other
    tests can run theirs."""
    from playwright.sync_api import expect, sync_playwright

    # A busy machine takes its time; what never comes still fails.
    expect.set_options(timeout=120_000)
    if not _drivers:
        _drivers.append((sync_playwright().start(), asyncio.get_running_loop()))
    playwright, loop = _drivers[0]
    asyncio._set_running_loop(loop)
    try:
        connected = playwright.chromium.connect_over_cdp(address())
        known = set(connected.contexts)
        yield connected
        for context in set(connected.contexts) - known:
            context.close()
        connected.close()
    finally:
        asyncio._set_running_loop(None)


def _end(process: subprocess.Popen[bytes], profile: Path) -> None:
    process.kill()
    process.wait(timeout=30)
    shutil.rmtree(profile, ignore_errors=True)


def _listening(profile: Path, process: subprocess.Popen[bytes]) -> str:
    deadline = time.monotonic() + _SECONDS
    file = profile / "DevToolsActivePort"
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"Chromium ended with status {process.returncode}")
        if file.exists() and file.read_text().count("\n"):
            port, path = file.read_text().split("\n")[:2]
            return f"ws://127.0.0.1:{port}{path}"
        time.sleep(0.02)
    raise RuntimeError("Chromium did not open its debugging port")
