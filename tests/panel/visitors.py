"""People who visit a panel in tests: signed in by a real invitation, as a browser would be."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI
from fastapi.testclient import TestClient
from playwright.sync_api import BrowserContext

from medjury.panel._access._people import Person, Role, add_person
from medjury.panel._access._sign_in import invite
from medjury.panel._serve import Panel, make_app

PASSWORD = "tulip-quarry-lantern-oboe"


class Visitor(TestClient):
    """A browser without JavaScript: it keeps cookies and sends the token that a page's forms hold."""

    person: Person | None = None

    def __init__(self, app: FastAPI, *, address: str = "203.0.113.5") -> None:
        super().__init__(
            app,
            base_url=app.state.panel.public_url,
            follow_redirects=False,
            raise_server_exceptions=False,
            client=(address, 50000),
        )

    def token(self, page: str = "/account") -> str:
        """The token that the forms of a page hold."""
        return token_in(self.get(page).text)

    def submit(self, path: str, page: str = "/account", **fields: str) -> Any:
        """Send a form that stands on `page`."""
        return self.post(path, data={"csrf": self.token(page)} | fields)


def token_in(html: str) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', html)
    assert found, "the page has no form"
    return unescape(found[1])


def invited(panel: Panel, name: str, role: Role, email: str | None = None) -> tuple[Person, str]:
    """A person, and the path of their invitation."""
    with panel.database.writing() as connection:
        person = add_person(connection, name, role, now=panel.now(), email=email)
        secret = invite(connection, person, by="a test", now=panel.now())
    return person, f"/join/{secret}"


def sign_in(app: FastAPI, role: Role, name: str | None = None) -> Visitor:
    """Somebody of this role, who has just joined with `PASSWORD`."""
    visitor = Visitor(app)
    visitor.person, path = invited(app.state.panel, name or f"A {role}", role)
    answer = visitor.submit(path, path, password=PASSWORD, again=PASSWORD)
    assert answer.status_code == 303, answer.text
    return visitor


def let_in(context: BrowserContext, panel: Panel, role: Role, name: str) -> Person:
    """A real browser whose owner has just joined: the tests of joining go through its pages."""
    visitor = sign_in(make_app(panel), role, name)
    assert visitor.person is not None
    hand_over(visitor, context)
    return visitor.person


def hand_over(visitor: Visitor, context: BrowserContext) -> None:
    """What the visitor's browser keeps, for a real one."""
    url = str(visitor.base_url)
    context.add_cookies(
        [{"name": name, "value": value, "url": url} for name, value in visitor.cookies.items()]
    )


def reachable(visitor: Visitor, *begin: str, most: int | None = None) -> dict[str, str]:
    """Every page that links and forms lead to, from the start page on: what came back, headers and all."""
    seen: dict[str, str] = {}
    waiting = ["/", *begin]
    while waiting and (most is None or len(seen) < most):
        path = waiting.pop()
        if path in seen or path.startswith(("/static/", "/sign-out", "/exchange/ratings")):
            continue
        answer = visitor.get(path)
        assert answer.status_code < 500, path
        seen[path] = "\n".join([*(f"{n}: {v}" for n, v in answer.headers.items()), answer.text])
        found = re.findall(r'(?:href|action|src)="([^"]+)"', answer.text)
        for address in map(urlsplit, map(unescape, [*found, answer.headers.get("location", "")])):
            if not address.netloc and address.path.startswith("/"):
                waiting.append(address.path + (f"?{address.query}" if address.query else ""))
    return seen
