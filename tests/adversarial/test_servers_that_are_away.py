"""A server that is away, a wrong key or a wrong name is found out at once, told in words, and costs no budget."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import TOKEN_IN_BODY, Call, LoopbackServer
from tests.studies.running import run_without_report

from medjury.cli import main
from medjury.judging._breaker import IN_A_ROW
from medjury.models import audit_totals
from medjury.store.runs import Manifest, RunFolder
from medjury.studies import load_study

Write = Callable[..., Path]
ATTEMPTS = 5  # of the gate, for a call that may succeed later


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("medjury.models._gate.gate._FIRST_WAIT", 0.001)


def manifest(study: Path) -> Manifest:
    return RunFolder(study.parent / "runs" / "small").manifest


def log(study: Path) -> list[dict[str, Any]]:
    file = study.parent / "runs" / "small" / "audit.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()]


def closed_port() -> str:
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{place.getsockname()[1]}"


# Before the first case


def test_each_model_is_asked_one_short_question_without_clinical_text(
    write_study: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    judges = [
        {"kind": "openai", "name": name, "url": server.url, "model": name, "seed": 7} for name in ("a", "b")
    ]
    study = write_study(cases=5, judges=judges)
    assert run_without_report(study) == 0
    assert sorted(call.json["model"] for call in server.preflights) == ["a", "b"]
    assert len(server.calls) == 10
    for call in server.preflights:
        assert not any(word in call.prompt for word in ("Summary", "Note", "accuracy"))
        assert call.json["seed"] == 7 and call.json["response_format"]["type"] == "json_schema"
    assert min(call.time for call in server.calls) > min(call.time for call in server.preflights)
    assert "12 calls made now, 2 of them for preflight" in capsys.readouterr().out
    assert manifest(study).calls == 12
    assert sum(bool(line.get("preflight")) for line in log(study) if line["event"] == "call") == 2


def test_a_run_that_finds_everything_in_its_store_asks_nobody(
    write_study: Write, server: LoopbackServer
) -> None:
    study = write_study()
    assert run_without_report(study) == 0 == run_without_report(study)
    assert len(server.preflights) == 1 and len(server.calls) == 6


def test_it_can_be_left_out(write_study: Write, server: LoopbackServer) -> None:
    assert run_without_report(write_study(), "--no-preflight") == 0
    assert not server.preflights and len(server.calls) == 6


@pytest.mark.parametrize(
    ("preflight", "exit_status", "word", "told"),
    [
        ("401", 1, "FAILED", "answered 401"),
        ("404", 1, "FAILED", "the model's name, 'm'"),
        ("html", 1, "FAILED", "text/html, not JSON"),
        ("500", 3, "INCOMPLETE", "answered 500"),
        ("reset", 3, "INCOMPLETE", "the connection to 127.0.0.1 broke"),
    ],
)
def test_what_is_wrong_is_told_before_a_case_was_sent(
    preflight: str, exit_status: int, word: str, told: str,
    write_study: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    server.endpoint.preflight = preflight
    study = write_study(cases=30, budget={"calls": 40})
    assert main(["run", str(study), "--quiet"]) == exit_status
    assert not server.calls and 1 <= len(server.preflights) <= ATTEMPTS
    said = capsys.readouterr()
    assert f"{word}: " in said.err and told in said.err and "budget" not in said.err
    assert "Report: " in said.out and manifest(study).coverage.ratings == 0


@pytest.mark.parametrize("preflight", ["429:0", "refusal", "length", "wrong-schema", "ok:no JSON"])
def test_what_says_nothing_of_host_key_and_name_does_not_stop_the_run(
    preflight: str, write_study: Write, server: LoopbackServer
) -> None:
    server.endpoint.preflight = preflight
    assert run_without_report(write_study()) == 0
    assert len(server.calls) == 6


def test_a_server_that_is_not_there_is_told_and_costs_no_budget(
    write_study: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    capped: dict[str, Any] = {"cases": 6, "budget": {"calls": 7}}
    study = write_study(judge={"url": closed_port()}, **capped)
    for _ in range(3):
        assert run_without_report(study) == 3
    told = capsys.readouterr().err
    assert "INCOMPLETE: juror: no connection to 127.0.0.1: is the endpoint running?" in told
    assert "No case was sent to it. Run again to go on" in told and "the budget was reached" not in told
    assert audit_totals(study.parent / "runs" / "small" / "audit.jsonl").calls == 0
    assert run_without_report(write_study(**capped)) == 0, "six cases and one preflight question"
    assert len(server.calls) == 6 and manifest(study).calls == 7


def test_a_preflight_question_that_was_answered_counts(write_study: Write, server: LoopbackServer) -> None:
    study = write_study(budget={"calls": 3})
    assert run_without_report(study) == 3
    assert len(server.preflights) == 1 and len(server.calls) == 2
    assert manifest(study).calls == 3 and "the budget was reached" in manifest(study).why
    assert run_without_report(study) == 3
    assert len(server.preflights) == 1 and len(server.calls) == 2, "there is no room for another one"


def test_the_last_call_of_a_budget_is_for_a_case(write_study: Write, server: LoopbackServer) -> None:
    study = write_study(cases=1, budget={"calls": 1})
    assert run_without_report(study) == 0
    assert not server.preflights and len(server.calls) == 1 and manifest(study).coverage.scored == 3


def test_its_cost_is_in_the_manifest(write_study: Write, server: LoopbackServer) -> None:
    study = write_study(cases=2, judge={"price": {"input": 1000.0, "output": 0.0}})
    assert run_without_report(study) == 0
    calls = (*server.calls, *server.preflights)
    sent = [max(1, len(TOKEN_IN_BODY.sub(b"", call.body)) // 4) for call in calls]
    assert manifest(study).cost == pytest.approx(sum(sent) / 1000)


# In the middle of a run


def most_failures(study: Path) -> int:
    """Requests that may fail before a run stops: those of the questions in a row, and of those at work beside the
    last of them."""
    return (IN_A_ROW - 1 + load_study(study).workers["juror"]) * ATTEMPTS


@pytest.mark.parametrize("concurrency", [1, 16])
def test_equal_failures_in_a_row_stop_the_run_and_the_next_one_goes_on(
    concurrency: int, write_study: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    good = {"left": 5}

    def behave(call: Call) -> str:
        good["left"] -= 1
        return "ok" if good["left"] >= 0 else "500"

    with LoopbackServer(behave) as server:
        study = write_study(cases=100, judge={"url": server.url, "concurrency": concurrency})
        assert main(["run", str(study), "--quiet"]) == 3
        assert len(server.calls) <= 5 + most_failures(study) < 100 * ATTEMPTS
        told = capsys.readouterr()
        assert (
            f"INCOMPLETE: juror: {IN_A_ROW} questions in a row failed; the last: 127.0.0.1 answered 500"
            in told.err
        )
        assert "Run again to go on: nothing answered is lost" in told.err and "Report: " in told.out
        assert manifest(study).coverage.scored == 15
        good["left"] = 1000
        before = len(server.calls)
        assert run_without_report(study) == 0
        assert len(server.calls) - before == 95


def test_failures_that_differ_in_a_number_are_equal(write_study: Write) -> None:
    """Many servers put the number of the request, or a time, into every failure."""
    numbers = count(1)

    def behave(call: Call) -> str:
        number = next(numbers)
        return "ok" if number == 1 else f'raw:500 {{"error": "upstream failed, request 7f{number}e"}}'

    with LoopbackServer(behave) as server:
        study = write_study(cases=60, judge={"url": server.url, "concurrency": 1})
        assert run_without_report(study) == 3
        assert len(server.calls) <= 1 + most_failures(study) < 60 * ATTEMPTS


def test_failures_of_different_kinds_are_no_answers_either(write_study: Write) -> None:
    numbers = count(1)

    def behave(call: Call) -> str:
        number = next(numbers)
        return "ok" if number == 1 else ("500", "502", "504")[number // ATTEMPTS % 3]

    with LoopbackServer(behave) as server:
        study = write_study(cases=60, judge={"url": server.url, "concurrency": 1})
        assert run_without_report(study) == 3
        assert len(server.calls) <= 1 + most_failures(study) < 60 * ATTEMPTS


def test_failures_between_good_answers_stop_nothing(write_study: Write) -> None:
    with LoopbackServer(lambda call: "500" if "7." in call.prompt or "3." in call.prompt else "ok") as server:
        study = write_study(cases=60, judge={"url": server.url, "concurrency": 1}, max_unscored=1.0)
        assert run_without_report(study) == 0
        assert manifest(study).coverage.unscored == 3 * 12


def test_who_means_it_may_keep_asking(write_study: Write) -> None:
    with LoopbackServer("500") as server:
        study = write_study(cases=15, judge={"url": server.url}, max_unscored=1.0)
        assert run_without_report(study, "--keep-going") == 0
        assert len(server.calls) == 15 * ATTEMPTS
