"""Every answer keeps to itself: headers, hosts, sizes, redirects, scripts in names, and errors that say nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

import pytest
from fastapi import APIRouter, Depends, FastAPI
from tests.panel.visitors import PASSWORD, Visitor, invited, sign_in

from medjury.panel._access._people import Role
from medjury.panel._access._visitors import LARGEST_BODY, Form, anyone, form_of
from medjury.panel._serve import Panel, make_app

EXPECTED = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
PATIENT = "Mrs Abernathy's potassium was 7.1"


@pytest.fixture
def failing(panel: Panel) -> FastAPI:
    """A panel with a page that breaks while it has a patient's words in its hands."""
    app = make_app(panel)
    router = APIRouter()

    @router.get("/broken", dependencies=[Depends(anyone)])
    def broken() -> None:
        raise RuntimeError(PATIENT)

    @router.get("/api/broken", dependencies=[Depends(anyone)])
    def broken_api() -> None:
        raise RuntimeError(PATIENT)

    app.include_router(router)
    return app


def test_every_answer_has_the_headers(app: FastAPI) -> None:
    visitor, coordinator = Visitor(app), sign_in(app, Role.COORDINATOR)
    answers = [coordinator.get(path) for path in ("/people", "/trail", "/account", "/", "/api/openapi.json")]
    answers += [
        visitor.get(path) for path in ("/sign-in", "/people", "/nowhere", "/healthz", "/static/nowhere")
    ]
    answers += [visitor.post("/sign-in"), visitor.delete("/sign-in"), visitor.get("/api/openapi.json")]
    answers += [visitor.get("/sign-in", headers={"Host": "evil.example"})]
    for answer in answers:
        told = f"{answer.request.method} {answer.request.url}"
        assert {name: answer.headers.get(name) for name in EXPECTED} == EXPECTED, told
        assert answer.headers["cache-control"] == "no-store", told
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy, told
        assert "unsafe" not in policy and "http" not in policy, told
        assert "server" not in answer.headers, told


def test_https_is_asked_for_again_only_where_it_is_used(panel: Panel) -> None:
    plain = Visitor(make_app(panel)).get("/sign-in")
    secure = Visitor(make_app(replace(panel, public_url="https://panel.example"))).get("/sign-in")
    assert "strict-transport-security" not in plain.headers
    assert secure.headers["strict-transport-security"] == "max-age=31536000"


def test_style_may_be_kept_since_its_address_changes_with_it(app: FastAPI) -> None:
    found = re.search(r'href="(/static/look/panel\.css\?v=\w+)"', Visitor(app).get("/sign-in").text)
    assert found
    answer = Visitor(app).get(found[1])
    assert (
        answer.headers["content-type"].startswith("text/css")
        and "immutable" in answer.headers["cache-control"]
    )


def test_no_page_holds_a_script_or_a_style_of_its_own(app: FastAPI) -> None:
    coordinator = sign_in(app, Role.COORDINATOR)
    for path in ("/people", "/trail", "/account", "/api-keys", "/nowhere"):
        shown = coordinator.get(path).text
        assert not re.search(r"<script(?![^>]*src=)|<style|\sstyle=|\son\w+=|javascript:|https?://", shown), (
            path
        )


def test_a_probe_of_the_machine_may_use_any_host_name(app: FastAPI) -> None:
    assert Visitor(app).get("/healthz", headers={"Host": "10.1.2.3:8765"}).text == "ok"


def test_what_is_too_large_is_refused_whatever_it_says_about_its_size(app: FastAPI) -> None:
    visitor = Visitor(app)
    token = visitor.token("/sign-in")
    large = {"csrf": token, "name": "x" * (LARGEST_BODY + 1)}
    assert visitor.post("/sign-in", data=large).status_code == 413

    def pieces() -> Iterator[bytes]:
        yield f"csrf={token}&name=".encode()
        for _ in range(LARGEST_BODY // 65536 + 2):
            yield b"x" * 65536

    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    assert visitor.post("/sign-in", content=pieces(), headers=kind).status_code == 413
    lying = {**kind, "Content-Length": "-5"}
    assert visitor.post("/sign-in", content=b"csrf=x", headers=lying).status_code == 400


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"\xff\xfe\x00%zz&&&===", "application/x-www-form-urlencoded"),
        (b"--x\r\nbroken", "multipart/form-data; boundary=x"),
        (b"", "multipart/form-data"),
        (b"{}", "application/json"),
        ("&".join(f"a{number}=1" for number in range(5000)).encode(), "application/x-www-form-urlencoded"),
    ],
)
def test_what_is_no_form_breaks_nothing(app: FastAPI, body: bytes, kind: str) -> None:
    visitor = Visitor(app)
    visitor.get("/sign-in")
    answer = visitor.post("/sign-in", content=body, headers={"Content-Type": kind})
    assert answer.status_code in (400, 403)


