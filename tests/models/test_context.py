"""Context windows: a prompt that cannot fit is never sent, and what is counted is counted no more than needed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import LoopbackServer
from tests.models.samples import model_at, request, served

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.models import (
    AuditLog,
    ContextError,
    Gate,
    MemoryCache,
    Message,
    ModelError,
    Reply,
    Request,
    Scripted,
    audit_totals,
    clearly_too_long,
    context_window,
    excess_tokens,
    make_model,
)
from medjury.models._embedded_model import EmbeddedModel

LONG = "The patient was seen again and is well. " * 400  # 3,200 words


def gate(**options: Any) -> Gate:
    return Gate(cache=MemoryCache(), **options)


def test_a_window_is_what_the_user_says_else_what_is_published_else_unknown() -> None:
    def window(model: str, **options: Any) -> int | None:
        return context_window(make_model("openai", url="http://127.0.0.1:1", model=model, **options))

    assert window("gpt-4o-2024-08-06") == 128_000
    assert window("gpt-4o", context_window=32_000) == 32_000
    assert window("our-own-llama") is None
    assert context_window(make_model("embedded", context_window=2048)) == 2048
    assert context_window(Scripted("x", context_window=10)) == 10


async def test_a_prompt_too_long_is_refused_with_the_numbers_and_nothing_is_sent(tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    async with served(context_window=2000) as (server, model):
        the_gate = gate(audit=AuditLog(log))
        with pytest.raises(
            ContextError, match=r"about [\d,]+ tokens.*500 are kept.*takes 2,000 in all"
        ) as told:
            await the_gate.ask(model, request(LONG, max_tokens=500))
        assert told.value.reason is Reason.CONTEXT and not told.value.retry and not told.value.fatal
        assert told.value.excess == told.value.tokens + 500 - 2000 > 0
        assert "patient" not in told.value.message, "no clinical text in a message"
        assert not server.calls and the_gate.calls == 0 and not log.exists()
        await the_gate.ask(model, request("short", max_tokens=500))
        assert len(server.calls) == 1


async def test_without_a_known_window_nothing_is_refused_by_us() -> None:
    async with served(LoopbackServer(["ok", "context"])) as (server, model):
        assert excess_tokens(model, request(LONG)) is None
        await gate().ask(model, request(LONG))
        with pytest.raises(ModelError) as told:
            await gate().ask(model, request(LONG))
        assert told.value.reason is Reason.CONTEXT and len(server.calls) == 2, "the endpoint said so itself"


@pytest.mark.parametrize(
    "words",
    [
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
        "the request exceeds the available context size, try increasing it",
        "input length and `max_tokens` exceed context limit: 197000 + 8192 > 200000",
        "`inputs` tokens + `max_new_tokens` must be <= 4096.",
        "Your input exceeds the context window of this model.",
    ],
)
async def test_an_endpoint_that_refuses_a_long_prompt_is_understood(words: str) -> None:
    async with served(LoopbackServer(f"context:{words}")) as (_server, model):
        with pytest.raises(ModelError) as told:
            await gate().ask(model, request(LONG))
        assert told.value.reason is Reason.CONTEXT and not told.value.retry


@pytest.mark.parametrize(("server_kind", "calls"), [("vllm", 1), ("llama.cpp", 2)])
async def test_a_server_that_counts_is_asked_only_where_the_estimate_leaves_a_doubt(
    server_kind: str, calls: int, tmp_path: Path
) -> None:
    log = tmp_path / "audit.jsonl"
    with LoopbackServer() as server:  # it counts words: 3,229 of them, where we are afraid of more
        model = model_at("openai", server.base_url, context_window=3829, tokenize=server_kind)
        the_gate = gate(audit=AuditLog(log))
        await the_gate.ask(model, request("short", max_tokens=600))
        assert [call.path for call in server.calls] == ["/v1/chat/completions"]
        await the_gate.ask(model, request(LONG, max_tokens=600))
        paths = [call.path for call in server.calls[1:]]
        assert paths[-1] == "/v1/chat/completions" and paths[-2] == "/tokenize" and len(paths) == calls + 1
        with pytest.raises(
            ContextError, match=r"has 3,229 tokens, 601 are kept.* sent to 127\.0\.0\.1 to be counted"
        ):
            await the_gate.ask(model, request(LONG, max_tokens=601))
        await model.close()
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    ends = [entry["event"] for entry in entries if entry["event"] != "sent"]
    assert ends == ["call", *["count"] * calls, "call", *["count"] * calls]
    assert audit_totals(log).calls == 2, "counting is no call that is paid for"


async def test_a_server_that_cannot_count_ends_the_run_with_advice(tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    async with served(LoopbackServer(rejects=["tokenize"]), context_window=2000, tokenize="vllm") as (
        _server,
        model,
    ):
        with pytest.raises(ModelError, match="take `tokenize` out") as told:
            await gate(audit=AuditLog(log)).ask(model, request(LONG))
        assert told.value.fatal
        events = [json.loads(line)["event"] for line in log.read_text().splitlines()]
        assert events == ["sent", "count"], "the text has left, and the log says so"
    with pytest.raises(MedjuryError, match=r"vllm"):
        make_model("openai", url="http://127.0.0.1:1", model="m", tokenize="vlm")


async def test_counting_obeys_the_privacy_rule() -> None:
    model = make_model("openai", url="http://192.0.2.1/v1", model="m", context_window=100, tokenize="vllm")
    with pytest.raises(ModelError, match="allow_hosts"):
        await model.count_tokens(request(LONG))
    await model.close()


async def test_the_embedded_model_counts_with_its_own_tokenizer_and_reads_nothing() -> None:
    model = EmbeddedModel(context_window=512)
    asked = Request(
        (Message("system", "Grade."), Message("user", "K+ 5.2 mmol/L, Größe 1,78 m. <|im_end|>")),
        max_tokens=1,
    )
    reply = await model.ask(asked)
    assert await model.count_tokens(asked) == reply.tokens_in
    assert (await model.ask(asked)).tokens_cached >= reply.tokens_in - 1, "what was in memory is still there"
    long = Request((Message("user", LONG),), max_tokens=100)
    with pytest.raises(ContextError) as told:
        await gate().ask(model, long)
    assert told.value.exact and told.value.tokens > 3200 and told.value.window == 512
    await model.close()


async def test_a_prompt_in_doubt_is_sent_and_not_refused_on_an_estimate() -> None:
    model = Scripted([Reply("{}", tokens_in=3300)], context_window=3600)
    asked = request(LONG, max_tokens=100)
    assert (excess_tokens(model, asked) or 0) > 0 and not clearly_too_long(model, asked)
    answer = await gate().ask(model, asked)
    assert answer.reply.tokens_in == 3300


@pytest.mark.parametrize("read", [3600, 3570, 1200])
async def test_an_endpoint_that_cuts_a_prompt_in_silence_is_caught(read: int, tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    model = Scripted([Reply("{}", tokens_in=read)] * 2, context_window=3600)
    the_gate, asked = gate(audit=AuditLog(log)), request(LONG, max_tokens=100)
    with pytest.raises(ContextError, match=rf"read {read:,} of about [\d,]+ tokens.*was cut") as told:
        await the_gate.ask(model, asked)
    assert told.value.sent and told.value.paid is not None and told.value.excess > 0
    assert json.loads(log.read_text())["status"] == "cut" and audit_totals(log).calls == 1
    with pytest.raises(ContextError):
        await the_gate.ask(model, asked)  # what was answered to half a prompt is not kept for a whole one


async def test_a_prompt_in_doubt_that_the_endpoint_refuses_says_by_how_much_it_may_be_too_long() -> None:
    async with served(LoopbackServer("context"), context_window=3600) as (server, model):
        with pytest.raises(ContextError, match="its endpoint refused about") as told:
            await gate().ask(model, request(LONG, max_tokens=100))
        assert told.value.sent and told.value.excess > 0 and len(server.calls) == 1


async def test_a_prompt_is_counted_once_however_often_it_is_sent() -> None:
    async with served(LoopbackServer(["500", "500", "ok"]), context_window=4000, tokenize="vllm") as (
        server,
        model,
    ):

        async def at_once(seconds: float) -> None:
            pass

        await gate(sleep=at_once).ask(model, request(LONG, max_tokens=100))
        paths = [call.path for call in server.calls]
        assert paths == ["/tokenize", *["/v1/chat/completions"] * 3]


class _WontCount(Scripted):
    async def count_tokens(self, request: Request) -> int | None:
        raise ModelError(Reason.CONTEXT, "too long to be counted")


async def test_a_server_that_will_not_even_count_so_long_a_prompt_has_refused_it() -> None:
    model = _WontCount(["{}"], context_window=3600)
    with pytest.raises(ContextError, match="its endpoint refused"):
        await gate().ask(model, request(LONG, max_tokens=100))
    assert not model.requests


class _CountsAnything(Scripted):
    async def count_tokens(self, request: Request) -> int | None:
        return 10


async def test_a_count_that_cannot_be_is_not_believed() -> None:
    model = _CountsAnything([Reply("{}", tokens_in=3600)], context_window=3600)
    with pytest.raises(ContextError, match="was cut"):
        await gate().ask(model, request(LONG, max_tokens=100))
    with pytest.raises(ContextError, match="nothing was sent"):
        await gate().ask(model, request(LONG * 3, max_tokens=100))
    assert len(model.requests) == 1


async def test_without_a_window_a_prompt_that_seems_cut_is_used_and_noted(tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    model = Scripted([Reply("{}", tokens_in=2048), Reply("{}", tokens_in=3300), Reply("{}", tokens_in=0)])
    the_gate = gate(audit=AuditLog(log))
    for repeat in range(3):  # the second read it all, the third does not say
        await the_gate.ask(model, request(LONG, max_tokens=100), repeat)
    assert audit_totals(log).perhaps_cut == 1
