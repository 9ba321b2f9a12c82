"""Signing in with the site's account: only the invited, and only by what the provider really signed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, build_opener

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from fastapi import FastAPI
from tests.panel.access.provider import CLIENT, Claims, LoopbackProvider
from tests.panel.visitors import PASSWORD, Visitor, invited, sign_in

from medjury.foundation.errors import MedjuryError
from medjury.panel._access._people import Role
from medjury.panel._panel import OpenIdSettings, read_open_id_settings
from medjury.panel._serve import Panel, make_app, open_panel_database


@pytest.fixture
def provider() -> Iterator[LoopbackProvider]:
    with LoopbackProvider() as running:
        yield running


@pytest.fixture
def app(tmp_path: Path, provider: LoopbackProvider) -> FastAPI:
    settings = OpenIdSettings(issuer=provider.issuer, client_id=CLIENT)
    return make_app(Panel(open_panel_database(tmp_path / "panel.sqlite"), open_id=settings))


class _Stay(HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def at_the_provider(answer: Any) -> str:
    """What a browser does with our answer: it goes to the provider, and gets the path it is sent back to."""
    assert answer.status_code == 200, answer.text
    found = re.search(r'http-equiv="refresh" content="0; url=([^"]+)"', answer.text)
    assert found
    try:
        build_opener(_Stay).open(unescape(found[1]), timeout=30)
    except HTTPError as error:
        with error:
            return error.headers["Location"].removeprefix("http://localhost:8765")
    raise AssertionError("the provider did not send the browser back")


def signed_in_by(
    visitor: Visitor, begin: str = "/sign-in/openid", page: str = "/sign-in", **fields: str
) -> Any:
    return visitor.get(at_the_provider(visitor.submit(begin, page, **fields)))


def is_in(visitor: Visitor) -> bool:
    return bool(visitor.get("/account").status_code == 200)


def test_an_invited_person_joins_by_the_link_and_comes_back_by_the_account(app: FastAPI) -> None:
    _, path = invited(app.state.panel, "Dr Roe", Role.RATER)
    first = Visitor(app)
    assert signed_in_by(first, f"{path}/openid", path).status_code == 303
    assert is_in(first)
    later = Visitor(app)
    answer = signed_in_by(later, next="/account?x=1")
    assert (answer.status_code, answer.headers["location"]) == (303, "/account?x=1")
    assert is_in(later)
    assert Visitor(app).get(path).status_code == 404


def test_a_verified_address_stands_for_the_link(app: FastAPI) -> None:
    invited(app.state.panel, "Dr Roe", Role.RATER, "Roe@Hospital.example")
    visitor = Visitor(app)
    assert signed_in_by(visitor).status_code == 303
    assert "Dr Roe, rater" in visitor.get("/account").text


@pytest.mark.parametrize("verified", [False, None, "true", 1])
def test_an_address_that_is_not_verified_stands_for_nothing(
    app: FastAPI, provider: LoopbackProvider, verified: object
) -> None:
    invited(app.state.panel, "Dr Roe", Role.RATER, "roe@hospital.example")
    provider.account["email_verified"] = verified
    visitor = Visitor(app)
    assert signed_in_by(visitor).status_code == 403
    assert not is_in(visitor)


def test_nobody_gets_in_who_was_not_invited(app: FastAPI) -> None:
    visitor = Visitor(app)
    answer = signed_in_by(visitor)
    assert answer.status_code == 403 and "not invited here" in answer.text
    assert not is_in(visitor)


def test_an_address_does_not_open_an_account_that_joined_otherwise(app: FastAPI) -> None:
    _, path = invited(app.state.panel, "Dr Roe", Role.RATER, "roe@hospital.example")
    assert Visitor(app).submit(path, path, password=PASSWORD, again=PASSWORD).status_code == 303
    visitor = Visitor(app)
    assert signed_in_by(visitor).status_code == 403
    assert not is_in(visitor)


def test_a_link_for_one_address_is_not_used_by_another(app: FastAPI, provider: LoopbackProvider) -> None:
    _, path = invited(app.state.panel, "Dr Roe", Role.RATER, "roe@hospital.example")
    provider.account = {"sub": "u-2", "email": "doe@hospital.example", "email_verified": True}
    visitor = Visitor(app)
    assert signed_in_by(visitor, f"{path}/openid", path).status_code == 403
    assert not is_in(visitor)
    assert Visitor(app).get(path).status_code == 200, "the link is still unused"


def test_somebody_who_is_locked_out_stays_out(app: FastAPI) -> None:
    person, path = invited(app.state.panel, "Dr Roe", Role.RATER)
    signed_in_by(Visitor(app), f"{path}/openid", path)
    sign_in(app, Role.COORDINATOR).submit(f"/people/{person.id}/disable", "/people")
    visitor = Visitor(app)
    assert signed_in_by(visitor).status_code == 403
    assert not is_in(visitor)


def set_claim(name: str, value: object) -> Any:
    def change(claims: Claims) -> None:
        claims[name] = value

    return change


def drop(name: str) -> Any:
    def change(claims: Claims) -> None:
        del claims[name]

    return change


@pytest.mark.parametrize(
    "change",
    [
        set_claim("nonce", "another"),
        drop("nonce"),
        set_claim("aud", "another-client"),
        set_claim("aud", [CLIENT, "another-client"]),
        set_claim("azp", "another-client"),
        set_claim("iss", "http://127.0.0.1:1"),
        set_claim("exp", 1_000_000_000),
        set_claim("exp", float("nan")),
        drop("exp"),
        set_claim("iat", 9_999_999_999),
        set_claim("nbf", 9_999_999_999),
        set_claim("sub", ""),
        set_claim("sub", 7),
        drop("sub"),
    ],
)
def test_a_token_that_says_something_wrong_signs_nobody_in(
    app: FastAPI, provider: LoopbackProvider, change: Any
) -> None:
    invited(app.state.panel, "Dr Roe", Role.RATER, "roe@hospital.example")
    provider.change = change
    visitor = Visitor(app)
    answer = signed_in_by(visitor)
    assert answer.status_code == 403 and "cannot be trusted" in answer.text
    assert not is_in(visitor)


def test_a_token_that_the_provider_did_not_sign_signs_nobody_in(
    app: FastAPI, provider: LoopbackProvider
) -> None:
    invited(app.state.panel, "Dr Roe", Role.RATER, "roe@hospital.example")
    stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    public = provider.key.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    forgeries: list[Any] = [
        lambda claims: jwt.encode(claims, None, algorithm="none"),
        lambda claims: provider.signed(claims, key=stranger),
        lambda claims: provider.signed(claims, kid="unknown"),
        lambda claims: jwt.encode(claims, public, algorithm="HS256", headers={"kid": "one"}),
        lambda claims: provider.signed(claims)[:-8] + "AAAAAAAA",
        lambda claims: "no token",
        lambda claims: None,
    ]
    for provider.sign in forgeries:
        visitor = Visitor(app)
        assert signed_in_by(visitor).status_code == 403
        assert not is_in(visitor)
    provider.sign = provider.signed
    assert signed_in_by(Visitor(app)).status_code == 303, "without the forgery the same sign-in works"


def test_a_new_key_of_the_provider_is_learned(
    app: FastAPI, provider: LoopbackProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, path = invited(app.state.panel, "Dr Roe", Role.RATER)
    signed_in_by(Visitor(app), f"{path}/openid", path)
    monkeypatch.setattr("medjury.panel._access._open_id._ASKED_AGAIN_SECONDS", 0)
    provider.key, provider.kid = rsa.generate_private_key(public_exponent=65537, key_size=2048), "two"
    assert signed_in_by(Visitor(app)).status_code == 303


def test_an_answer_is_taken_once_and_only_from_the_browser_that_began(app: FastAPI) -> None:
    invited(app.state.panel, "Dr Roe", Role.RATER, "roe@hospital.example")
    began, other = Visitor(app), Visitor(app)
    other.get("/sign-in")
    back = at_the_provider(began.submit("/sign-in/openid", "/sign-in"))
    assert other.get(back).status_code == 403
    assert began.get(back).status_code == 403, "whoever brought it first used it up"
    back = at_the_provider(began.submit("/sign-in/openid", "/sign-in"))
    assert began.get(back.replace("state=", "state=x")).status_code == 403
    assert began.get(back).status_code == 303
    assert began.get(back).status_code == 403


def test_an_answer_of_another_provider_is_refused(app: FastAPI) -> None:
    invited(app.state.panel, "Dr Roe", Role.RATER, "roe@hospital.example")
    visitor = Visitor(app)
    back = at_the_provider(visitor.submit("/sign-in/openid", "/sign-in"))
    assert visitor.get(back.replace("iss=http", "iss=https")).status_code == 403
    assert not is_in(visitor)


def test_a_provider_that_always_names_itself_is_not_believed_without_its_name(
    app: FastAPI, provider: LoopbackProvider
) -> None:
    """Whoever mixes up two providers leaves the name out: the answer of one is then taken for the other's."""
    provider.discovery["authorization_response_iss_parameter_supported"] = True
    invited(app.state.panel, "Dr Roe", Role.RATER, "roe@hospital.example")
    visitor = Visitor(app)
    back = at_the_provider(visitor.submit("/sign-in/openid", "/sign-in"))
    assert visitor.get(re.sub(r"&iss=[^&]+", "", back)).status_code == 403
    assert not is_in(visitor)
    assert signed_in_by(visitor).status_code == 303


