"""The programs' interface: hostile bodies, hosts, keys and budgets."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import Any

import pytest
from tests.loopback import LoopbackServer
from tests.panel.meeting.closed_rounds import closed_panel, only_round, same
from tests.panel.raters import GOOD, rater
from tests.panel.visitors import Visitor, sign_in

from medjury.panel._access._people import Role
from medjury.panel._design._rounds import set_state
from medjury.panel._serve import Panel, make_app, open_panel

WAIT_SECONDS = 60  # nothing waits so long, but for a panel that has stopped
JUDGE = 'judges:\n  - {{kind: openai, name: juror, url: "{url}", model: m, api_key_env: TAPIR_KEY}}\n'
BODY = {"id": "x", "candidate": "Summary.", "texts": {"context": "Visit."}}


def program(folder: Path, judges: str) -> tuple[Visitor, dict[str, str]]:
    closed_panel(folder, [same("4", "2")], place=folder / "ward.panel.sqlite", panel=judges)
    app = make_app(open_panel(folder / "study.yaml"))
    page = sign_in(app, Role.COORDINATOR).submit("/api-keys", "/api-keys", name="nightly").text
    found = re.search(r"medjury_[A-Za-z0-9_-]{20,}", page)
    assert found
    return Visitor(app), {"authorization": f"Bearer {found[0]}"}


def set_open(panel: Panel) -> None:
    with panel.database.writing() as connection:
        set_state(connection, only_round(connection), "open")


HOSTILE: dict[str, bytes] = {
    "deep": b"[" * 500_000,
    "deep object": b'{"id":' * 100_000,
    "half a pair": rb'{"id": "x", "candidate": "\ud800", "texts": {"context": "c"}}',
    "half a pair in a name": rb'{"id": "x\udfff", "candidate": "c", "texts": {"\ud800": "c"}}',
    "a zero byte": rb'{"id": "x", "candidate": "a\u0000", "texts": {"context": "c"}}',
    "no number": b'{"id": NaN, "candidate": Infinity}',
    "a huge number": b'{"id": ' + b"9" * 5000 + b"}",
    "not UTF-8": b'{"id": "\xff", "candidate": "c"}',
    "a name of ours": b'{"id": "x", "candidate": "c", "texts": {"candidate": "d", "context": "c"}}',
    "another name of ours": b'{"id": "x", "candidate": "c", "texts": {"reference": "d", "context": "c"}}',
    "blank": b'{"id": " ", "candidate": "  ", "texts": {"context": " "}}',
    "a line end": rb'{"id": "x\u2028\n", "candidate": "c", "texts": {"context": "c"}}',
    "a list": b"[]",
    "nothing": b"",
}


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Visitor, dict[str, str], Path]]:
    """A program whose jury answers, its key, and the folder of the study."""
    folder = tmp_path_factory.mktemp("answered")
    with LoopbackServer() as server:
        judges = JUDGE.format(url=server.url).replace(", api_key_env: TAPIR_KEY", "")
        yield *program(folder, judges), folder


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_body_is_refused_in_words(
    answered: tuple[Visitor, dict[str, str], Path], body: bytes
) -> None:
    visitor, key, folder = answered
    answer = visitor.post("/api/judge", content=body, headers=key | {"content-type": "application/json"})
    assert answer.status_code in (200, 400, 422), answer.text
    assert str(folder) not in answer.text


def test_no_path_and_no_key_stands_in_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAPIR_KEY", "tapir-secret")
    with LoopbackServer() as server:
        visitor, key = program(tmp_path, JUDGE.format(url=server.url))

        def told() -> Any:
            answer = visitor.post("/api/judge", json=BODY, headers=key)
            assert answer.status_code in (422, 503), answer.text
            assert str(tmp_path) not in answer.text and "tapir-secret" not in answer.text
            return answer

        monkeypatch.delenv("TAPIR_KEY")
        told()
        monkeypatch.setenv("TAPIR_KEY", "tapir-secret")
        study = tmp_path / "study.yaml"
        text = study.read_text()
        for broken in (
            "judges: [",
            text.replace("juror", "j: {"),
            text.replace("note_quality", "./gone.yaml"),
        ):
            study.write_text(broken)
            told()
        study.write_text(text)
        (tmp_path / "cases.jsonl").rename(tmp_path / "gone.jsonl")
        told()
        study.unlink()
        told()


def test_a_judge_at_a_host_that_is_not_allowed_is_not_asked(tmp_path: Path) -> None:
    judges = 'judges:\n  - {kind: openai, name: juror, url: "https://elsewhere.example/v1", model: m}\n'
    visitor, key = program(tmp_path, judges)
    answer = visitor.post("/api/judge", json=BODY, headers=key)
    assert answer.status_code == 422 and "allow_hosts" in answer.text


def test_the_budget_holds_over_many_requests(tmp_path: Path) -> None:
    with LoopbackServer() as server:
        judges = JUDGE.format(url=server.url).replace(", api_key_env: TAPIR_KEY", "") + "budget: {calls: 2}\n"
        visitor, key = program(tmp_path, judges)
        told = []
        for number in range(5):
            body = BODY | {"id": f"x{number}", "candidate": f"Summary {number}."}
            answer = visitor.post("/api/judge", json=body, headers=key)
            told.append(answer.status_code)
        assert told == [200, 200, 402, 402, 402] and len(server.calls) == 2
        assert "budget is spent" in answer.json()["error"] and "ratings" not in answer.json()
        again = visitor.post("/api/judge", json=BODY | {"id": "x0", "candidate": "Summary 0."}, headers=key)
        assert again.status_code == 200, "what was paid for before is still to be had"


@pytest.fixture
def stuck() -> Iterator[LoopbackServer]:
    """An endpoint that takes every question and answers none before `together` is 0 again."""
    with LoopbackServer(together=10**9) as server:
        yield server
        server.endpoint.together = 0


def test_people_are_served_while_programs_wait_for_a_jury_that_does_not_answer(
    tmp_path: Path, stuck: LoopbackServer
) -> None:
    visitor, key = program(tmp_path, JUDGE.format(url=stuck.url).replace(", api_key_env: TAPIR_KEY", ""))
    app = visitor.app
    set_open(app.state.panel)  # type: ignore[attr-defined]
    doctor = rater(app, "Dr Ocelot")  # type: ignore[arg-type]
    code, answers = doctor.codes()[0], Queue[Any]()

    def ask(number: int) -> None:
        body = BODY | {"id": f"x{number}", "candidate": f"Summary {number}."}
        answers.put(Visitor(app).post("/api/judge", json=body, headers=key))  # type: ignore[arg-type]

    programs = [threading.Thread(target=ask, args=(number,)) for number in range(100)]
    with ThreadPoolExecutor(8) as people:
        try:
            for thread in programs:
                thread.start()
            while len(stuck.calls) < 8 and any(thread.is_alive() for thread in programs):
                threading.Event().wait(0.01)
            asked = [
                people.submit(visitor.get, "/healthz"),
                people.submit(visitor.get, "/sign-in"),
                people.submit(doctor.rate, code, **GOOD),
                people.submit(visitor.get, "/api/rounds", headers=key),
            ]
            assert [each.result(WAIT_SECONDS).status_code for each in asked] == [200, 200, 303, 200]
            refused = [answers.get(timeout=WAIT_SECONDS) for _ in range(92)]
            assert {each.status_code for each in refused} == {429}
            assert {each.headers["retry-after"] for each in refused} == {"5"} and "Wait 5" in refused[0].text
            assert answers.empty() and len(stuck.calls) == 8, "the others are still at the jury"
        finally:
            stuck.endpoint.together = 0
            for thread in programs:
                thread.join(WAIT_SECONDS)
    assert {answers.get(timeout=0).status_code for _ in range(8)} == {200}
    assert visitor.post("/api/judge", json=BODY, headers=key).status_code == 200, "the places are free again"


def test_with_a_budget_the_second_text_is_asked_to_come_again(tmp_path: Path, stuck: LoopbackServer) -> None:
    judges = JUDGE.format(url=stuck.url).replace(", api_key_env: TAPIR_KEY", "") + "budget: {calls: 9}\n"
    visitor, key = program(tmp_path, judges)
    with ThreadPoolExecutor(1) as other:
        first = other.submit(visitor.post, "/api/judge", json=BODY, headers=key)
        while not stuck.calls and not first.done():
            threading.Event().wait(0.01)
        second = visitor.post("/api/judge", json=BODY | {"id": "y"}, headers=key)
        assert (
            second.status_code == 429
            and second.headers["retry-after"]
            and "one text at a time" in second.text
        )
        stuck.endpoint.together = 0
        assert first.result(WAIT_SECONDS).status_code == 200


def test_a_body_is_looked_into_only_with_a_key(tmp_path: Path) -> None:
    visitor, _ = program(tmp_path, "")
    assert visitor.post("/api/judge", content=b"[" * 500_000).status_code == 401


def test_a_key_ends_with_the_person_who_made_it(tmp_path: Path) -> None:
    visitor, key = program(tmp_path, "")
    panel = visitor.app.state.panel  # type: ignore[attr-defined]
    assert visitor.get("/api/ratings", headers=key).status_code == 200
    other = sign_in(visitor.app, Role.COORDINATOR, "Other")  # type: ignore[arg-type]
    from medjury.panel._access._people import people

    with panel.database.reading() as connection:
        (first,) = [each.id for each in people(connection) if each.name == "A coordinator"]
    assert other.submit(f"/people/{first}/disable", "/people").status_code == 303
    assert visitor.get("/api/ratings", headers=key).status_code == 401
