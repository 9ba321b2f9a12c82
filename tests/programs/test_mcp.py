"""The MCP server: raw lines in and out, and the official client where it is installed."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import LoopbackServer
from tests.passports.passported import grade, row, validated_run

from medjury.cli import main
from medjury.cli.mcp import run as run_mcp
from medjury.foundation.errors import MedjuryError
from medjury.in_use.passports import RefusedError
from medjury.in_use.programs import CardJury, CardServer

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def case(number: int, **other: Any) -> dict[str, Any]:
    return {name: value for name, value in row(number).items() if name != "patient"} | other


def asked(method: str, number: int = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def call(name: str, number: int = 1, **arguments: Any) -> dict[str, Any]:
    return asked("tools/call", number, name=name, arguments=arguments)


def talk(server: CardServer, *messages: Any) -> list[dict[str, Any]]:
    """The answers to messages, each a line."""
    lines = b"".join(
        (each if isinstance(each, bytes) else json.dumps(each).encode()) + b"\n" for each in messages
    )
    out = io.BytesIO()
    server.serve(io.BytesIO(lines), out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_a_client_judges_looks_votes_up_and_reads_the_verdict(
    card: Path, answers: Path, run: Path, server: LoopbackServer
) -> None:
    before = len(server.calls)
    messages = [
        asked("initialize", 0, **HELLO),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        asked("tools/list", 1),
        call("judge_case", 2, **case(201)),
        call("judge_case", 3, **case(203)),
        call("look_up_votes", 4, item="case-007"),
        call("read_verdict", 5),
    ]
    command = ["-m", "medjury", "mcp", str(card), "--answers", str(answers), "--run", str(run)]
    done = subprocess.run(
        [sys.executable, *command], check=True, text=True, capture_output=True,
        input="".join(json.dumps(each) + "\n" for each in messages),
    )  # fmt: skip
    hello, tools, good, declined, votes, verdict = map(json.loads, done.stdout.splitlines())
    assert hello["result"]["protocolVersion"] == "2025-06-18"
    assert [each["name"] for each in tools["result"]["tools"]] == [
        "judge_case",
        "look_up_votes",
        "read_verdict",
    ]
    assert all(each["annotations"]["readOnlyHint"] for each in tools["result"]["tools"])
    assert good["id"] == 2 and good["result"]["structuredContent"]["scores"] == {"accuracy": grade(201)}
    found = declined["result"]["structuredContent"]
    assert (found["scores"], found["unscored"]) == ({}, {"accuracy": "no_quorum; juror: refusal"})
    found = votes["result"]["structuredContent"]["votes"]
    assert {(each["rater"], each["score"]) for each in found} == {("juror", grade(7)), ("jury", grade(7))}
    assert not any("explanation" in each for each in found), "clinicians have no votes here"
    assert verdict["result"]["structuredContent"]["verdicts"][0]["verdict"] == "VALIDATED"
    assert "case-007" not in json.dumps(verdict) and len(server.calls) == before


def test_nobody_is_asked_before_that_is_allowed(card: Path, run: Path, server: LoopbackServer) -> None:
    before = len(server.calls)
    with CardJury(card) as jury:
        refused, votes = talk(
            CardServer(card, jury), call("judge_case", **case(210)), call("look_up_votes", item="case-007")
        )
        assert refused["result"]["isError"] and "--live" in refused["result"]["content"][0]["text"]
        assert votes["result"]["isError"] and "--run" in votes["result"]["content"][0]["text"]
        assert len(server.calls) == before
        live = CardServer(card, jury, judges=True, live=True, run=run, explanations=True)
        tools, judged, votes, none = talk(
            live,
            asked("tools/list"),
            call("judge_case", **case(210)),
            call("look_up_votes", item="case-007"),
            call("look_up_votes", item="case-007", system="b"),
        )
    judge = tools["result"]["tools"][0]
    assert (
        not judge["annotations"]["readOnlyHint"]
        and "specialty. note_quality reads question, context" in judge["description"]
    )
    assert none["result"]["isError"] and "no votes" in none["result"]["content"][0]["text"]
    assert judged["result"]["structuredContent"]["scores"] == {"accuracy": grade(210)}
    assert votes["result"]["structuredContent"]["votes"][0]["explanation"] == "so it is"
    assert len(server.calls) == before + 1


def test_another_model_is_refused_when_it_is_named_when_it_ran_and_when_it_answers(
    card: Path, swapped: Path, server: LoopbackServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mcp", str(card), "--live", "--study", str(swapped)]) == 6
    captured = capsys.readouterr()
    assert "a different jury: juror, model" in captured.err and captured.out == ""
    other: dict[str, Any] = {"kind": "openai", "name": "juror", "url": server.url, "model": "other"}
    run = validated_run(tmp_path / "site", server, cases=20, judges=[other | {"temperature": 0}])
    with CardJury(card) as jury:
        with pytest.raises(RefusedError, match="a different jury"):
            CardServer(card, jury, run=run)
        server.endpoint.behaviours = lambda call: "model:m-2031-01-01"
        (answer,) = talk(CardServer(card, jury, judges=True, live=True), call("judge_case", **case(211)))
    assert answer["result"]["isError"] and "m-2031-01-01" in answer["result"]["content"][0]["text"]
    assert "structuredContent" not in answer["result"]


def test_a_host_that_nobody_allowed_is_not_asked(card: Path, tmp_path: Path) -> None:
    away = tmp_path / "away.yaml"
    away.write_text("judges: {juror: {url: 'https://models.example/v1'}}\n")
    with CardJury(card, study=away) as jury:
        (answer,) = talk(CardServer(card, jury, judges=True, live=True), call("judge_case", **case(212)))
    found = answer["result"]["structuredContent"]
    assert found["scores"] == {} and "models.example" in found["unscored"]["accuracy"]


WRONG: list[tuple[Any, int]] = [
    (b"{", -32700), (b"[" * 100_000, -32700), ([], -32600), (asked("ping") | {"id": 1.5}, -32600),
    (asked("ping") | {"id": None}, -32600),
    (asked("resources/list"), -32601), (call("shell", command="ls"), -32602), (call("judge_case"), -32602),
    (asked("tools/call", name=["x"]), -32602), (call("judge_case", candidate=1), -32602),
    (call("judge_case", candidate="x", images=["/etc/x"]), -32602),
    (call("judge_case", candidate="x", metadata={"age": 10**400}), -32602),
    (asked("tools/call", name="judge_case", arguments=["x"]), -32602),
    ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}, -32602),
]  # fmt: skip


def test_what_is_not_a_request_is_an_error_of_the_protocol_and_the_next_is_answered(
    card: Path, answers: Path
) -> None:
    with CardJury(card, answers=answers) as jury:
        *errors, after = talk(
            CardServer(card, jury, judges=True), *(each for each, _ in WRONG), asked("ping", 9)
        )
    assert [each["error"]["code"] for each in errors] == [code for _, code in WRONG]
    assert after == {"jsonrpc": "2.0", "id": 9, "result": {}}


def test_who_reads_alone_leaves_nothing_beside_the_card(
    card: Path, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, out = {*card.parent.rglob("*")}, io.TextIOWrapper(io.BytesIO())
    lines = io.BytesIO(json.dumps(call("read_verdict")).encode() + b"\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(lines))
    monkeypatch.setattr(sys, "stdout", out)
    assert main(["mcp", str(card), "--run", str(run)]) == 0
    assert json.loads(out.buffer.getvalue())["result"]["structuredContent"]["force"] == "validated"
    assert {*card.parent.rglob("*")} == there


def test_two_ways_to_judge_are_one_too_many(card: Path, answers: Path) -> None:
    with pytest.raises(MedjuryError, match="name one of them"):
        run_mcp(Namespace(live=True, answers=str(answers)))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_official_client_uses_a_card_and_is_refused_another_model(
    mode: str, card: Path, answers: Path, run: Path, swapped: Path
) -> None:
    mcp = pytest.importorskip("mcp", reason="mcp is not installed; `make test-interop` brings it")

    def started(*options: str) -> Any:
        command = ["-m", "medjury", "mcp", str(card), *options]
        return mcp.StdioServerParameters(command=sys.executable, args=command, env={**os.environ})

    async with mcp.Client(started("--answers", str(answers), "--run", str(run)), mode=mode) as client:
        assert {each.name for each in (await client.list_tools()).tools} == set(CardServer.TOOLS)
        judged = await client.call_tool("judge_case", case(201))
        declined = await client.call_tool("judge_case", case(203))
        votes = await client.call_tool("look_up_votes", {"item": "case-007"})
        verdict = await client.call_tool("read_verdict", {})
    assert judged.structured_content["scores"] == {"accuracy": grade(201)}
    assert declined.structured_content["scores"] == {}
    assert votes.structured_content["votes"][0]["score"] == grade(7)
    assert verdict.structured_content["verdicts"][0]["verdict"] == "VALIDATED"
    with pytest.RaisesGroup(pytest.RaisesExc(mcp.MCPError, match="closed"), flatten_subgroups=True):
        async with mcp.Client(started("--live", "--study", str(swapped)), mode=mode):
            pass