@pytest.mark.parametrize(
    "discovery",
    [
        {"issuer": "http://127.0.0.1:1"},
        {
            "token_endpoint": "https://elsewhere.example/token",
            "authorization_endpoint": "https://elsewhere.example/",
        },
        {"authorization_endpoint": "javascript:alert(1)"},
        {"authorization_endpoint": None},
    ],
)
def test_a_provider_that_leads_elsewhere_is_not_followed(
    app: FastAPI, provider: LoopbackProvider, discovery: Claims
) -> None:
    provider.discovery = discovery
    answer = Visitor(app).submit("/sign-in/openid", "/sign-in")
    assert answer.status_code == 502 and "elsewhere" not in answer.text and "javascript" not in answer.text


def test_a_redirect_of_the_provider_is_not_followed(app: FastAPI, provider: LoopbackProvider) -> None:
    invited(app.state.panel, "Dr Roe", Role.RATER, "roe@hospital.example")
    provider.discovery = {"jwks_uri": f"{provider.issuer}/moved"}
    assert signed_in_by(Visitor(app)).status_code == 403
    assert "/keys" not in provider.asked


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("issuer: https://login.example\nclient_id: x\n", "add it to `allow_hosts`"),
        ("issuer: http://login.example\nclient_id: x\nallow_hosts: [login.example]\n", "by https"),
        ("issuer: login.example\nclient_id: x\n", "is not an address"),
        ("issuer: https://a.example\n", "client_id: is missing"),
        ("issuer: http://127.0.0.1:9\nclient_id: x\nclient_secret_env: NOT_SET\n", "NOT_SET is not set"),
        ("issuer: http://127.0.0.1:9\nclient_id: x\nclient_secret: hush\n", "no such setting"),
    ],
)
def test_a_settings_file_is_checked_with_its_lines(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "oidc.yaml").write_text(text)
    with pytest.raises(MedjuryError, match=r"oidc\.yaml, line \d") as refused:
        read_open_id_settings(tmp_path / "oidc.yaml")
    assert told in str(refused.value)


def test_the_settings_on_the_page_for_the_sites_it_are_read(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "panel-for-it.md").read_text(encoding="utf-8")
    (tmp_path / "oidc.yaml").write_text(page.partition("```yaml file=oidc.yaml\n")[2].partition("```")[0])
    assert read_open_id_settings(tmp_path / "oidc.yaml").client_id == "medjury-panel"
