"""A good answer is paid for once and used, whatever surrounds it; an error in a success is no answer."""

from __future__ import annotations

import json
import random
from copy import deepcopy
from typing import Any

import pytest
from tests.loopback import LoopbackServer
from tests.models.conftest import key  # noqa: F401 - a fixture
from tests.models.samples import HandClock, model_at, request

from medjury.instruments import Reason
from medjury.models import Answer, Gate, MemoryCache, ModelError

VERDICT = {"explanation": "It is fine.", "score": 4}
TEXT = json.dumps(VERDICT)
PLAIN: dict[str, dict[str, Any]] = {
    "openai": {
        "model": "m",
        "choices": [{"message": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 4},
    },
    "anthropic": {
        "type": "message", "model": "m", "content": [{"type": "text", "text": TEXT}],
        "stop_reason": "end_turn", "usage": {"input_tokens": 9, "output_tokens": 4},
    },
    "google": {
        "candidates": [{"content": {"role": "model", "parts": [{"text": TEXT}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 4},
        "modelVersion": "m",
    },
}  # fmt: skip
WHERE = {
    "openai": (("choices", 0, "message", "content"), ("choices", 0, "finish_reason"), "usage"),
    "anthropic": (("content",), ("stop_reason",), "usage"),
    "google": (("candidates", 0, "content"), ("candidates", 0, "finishReason"), "usageMetadata"),
}
KINDS = tuple(PLAIN)


def changed(kind: str, place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    body: Any = deepcopy(PLAIN[kind])
    inner = body
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    return body  # type: ignore[no-any-return]


async def ask(kind: str, *replies: Any, status: str = "200", **settings: Any) -> tuple[Answer, int]:
    clock = HandClock()
    words = [each if isinstance(each, str) else f"raw:{status} {json.dumps(each)}" for each in replies]
    with LoopbackServer(words) as server:
        model = model_at(kind, server.url)
        try:
            the_gate = Gate(cache=MemoryCache(), clock=clock, sleep=clock.sleep, chance=random.Random(1))
            return await the_gate.ask(model, request(**settings)), len(server.calls)
        finally:
            await model.close()


async def the_verdict_is_used(kind: str, body: Any, **options: Any) -> None:
    answer, calls = await ask(kind, body, **options)
    assert json.loads(answer.reply.text) == VERDICT and answer.reply.finish == "stop" and calls == 1
    assert answer.reply.tokens_in > 0 and answer.reply.tokens_out > 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "usage", [None, [], "many", 7, {"prompt_tokens": "9", "input_tokens": [], "promptTokenCount": {}}]
)
async def test_usage_of_a_wrong_type_is_estimated(kind: str, usage: Any) -> None:
    await the_verdict_is_used(kind, changed(kind, (WHERE[kind][2],), usage))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("details", [[], "none", {"cached_tokens": "all"}])
async def test_details_of_a_wrong_type_are_ignored(kind: str, details: Any) -> None:
    usage = PLAIN[kind][WHERE[kind][2]] | {
        "prompt_tokens_details": details,
        "cache_read_input_tokens": details,
    }
    await the_verdict_is_used(kind, changed(kind, (WHERE[kind][2],), usage))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("finish", [None, "", "completed", 3, {}])
@pytest.mark.parametrize("usage", [None, {}])
async def test_a_whole_verdict_needs_no_word_of_how_it_ended(kind: str, finish: Any, usage: Any) -> None:
    body = changed(kind, WHERE[kind][1], finish)
    body[WHERE[kind][2]] = usage
    await the_verdict_is_used(kind, body)
    await the_verdict_is_used(kind, body, max_tokens=1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("finish", [None, "completed"])
async def test_half_a_verdict_is_never_taken_for_a_whole_one(kind: str, finish: Any) -> None:
    body = json.loads(json.dumps(changed(kind, WHERE[kind][1], finish)).replace('\\"score\\": 4}', ""))
    body[WHERE[kind][2]] = None
    answer, _ = await ask(kind, body)
    assert answer.reply.finish == "length"


CONTENTS = {
    "as text": TEXT,
    "as an object": VERDICT,
    "as a part": {"type": "text", "text": TEXT},
    "in parts": [{"type": "text", "text": TEXT[:9]}, {"type": "text", "text": TEXT[9:]}],
    "in parts without a type": [{"text": TEXT}],
    "in plain parts": [TEXT[:9], TEXT[9:]],
    "after a thought": [{"type": "thinking", "thinking": "{hm"}, {"type": "text", "text": TEXT}, 5, None],
    "below answer": json.dumps({"answer": VERDICT}),
    "below result": json.dumps({"result": VERDICT}),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
async def test_content_is_read_in_every_form(kind: str, content: Any) -> None:
    if kind == "google" and isinstance(content, list):
        content = {"parts": content}
    await the_verdict_is_used(kind, changed(kind, WHERE[kind][0], content))


def called(kind: str, arguments: Any) -> dict[str, Any]:
    """The verdict as the arguments of a tool."""
    if kind == "anthropic":
        body = changed(kind, ("content",), [{"type": "tool_use", "name": "answer", "input": arguments}])
        return body | {"stop_reason": "tool_use"}
    if kind == "google":
        return changed(
            kind, WHERE[kind][0], {"parts": [{"functionCall": {"name": "answer", "args": arguments}}]}
        )
    call = {"type": "function", "function": {"name": "answer", "arguments": arguments}}
    body = changed(kind, ("choices", 0, "message"), {"content": None, "tool_calls": [call]})
    body["choices"][0]["finish_reason"] = "tool_calls"
    return body


@pytest.mark.parametrize("kind", KINDS)
async def test_a_verdict_handed_to_a_tool_is_a_verdict(kind: str) -> None:
    await the_verdict_is_used(kind, called(kind, VERDICT))
    if kind == "openai":
        await the_verdict_is_used(kind, called(kind, TEXT))
        legacy = {"content": "", "function_call": {"name": "answer", "arguments": TEXT}}
        await the_verdict_is_used(kind, changed(kind, ("choices", 0, "message"), legacy))


@pytest.mark.parametrize("kind", KINDS)
async def test_two_verdicts_handed_to_tools_are_both_told(kind: str) -> None:
    """Which of them was meant is refused by the reader of the answer, not chosen here."""
    body, other = called(kind, {"score": 5}), called(kind, VERDICT)
    place = WHERE[kind][0] if kind != "openai" else ("choices", 0, "message", "tool_calls")
    first: Any = body
    second: Any = other
    for step in place:
        first, second = first[step], second[step]
    if kind == "google":
        first, second = first["parts"], second["parts"]
    first += second
    answer, _ = await ask(kind, body)
    assert [json.loads(line) for line in answer.reply.text.splitlines()] == [{"score": 5}, VERDICT]


async def test_a_key_that_appears_twice_below_a_wrapping_stays_twice() -> None:
    text = '{"result": {"explanation": "No.", "score": 1, "score": 5}}'
    answer, _ = await ask("openai", changed("openai", WHERE["openai"][0], text))
    assert answer.reply.text == text


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("around", ["data", "result", "response"])
async def test_a_body_one_key_deep_is_read(kind: str, around: str) -> None:
    await the_verdict_is_used(kind, {around: PLAIN[kind]})
    await the_verdict_is_used(kind, {"code": 0, "message": "ok", around: PLAIN[kind]})


@pytest.mark.parametrize("around", ["the text claims", "quote", "note", "explanation"])
async def test_a_verdict_below_a_name_that_may_be_a_quotation_is_left_as_it_is(around: str) -> None:
    text = json.dumps({around: VERDICT})
    answer, _ = await ask("openai", changed("openai", WHERE["openai"][0], text))
    assert answer.reply.text == text


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", ["201", "206", "203"])
async def test_every_success_is_one(kind: str, status: str) -> None:
    await the_verdict_is_used(kind, PLAIN[kind], status=status)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/octet-stream", "text/json; charset=utf-8", "x/y"]
)
async def test_a_body_is_read_whatever_it_calls_itself(kind: str, content_type: str) -> None:
    answer, calls = await ask(kind, f"raw:200/{content_type.replace(' ', '')} {json.dumps(PLAIN[kind])}")
    assert json.loads(answer.reply.text) == VERDICT and calls == 1


ERRORS = {
    "a code that may pass": ({"code": 429, "message": "slow down"}, Reason.RATE_LIMIT, True),
    "a code in words": ({"code": "502", "message": "upstream is gone"}, Reason.PROVIDER, True),
    "words that may pass": ({"message": "Provider temporarily unavailable"}, Reason.PROVIDER, True),
    "overloaded": ({"type": "overloaded_error", "message": "Overloaded"}, Reason.RATE_LIMIT, True),
    "words that do not": ({"message": "the moon is in the wrong house"}, Reason.PROVIDER, False),
    "plain words": ("the moon is in the wrong house", Reason.PROVIDER, False),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("both", [False, True], ids=["alone", "beside an answer"])
@pytest.mark.parametrize(("error", "reason", "passing"), ERRORS.values(), ids=ERRORS)
async def test_an_error_in_a_success_is_told_in_its_own_words(
    kind: str, error: Any, reason: Reason, passing: bool, both: bool
) -> None:
    body = (PLAIN[kind] if both else {}) | {"error": error}
    words = error if isinstance(error, str) else error["message"]
    with pytest.raises(ModelError, match=f"answered 200 with an error: .*{words}") as caught:
        await ask(kind, *[body] * 9)
    assert (caught.value.reason, caught.value.retry) == (reason, passing)
    if passing:
        answer, calls = await ask(kind, body, PLAIN[kind])
        assert json.loads(answer.reply.text) == VERDICT and calls == 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("error", [None, {}, "", []])
async def test_an_error_without_a_word_is_none(kind: str, error: Any) -> None:
    await the_verdict_is_used(kind, PLAIN[kind] | {"error": error})