def test_signs_that_no_database_keeps_break_nothing(app: FastAPI) -> None:
    visitor = Visitor(app)
    token = visitor.token("/sign-in")
    for name in ("a%00b", "%ED%A0%80", "%FF", "%F0%9F%A9%BA", "a" * 5000):
        body = f"csrf={token}&name={name}&password=x".encode()
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        assert visitor.post("/sign-in", content=body, headers=kind).status_code in (403, 429)
    coordinator = sign_in(app, Role.COORDINATOR)
    answer = coordinator.submit("/people", "/people", name="\x00\x00", role="rater")
    assert answer.status_code in (200, 400)


@pytest.mark.parametrize("path", ["/broken", "/api/broken"])
def test_an_error_tells_the_reader_what_to_do_and_nobody_a_patients_words(
    failing: FastAPI, path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = Visitor(failing).get(path)
    told = capsys.readouterr()
    assert answer.status_code == 500 and "our fault" in answer.text
    assert "RuntimeError in GET" in told.err and "test_answers.py" in told.err
    for text in (answer.text, told.err, told.out):
        assert "Abernathy" not in text
    assert "Traceback" not in answer.text and "RuntimeError" not in answer.text


def test_a_script_in_a_name_stays_text_everywhere(app: FastAPI, panel: Panel) -> None:
    script = "<script>alert(1)</script>\"'><img src=x>"
    person, path = invited(panel, script, Role.COORDINATOR)
    visitor = Visitor(app)
    shown = [visitor.get(path).text]
    visitor.submit(path, path, password=PASSWORD, again=PASSWORD)
    shown += [visitor.get(each).text for each in ("/people", "/account", "/trail", "/nowhere")]
    shown.append(visitor.submit("/people", "/people", name=script + "2", role="rater", email=script).text)
    shown.append(visitor.submit("/people", "/people", name=script + "3", role=script).text)
    shown.append(visitor.submit(f"/people/{person.id}/invite", "/people").text)
    shown.append(visitor.submit("/api-keys", "/api-keys", name=script).text)
    for text in shown:
        assert "<script>alert" not in text and "<img" not in text
    assert sum("&lt;script&gt;" in text for text in shown) >= 7


def test_a_form_from_elsewhere_changes_nothing(app: FastAPI) -> None:
    coordinator = sign_in(app, Role.COORDINATOR)
    fields = {"csrf": coordinator.token(), "name": "Mallory", "role": "coordinator"}
    refused = [
        ({}, {name: value for name, value in fields.items() if name != "csrf"}),
        ({}, {**fields, "csrf": "x" * 64}),
        ({}, {**fields, "csrf": sign_in(app, Role.COORDINATOR, "Other").token()}),
        ({"Origin": "https://evil.example"}, fields),
        ({"Origin": "http://localhost:9999"}, fields),
        ({"Sec-Fetch-Site": "cross-site"}, fields),
        ({"Sec-Fetch-Site": "same-site"}, fields),
    ]
    for headers, sent in refused:
        assert coordinator.post("/people", data=sent, headers=headers).status_code == 403
    assert "Mallory" not in coordinator.get("/people").text
    allowed = {"Origin": "http://localhost:8765", "Sec-Fetch-Site": "same-origin"}
    assert coordinator.post("/people", data=fields, headers=allowed).status_code == 200
    assert "Mallory" in coordinator.get("/people").text


def test_a_token_of_a_visit_is_worth_nothing_after_signing_in(app: FastAPI) -> None:
    visitor = Visitor(app)
    before = visitor.token("/sign-in")
    _, path = invited(app.state.panel, "Ada", Role.COORDINATOR)
    assert "medjury-visit" in visitor.cookies
    visitor.submit(path, path, password=PASSWORD, again=PASSWORD)
    assert "medjury-visit" not in visitor.cookies
    assert visitor.post("/people", data={"csrf": before, "name": "X", "role": "rater"}).status_code == 403


def test_a_file_that_is_sent_is_read_with_the_token_and_never_lies_on_the_disk(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    router = APIRouter()

    @router.post("/upload", dependencies=[Depends(anyone)])
    def upload(form: Annotated[Form, Depends(form_of)]) -> dict[str, str]:
        return {name: sent.content.decode() for name, sent in form.files.items()}

    app.include_router(router)
    visitor = Visitor(app)
    rolled: list[object] = []
    monkeypatch.setattr("tempfile.SpooledTemporaryFile.rollover", rolled.append)
    for content in (b"a,b", b"x" * 1_500_000):
        fields, files = {"csrf": visitor.token("/sign-in")}, {"table": ("a.csv", content)}
        assert visitor.post("/upload", data=fields, files=files).json() == {"table": content.decode()}
    assert rolled == []
    assert visitor.post("/upload", files={"table": ("a.csv", b"a,b")}).status_code == 403
