"""Methods, hosts and headers that no page of ours sends."""

from __future__ import annotations

import re
from itertools import cycle

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from tests.panel.rounds import set_up_panel
from tests.panel.visitors import PASSWORD, Visitor, invited, sign_in

from medjury.panel._access._people import Role, people
from medjury.panel._access._sign_in import own_path
from medjury.panel._evidence._serve import OneTimeLink, view_app
from medjury.panel._serve import Panel, make_app


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    database, _ = set_up_panel(tmp_path_factory.mktemp("methods"))
    return make_app(Panel(database))


@pytest.fixture(scope="module")
def reader(app: FastAPI) -> Visitor:
    return sign_in(app, Role.RATER, "Dr Reader")


def test_other_methods_change_nothing_and_tell_nothing(app: FastAPI) -> None:
    visitors = cycle(
        [sign_in(app, role) for role in Role]
    )  # a method is refused before anybody is asked who they are
    with app.state.panel.database.reading() as connection:
        before = people(connection)
    for route in app.state.declared_routes:
        path = re.sub(r"\{[^}]+\}", "none", route.path)
        for method in ("HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "PROPFIND"):
            told = next(visitors).request(method, path).status_code
            assert told in (404, 405), (method, path, told)
    with app.state.panel.database.reading() as connection:
        assert people(connection) == before


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "[", "localhost@evil.example", "", "a b", "[::1"]
)
def test_another_host_is_not_served(app: FastAPI, host: str) -> None:
    answer = Visitor(app).get("/sign-in", headers={"host": host})
    assert answer.status_code == 421 and "evil" not in answer.text


def test_no_header_of_a_proxy_moves_a_link_or_a_redirect(app: FastAPI) -> None:
    coordinator = sign_in(app, Role.COORDINATOR, "Dr Proxy")
    headers = {
        "x-forwarded-host": "evil.example",
        "x-forwarded-proto": "https",
        "forwarded": "host=evil.example",
    }
    for path in ("/", "/people/", "/rounds//", "/sign-in?next=/people"):
        answer = coordinator.get(path, headers=headers)
        assert "evil.example" not in f"{answer.headers} {answer.text}"
    form = {"csrf": coordinator.token("/people"), "name": "Dr New", "role": "rater"}
    assert "evil.example" not in coordinator.post("/people", data=form, headers=headers).text


def test_a_path_of_ones_own_is_kept() -> None:
    assert own_path("/case/7?x=1#note") == "/case/7?x=1#note"


ELSEWHERE = [
    "//evil.example", "/\\evil.example", "https://evil.example", "/\t/evil.example", "\\\\evil.example",
    " //evil.example", "/\n/evil.example", "javascript:alert(1)", "///evil.example", "/%0d%0aset-cookie:a=b",
    "http:evil.example", "/\x0b/evil.example", "/\u2028/evil.example", "\u3000//evil.example", "/\x00/evil.example",
]  # fmt: skip


@pytest.mark.parametrize("address", ELSEWHERE)
def test_nobody_is_sent_to_another_site(app: FastAPI, address: str) -> None:
    name = f"Dr Sent {ELSEWHERE.index(address)}"
    _, path = invited(app.state.panel, name, Role.VIEWER)
    visitor = Visitor(app)
    assert visitor.submit(path, path, password=PASSWORD, again=PASSWORD).status_code == 303
    again = Visitor(app)
    fields = {"name": name, "password": PASSWORD, "next": address}
    for answer in (
        again.submit("/sign-in", "/sign-in", **fields),
        visitor.get("/sign-in", params={"next": address}),
    ):
        assert answer.status_code == 303
        there = answer.headers["location"]
        assert re.match(r"/(?![/\\])", there) and "set-cookie:a" not in str(
            answer.headers.get("set-cookie", "")
        )


@pytest.mark.parametrize(
    "path",
    [
        "/static/../_access/__init__.py", "/static/%2e%2e/_access/__init__.py", "/static//etc/passwd",
        "/static/..%2f..%2f_panel.py", "/static/%00", "/static/look/..%5c..%5c_panel.py",
        "/static/look/panel.css%00.js", "/static/look/templates/base.html",
        "/people/..;/trail", "/People", "/people%2f",
        "/rate/%2e%2e", "/rate/..%2fpeople", "/rate/%00", "/rate/%ff%fe", "/rate/" + "a" * 5000, "/rate//x",
        "/%2e%2e/people", "/rounds/%00", "/together/%00", "/question/%ed%a0%80", "/reference/%00/answer/%00",
        "/rate/discussion/%00", "/rate/profile%00",
    ],
)  # fmt: skip
def test_no_trick_of_a_path_opens_anything(reader: Visitor, path: str) -> None:
    answer = reader.get(path)
    assert answer.status_code in (404, 405, 307), answer.text[:200]
    assert "import" not in answer.text


def test_a_length_that_is_absurd_is_refused(app: FastAPI) -> None:
    for length in ("9" * 5000, "-1", "1e3", "0x10"):
        answer = Visitor(app).post("/sign-in", headers={"content-length": length}, content=b"")
        assert answer.status_code in (400, 413)


def test_many_addresses_of_one_network_are_one_address(app: FastAPI) -> None:
    """Whoever has an IPv6 network has more addresses than anyone can count."""
    told = []
    for number in range(45):
        visitor = Visitor(app, address=f"2001:db8:1:2::{number:x}")
        fields = {"name": f"Dr {number}", "password": "wrong"}
        told.append(visitor.submit("/sign-in", "/sign-in", **fields).status_code)
    assert told[0] == 403 and told[-1] == 429
    other = Visitor(app, address="2001:db8:1:3::1")
    assert other.submit("/sign-in", "/sign-in", name="Dr Far", password="wrong").status_code == 403


@pytest.mark.parametrize("host", ["[", "evil.example", "127.0.0.1.evil.example", "[::1", "a]b"])
def test_the_evidence_is_served_under_no_other_name(host: str) -> None:
    """A page elsewhere that points its own name at this machine reads nothing."""
    app = view_app(None, OneTimeLink(80), hosts=frozenset({"127.0.0.1"}))  # type: ignore[arg-type]
    client = TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)
    assert client.get("/", headers={"host": host}).status_code == 421
