"""The loopback endpoint itself: the other tests trust it."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import LoopbackServer

SCHEMA = {
    "type": "object",
    "properties": {
        "accurate": {
            "type": "object",
            "properties": {
                "explanation": {"type": "string"},
                "score": {"type": "integer", "enum": [1, 2, 3, 4, 5]},
            },
            "required": ["explanation", "score"],
        },
        "synthesized": {"anyOf": [{"type": "integer", "enum": [1, 2]}, {"type": "null"}]},
    },
}


def post(url: str, text: str = "How good is it?", **body: Any) -> dict[str, Any]:
    body = {"model": "m", "messages": [{"role": "user", "content": text}], **body}
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as response:
        loaded: dict[str, Any] = json.load(response)
    return loaded


def content(answer: dict[str, Any]) -> Any:
    return json.loads(answer["choices"][0]["message"]["content"])


def structured() -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "rating", "schema": SCHEMA}}


def test_it_answers_by_the_schema_and_the_same_prompt_gives_the_same_answer() -> None:
    with LoopbackServer() as server:
        url = f"{server.base_url}/chat/completions"
        answers = [content(post(url, f"case {n % 20}", response_format=structured())) for n in range(40)]
        assert answers[:20] == answers[20:]
        assert {each["accurate"]["score"] for each in answers} == {1, 2, 3, 4, 5}
        assert {each["synthesized"] for each in answers} == {1, 2, None}
        assert len(server.calls) == 40
        assert server.calls[3].json["messages"][0]["content"] == "case 3"


def test_behaviours_come_from_a_list_a_callable_or_a_marker_in_the_prompt() -> None:
    with LoopbackServer(["500", "ok:hello"]) as server:
        url = f"{server.base_url}/chat/completions"
        with pytest.raises(urllib.error.HTTPError) as error:
            post(url)
        error.value.close()
        assert error.value.code == 500
        assert post(url)["choices"][0]["message"]["content"] == "hello"
        assert post(url)["choices"][0]["message"]["content"] == "ok"
        for _ in range(2):
            with pytest.raises(urllib.error.HTTPError) as error:
                post(url, "[[loopback:429:7*2]]")
            error.value.close()
            assert (error.value.code, error.value.headers["Retry-After"]) == (429, "7")
        assert post(url, "[[loopback:429:7*2]]")["choices"][0]["message"]["content"] == "ok"
    with LoopbackServer(lambda call: "length" if "x" in call.prompt else None) as server:
        url = f"{server.base_url}/chat/completions"
        assert post(url, "x")["choices"][0]["finish_reason"] == "length"
        assert post(url, "y")["choices"][0]["finish_reason"] == "stop"


def test_a_connection_reset_is_one() -> None:
    with LoopbackServer("reset") as server, pytest.raises(ConnectionResetError):
        post(f"{server.base_url}/chat/completions")


def test_off_scale_answers_are_off_every_scale() -> None:
    with LoopbackServer("out-of-range") as server:
        answer = content(post(f"{server.base_url}/chat/completions", response_format=structured()))
        assert answer["accurate"]["score"] > 5


def test_as_a_process_it_prints_its_url_and_logs_one_line_per_answer(tmp_path: Path) -> None:
    log = tmp_path / "calls.log"
    command = [sys.executable, "-m", "tests.loopback", "--port", "0", "--latency", "0.01", "--log", str(log)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        for text in ("one", "two", "one"):
            post(f"{url}/v1/chat/completions", text)
        process.terminate()
    hashes, numbers, statuses = zip(*(line.split() for line in log.read_text().splitlines()), strict=True)
    assert hashes[0] == hashes[2] != hashes[1]
    assert numbers == ("1", "2", "3")
    assert set(statuses) == {"200"}
