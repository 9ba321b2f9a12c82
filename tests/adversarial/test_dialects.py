"""What endpoints speak besides the plain dialect: understood, or refused with advice that helps."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from tests.loopback import Call, LoopbackServer
from tests.models.conftest import key  # noqa: F401 - a fixture
from tests.models.samples import HandClock, model_at, request

from medjury.cli import main
from medjury.instruments import Reason, Unscored
from medjury.judging._asking import no_answer
from medjury.models import Answer, Gate, MemoryCache, ModelError, PriceList, Reply
from medjury.models._openai.dialect import Dialect, adapt

Answers = Callable[[Call], str | None]


async def ask(answers: Any, *, kind: str = "openai", **options: Any) -> tuple[Answer, list[Call], Any]:
    clock = HandClock()
    with LoopbackServer(answers) as server:
        model = model_at(kind, server.url)
        try:
            the_gate = Gate(
                cache=MemoryCache(), clock=clock, sleep=clock.sleep, chance=random.Random(1), **options
            )
            answer = await the_gate.ask(model, request(seed=3))
            return answer, list(server.calls), model
        finally:
            await model.close()


def refusing(refuse: Callable[[dict[str, Any]], bool], reply: str) -> Answers:
    return lambda call: reply if refuse(call.json) else None


def roles(call: Call) -> list[str]:
    return [each["role"] for each in call.json["messages"]]


REFUSED_SETTINGS = {
    "TGI, a schema, in plain text": (
        lambda body: "response_format" in body,
        "raw:422/text/plain Failed to deserialize the JSON body into the target type: response_format: unknown "
        "variant `json_schema`, expected one of `json`, `regex` at line 1 column 90",
        "response_format",
    ),
    "TGI, a seed, in plain text": (
        lambda body: "seed" in body,
        "raw:422/text/plain Failed to deserialize the JSON body: unknown field `seed`, expected one of `model`",
        "seed",
    ),
    "Bedrock, a seed": (
        lambda body: "seed" in body,
        'raw:400 {"message": "Malformed input request: extraneous key [seed] is not permitted, please reformat"}',
        "seed",
    ),
    "pydantic, a seed": (
        lambda body: "seed" in body,
        'raw:422 {"detail": [{"loc": ["body", "seed"], "msg": "extra fields not permitted", "type": "value"}]}',
        "seed",
    ),
}


@pytest.mark.parametrize(("refuse", "reply", "setting"), REFUSED_SETTINGS.values(), ids=REFUSED_SETTINGS)
async def test_a_setting_that_is_refused_in_any_words_is_left_out(
    refuse: Any, reply: str, setting: str
) -> None:
    answer, calls, _ = await ask(refusing(refuse, reply))
    assert answer.reply.finish == "stop" and setting in calls[0].json and setting not in calls[-1].json


async def test_an_endpoint_that_knows_a_developer_only_gets_one() -> None:
    words = "400:Unsupported value: 'messages[0].role' does not support 'system' with this model."
    answer, calls, _ = await ask(lambda call: words if "system" in roles(call) else None)
    assert answer.reply.finish == "stop" and roles(calls[-1]) == ["developer", "user"] and len(calls) == 2


@pytest.mark.parametrize(
    "words", ["System role not supported", "the system role is not supported by this template"]
)
async def test_an_endpoint_without_a_role_for_instructions_gets_them_with_the_question(words: str) -> None:
    answer, calls, _ = await ask(lambda call: f"400:{words}" if "user" not in roles(call)[:1] else None)
    assert answer.reply.finish == "stop" and roles(calls[-1]) == ["user"] and len(calls) == 2
    assert calls[-1].json["messages"][0]["content"].startswith("You grade.\n\n")


@pytest.mark.parametrize(
    "note",
    [
        "patient must drink, urine stream weak and only a thin stream",
        "role of statins unclear, immune system not supported",
        "CT guided biopsy; only stream of consciousness",
    ],
)
def test_a_note_that_speaks_of_roles_and_streams_changes_no_dialect(note: str) -> None:
    assert adapt(Dialect(), f"cannot parse '{note}'") is None


@pytest.mark.parametrize("status", [400, 404])
async def test_a_model_for_responses_only_is_refused_with_advice(status: int) -> None:
    words = "This model is only supported in v1/responses and not in v1/chat/completions."
    body = json.dumps({"error": {"message": words}})
    with pytest.raises(ModelError, match="choose another model, or a gateway") as caught:
        await ask(f"raw:{status} {body}")
    assert caught.value.fatal and words.rstrip(".") in caught.value.message


def streamed(*pieces: str, end: str = "data: [DONE]\n\n", finish: str | None = "stop") -> str:
    def event(delta: Any, finish: str | None = None) -> str:
        chunk = {"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
        return f"data: {json.dumps(chunk)}\n\n"

    events = [": a comment\n\n", event({"role": "assistant", "content": None})]
    events += [event({"content": each}) for each in pieces]
    if finish is not None:
        events.append(event({}, finish))
    usage = {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 5}}
    return f"raw:200/text/event-stream {''.join(events)}data: {json.dumps(usage)}\n\n{end}"


VERDICT = '{"explanation": "It is f\\u00efne.", "score": 4}'


@pytest.mark.parametrize(
    "words",
    [
        "This model only supports streaming: set stream to true.",
        "Non-streaming requests are not allowed; stream must be true",
        "parameter.enable_thinking requires stream=true",
    ],
)
async def test_a_server_that_only_streams_is_asked_to(words: str) -> None:
    whole = streamed(VERDICT[:7], VERDICT[7:])
    answer, calls, _ = await ask(lambda call: whole if call.json.get("stream") else f"400:{words}")
    assert json.loads(answer.reply.text) == json.loads(VERDICT) and answer.reply.finish == "stop"
    assert (answer.reply.tokens_in, answer.reply.tokens_out, answer.reply.model) == (9, 5, "m")
    assert len(calls) == 2 and "stream" not in calls[0].json


async def test_a_server_that_streams_unasked_is_read() -> None:
    answer, calls, _ = await ask([streamed(*VERDICT)])
    assert json.loads(answer.reply.text) == json.loads(VERDICT) and len(calls) == 1


async def test_ends_of_lines_within_a_streamed_text_do_not_end_its_event() -> None:
    text = VERDICT.replace(" ", "\u2028", 1)
    whole = json.dumps({"choices": [{"delta": {"content": text, "tool_calls": 7}}]}, ensure_ascii=False)
    answer, calls, _ = await ask([f"raw:200/text/event-stream data: {whole}\n\ndata: [DONE]\n\n"])
    assert answer.reply.text == text and len(calls) == 1


@pytest.mark.parametrize("finish", ["length", "content_filter"])
async def test_how_a_stream_ended_is_known(finish: str) -> None:
    answer, _, _ = await ask([streamed(VERDICT[:9], finish=finish)])
    assert answer.reply.finish == {"length": "length", "content_filter": "refusal"}[finish]


@pytest.mark.parametrize(
    "broken", [streamed(VERDICT[:9], end="", finish=None), streamed(VERDICT, end='data: {"cho')]
)
async def test_a_stream_that_breaks_off_is_asked_again(broken: str) -> None:
    answer, calls, _ = await ask([broken, streamed(VERDICT)])
    assert json.loads(answer.reply.text) == json.loads(VERDICT) and len(calls) == 2


async def test_an_error_in_a_stream_is_told() -> None:
    event = json.dumps({"error": {"code": 503, "message": "the worker died"}})
    with pytest.raises(ModelError, match="the worker died") as caught:
        await ask(f"raw:200/text/event-stream data: {event}\n\n")
    assert caught.value.retry


def completion(usage: dict[str, Any], finish: str = "stop") -> str:
    choice = {"message": {"content": VERDICT}, "finish_reason": finish}
    return f"raw:200 {json.dumps({'model': 'm', 'choices': [choice], 'usage': usage})}"


async def test_deepseeks_cache_is_understood() -> None:
    usage = {
        "prompt_tokens": 100, "completion_tokens": 9, "prompt_cache_hit_tokens": 64,
        "prompt_cache_miss_tokens": 36,
    }  # fmt: skip
    answer, _, _ = await ask([completion(usage)])
    assert (answer.reply.tokens_in, answer.reply.tokens_cached) == (100, 64)


@pytest.mark.parametrize(("told", "cost"), [(0.0125, 0.0125), ("much", None), (-1, None), (True, None)])
async def test_a_cost_that_the_endpoint_tells_is_used_where_no_price_is_known(
    told: Any, cost: float | None
) -> None:
    reply = completion({"prompt_tokens": 100, "completion_tokens": 9, "cost": told})
    answer, _, model = await ask([reply], prices=PriceList.shipped())
    assert answer.cost == cost
    stated = PriceList.shipped().with_price(model, input=1.0, output=1.0)
    answer, _, _ = await ask([reply], prices=stated)
    assert answer.cost == pytest.approx(109e-6), "the user's own price goes first"


ENDINGS = [
    ("anthropic", "tool_use", Reason.PARSE, "called a tool"),
    ("anthropic", "pause_turn", Reason.PARSE, "paused in the middle"),
    ("anthropic", "model_context_window_exceeded", Reason.CONTEXT, "context window"),
    ("anthropic", "refusal", Reason.REFUSAL, "declined"),
    ("anthropic", "max_tokens", Reason.TRUNCATED, "raise max_tokens"),
    ("google", "IMAGE_SAFETY", Reason.REFUSAL, "filter for pictures"),
    ("google", "MALFORMED_FUNCTION_CALL", Reason.PARSE, "tried to call a tool"),
    ("google", "UNEXPECTED_TOOL_CALL", Reason.PARSE, "tried to call a tool"),
    ("google", "PROHIBITED_CONTENT", Reason.REFUSAL, "declined"),
    ("google", "MAX_TOKENS", Reason.TRUNCATED, "raise max_tokens"),
    ("openai", "tool_calls", Reason.PARSE, "called a tool"),
    ("openai", "model_length", Reason.CONTEXT, "context window"),
    ("openai", "length", Reason.TRUNCATED, "raise max_tokens"),
]


@pytest.mark.parametrize(
    ("kind", "said", "reason", "words"), ENDINGS, ids=[f"{e[0]}-{e[1]}" for e in ENDINGS]
)
async def test_every_ending_has_its_own_words(kind: str, said: str, reason: Reason, words: str) -> None:
    body: dict[str, Any] = {
        "openai": {"choices": [{"message": {"content": ""}, "finish_reason": said}]},
        "anthropic": {"type": "message", "content": [], "stop_reason": said},
        "google": {"candidates": [{"content": {"parts": []}, "finishReason": said}]},
    }[kind]
    answer, _, _ = await ask([f"raw:200 {json.dumps(body)}"], kind=kind)
    told = no_answer(answer.reply, 1024)
    assert isinstance(told, Unscored) and told.reason is reason and words in told.message
    assert ("raise max_tokens" in told.message) == (reason is Reason.TRUNCATED)
    assert no_answer(Reply("{}"), 1024) is None


@pytest.mark.parametrize(
    ("refuse", "words", "told"),
    [
        (lambda body: "seed" in body, "extraneous key [seed] is not permitted", "It does not accept seed"),
        (
            lambda body: body["messages"][0]["role"] == "system",
            "System role not supported",
            "follows the schema",
        ),
    ],
)
def test_check_sends_what_a_run_sends(
    refuse: Any, words: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with LoopbackServer(refusing(refuse, f"400:{words}")) as server:
        assert main(["models", "check", "--url", server.base_url, "--model", "m"]) == 0
        first = server.calls[0].json
    assert told in capsys.readouterr().out
    assert {"seed", "temperature", "response_format"} <= first.keys() and first["max_tokens"] == 1024
    assert [each["role"] for each in first["messages"]] == ["system", "user"]


def test_check_draws_words_as_the_study_would(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--temperature", "0.7", "--top-p", "0.9", "--top-k", "20", "--sampling", "min_p=0.1"]
    with LoopbackServer() as server:
        assert main(["models", "check", "--url", server.base_url, "--model", "m", *words]) == 0
        sent = server.calls[0].json
        stated = {"temperature": 0.7, "top_p": 0.9, "top_k": 20, "min_p": 0.1}
        assert {name: sent.get(name) for name in stated} == stated
    with LoopbackServer(refusing(lambda body: "top_k" in body, "400:top_k is not supported")) as server:
        assert main(["models", "check", "--url", server.base_url, "--model", "m", *words]) == 1
    assert "top_k" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["models", "check", "--model", "m", "--sampling", "min_p"])
    assert "is not NAME=VALUE" in capsys.readouterr().err
