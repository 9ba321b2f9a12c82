"""Every route, asked by everyone: nobody signed in, each role, and somebody whose session is over."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fastapi import FastAPI
from tests.panel.visitors import Visitor, sign_in

from medjury.panel._access._people import Role
from medjury.panel._declared import DeclaredRoute
from medjury.panel._panel import OpenIdSettings
from medjury.panel._serve import Panel, make_app, open_panel_database

# What anyone may open. A route that is not in this list must ask for a role.
NOT_FOR_YOU = "Your role does not open it."
OPEN = {
    "/healthz",
    "/static/{name:path}",
    "/sign-in",
    "/sign-in/passkey",
    "/sign-in/passkey/options",
    "/sign-in/openid",
    "/sign-in/openid/return",
    "/language",
    "/sign-out",
    "/join/{secret}",
    "/join/{secret}/passkey",
    "/join/{secret}/passkey/options",
    "/join/{secret}/openid",
}

# Whose the other pages are, by how their address begins.
EVERYBODY = {*Role}
WHOSE = {
    "": EVERYBODY,
    "account": EVERYBODY,
    **dict.fromkeys(("question", "rate", "reference", "together"), frozenset({Role.RATER})),
    "decisions": {Role.ADJUDICATOR},
    "evidence": {Role.COORDINATOR, Role.VIEWER},
    **dict.fromkeys(
        ("api", "api-keys", "erase", "exchange", "live", "meetings", "panels", "people", "rounds", "trail"),
        frozenset({Role.COORDINATOR}),
    ),
}


@pytest.fixture(scope="module")
def everyone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Visitor]:
    settings = OpenIdSettings(issuer="http://127.0.0.1:9", client_id="x")
    folder: Path = tmp_path_factory.mktemp("matrix")
    app = make_app(Panel(open_panel_database(folder / "panel.sqlite"), open_id=settings))
    visitors = {role.value: sign_in(app, role) for role in Role}
    gone = sign_in(app, Role.COORDINATOR, "Gone")
    cookies = dict(gone.cookies)
    gone.submit("/account/sign-out-everywhere")
    gone.cookies.clear()
    gone.cookies.update(cookies)
    return {**visitors, "nobody": Visitor(app), "somebody signed out": gone}


def routes_of(visitors: dict[str, Visitor]) -> list[DeclaredRoute]:
    app = visitors["nobody"].app
    assert isinstance(app, FastAPI)
    found: list[DeclaredRoute] = app.state.declared_routes
    return found


def test_what_anyone_may_open_is_listed_here(everyone: dict[str, Visitor]) -> None:
    assert {route.path for route in routes_of(everyone) if not route.roles} == OPEN


def test_whose_every_other_page_is_is_listed_here(everyone: dict[str, Visitor]) -> None:
    for route in routes_of(everyone):
        if route.path not in OPEN:
            own = {Role.RATER} if route.path == "/account/language" else WHOSE[route.path.split("/")[1]]
            assert {*route.roles} == own, route.path


def test_no_route_is_served_that_was_not_declared(everyone: dict[str, Visitor]) -> None:
    """The framework adds none of its own: no documentation, no description outside the guarded one."""
    for path in ("/docs", "/redoc", "/openapi.json", "/docs/oauth2-redirect"):
        assert everyone["coordinator"].get(path).status_code == 404


def test_every_route_lets_in_whom_it_names_and_nobody_else(everyone: dict[str, Visitor]) -> None:
    """Whoever may pass is asked for the form's token when something would change; whoever may not is refused
    although they send theirs."""
    checked = 0
    tokens = {who: visitor.token() for who, visitor in everyone.items() if visitor.person and who in [*Role]}
    for route in routes_of(everyone):
        path = re.sub(r"\{[^}]+\}", "none", route.path)
        for who, visitor in everyone.items():
            for method in sorted(route.methods):
                wrong_role = bool(route.roles) and who in tokens and who not in route.roles
                headers = {"X-CSRF-Token": tokens[who]} if wrong_role else {}
                answer = visitor.request(method, path, headers=headers)
                told = f"{who}: {method} {path}: {answer.status_code}"
                assert answer.status_code < 500, told
                if not route.roles:
                    assert answer.status_code not in (303, 401) or path == "/sign-in", told
                elif who in ("nobody", "somebody signed out"):
                    expected = 401 if path.startswith("/api/") else 303
                    assert answer.status_code == expected, told
                    if expected == 303:
                        assert answer.headers["location"].startswith("/sign-in"), told
                elif who in route.roles:
                    assert answer.status_code != 401, told
                    assert NOT_FOR_YOU not in answer.text, told
                    assert method == "GET" or answer.status_code == 403, told
                else:
                    assert answer.status_code == 403 and NOT_FOR_YOU in answer.text, told
                checked += 1
    assert checked > 6 * len(OPEN)


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.COORDINATOR])
def test_nobody_but_the_coordinator_changes_people_even_with_a_token(
    everyone: dict[str, Visitor], role: Role
) -> None:
    visitor, coordinator = everyone[role], everyone["coordinator"]
    before = coordinator.get("/people").text.count("<tr>")
    assert coordinator.person is not None
    for path in ("/people", f"/people/{coordinator.person.id}/disable", "/api-keys"):
        assert visitor.submit(path, name="Mallory", role="coordinator").status_code == 403
    assert coordinator.get("/people").text.count("<tr>") == before
