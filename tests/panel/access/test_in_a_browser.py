"""Signing in with a real browser: passkeys, phone and desktop, no request elsewhere, and axe finds nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page
from tests.axe import looks_good
from tests.panel.access.provider import CLIENT, LoopbackProvider
from tests.panel.served import served
from tests.panel.visitors import PASSWORD, invited

from medjury.panel._access._people import Role
from medjury.panel._panel import OpenIdSettings
from medjury.panel._serve import Panel, open_panel_database


@pytest.fixture
def panel(tmp_path: Path) -> Iterator[Panel]:
    with served(Panel(open_panel_database(tmp_path / "panel.sqlite"))) as running:
        yield running


@pytest.fixture
def page(browser: Browser, panel: Panel) -> Iterator[Page]:
    context = browser.new_context(base_url=panel.public_url, viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    asked: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    yield opened
    context.close()
    assert [each for each in asked if not each.startswith(panel.public_url)] == []
    assert [each for each in complaints if "status of 4" not in each] == []


def authenticator(context: BrowserContext, page: Page) -> None:
    """A device with a fingerprint reader, whose owner is there and agrees."""
    session = context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    session.send("WebAuthn.addVirtualAuthenticator", {"options": options})


def join(page: Page, panel: Panel, role: Role, name: str) -> None:
    page.goto(invited(panel, name, role)[1])
    page.get_by_label("New password").fill(PASSWORD)
    page.get_by_label("Type it again").fill(PASSWORD)
    page.get_by_role("button", name="Join", exact=True).click()
    page.get_by_role("button", name="Sign out", exact=True).wait_for()


def test_a_person_joins_with_a_passkey_and_signs_in_with_it(page: Page, panel: Panel) -> None:
    authenticator(page.context, page)
    page.goto(invited(panel, "Dr Roe", Role.RATER)[1])
    page.get_by_role("button", name="Join with a passkey").click()
    page.get_by_role("button", name="Sign out", exact=True).click()
    with page.expect_request(f"{panel.public_url}/sign-in/passkey") as sent:
        page.get_by_role("button", name="Sign in with a passkey").click()
    page.get_by_role("button", name="Sign out", exact=True).wait_for()
    page.goto("/account")
    assert page.get_by_text("You have one.").is_visible()
    page.get_by_role("button", name="Remove all my passkeys").click()
    page.get_by_text("Set a password first").wait_for()
    headers = {name: text for name, text in sent.value.all_headers().items() if not name.startswith(":")}
    again = httpx.post(sent.value.url, content=sent.value.post_data, headers=headers, timeout=60)
    assert again.status_code == 403, "who overheard all of it signs nobody in with it"
    assert "does not open an account" in again.text and "medjury-session" not in str(again.headers)


def test_a_passkey_is_made_later_and_removed_again(page: Page, panel: Panel) -> None:
    authenticator(page.context, page)
    join(page, panel, Role.VIEWER, "Vera")
    page.goto("/account")
    page.get_by_role("button", name="Make a passkey").click()
    page.get_by_text("You have one.").wait_for()
    page.get_by_role("button", name="Remove all my passkeys").click()
    page.get_by_text("You have none.").wait_for()
    page.get_by_role("button", name="Sign out", exact=True).click()
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.get_by_text("This passkey does not open an account here").wait_for()


def test_every_page_is_reachable_and_fits(page: Page, panel: Panel) -> None:
    pages = ["/sign-in", invited(panel, "Dr Anneliese Möller-Quist", Role.RATER)[1], "/nowhere"]
    for path in pages:
        page.goto(path)
        looks_good(page, path[:5])
    join(page, panel, Role.COORDINATOR, "Ada")
    for path in ("/people", "/trail", "/account", "/api-keys"):
        page.goto(path)
        looks_good(page, path)
    page.goto("/people")
    page.get_by_label("Names, one a line").fill("Dr Roe\n\n Dr Doe \n")
    page.get_by_role("button", name="Make invitation links").click()
    page.get_by_role("heading", name="2 invitations").wait_for()
    looks_good(page, "/invited")
    page.get_by_role("button", name="Copy the link for Dr Doe").click()
    page.get_by_text("Copied", exact=True).wait_for()
    page.get_by_text("QR code for a phone").nth(1).click()
    assert page.get_by_role("img", name="QR code for Dr Doe").locator("svg path").count()
    assert page.get_by_role("alert").is_visible(), "localhost opens on no other machine"


def test_a_person_joins_with_the_sites_account_at_another_site(browser: Browser, tmp_path: Path) -> None:
    with LoopbackProvider() as provider:
        settings = OpenIdSettings(issuer=provider.issuer, client_id=CLIENT, label="Hospital account")
        database = open_panel_database(tmp_path / "site.sqlite")
        with served(Panel(database, open_id=settings)) as panel, browser.new_context() as context:
            page = context.new_page()
            page.goto(panel.public_url + invited(panel, "Dr Roe", Role.VIEWER)[1])
            page.get_by_role("button", name="Hospital account").click()
            page.wait_for_url("**/evidence")
            page.goto(f"{panel.public_url}/account")
            page.get_by_text("Dr Roe, viewer").wait_for()
