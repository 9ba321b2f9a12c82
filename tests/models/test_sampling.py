"""top_p, top_k and any other way of drawing: sent as stated, part of the key, refused in the endpoint's words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import LoopbackServer
from tests.models.samples import model_at, request

from medjury.foundation.errors import MedjuryError
from medjury.models import (
    Gate,
    MemoryCache,
    Message,
    ModelError,
    RecordedAs,
    Request,
    make_model,
    request_key,
    write_answers,
)
from medjury.models._embedded_model import EmbeddedModel

QUESTION = Request(
    (Message("system", "Grade."), Message("user", "Is it so?")), {"type": "object"}, 100, 0.0, 3
)
LEAST: dict[str, dict[str, Any]] = {
    "openai": {"url": "http://127.0.0.1:1/v1", "model": "llama-3.3"},
    "azure": {"url": "https://x.openai.azure.com", "model": "gpt", "azure_api_version": "2024-10-21",
              "api_key_env": "K"},
    "anthropic": {"model": "claude-sonnet-4-5"},
    "google": {"model": "gemini-2.5-flash"},
    "scripted": {"answers": "fine"},
}  # fmt: skip
# As they were before these settings existed: answers stored then are found now.
KEYS = {
    "openai": "bce6348c670445e85a05e9014fce46a64592eb52a37f5816672755932fb8f89a",
    "azure": "34e2e3807cffb494f7232ddb4b189d2deffa7cb23517365e1683c0359d8bf97c",
    "anthropic": "038a420503091b514a3f2b02c84bd52729d1d886ac5d65cdd9dab392f3a96cb7",
    "google": "dd5cbef33890bd2463c301e8d93b06375cc69431e9310f2df49e2ed8c5445c35",
    "scripted": "5aa516b6a733a07d48d8538df8440f3a3edc7365bb2e05bbf1bddd8d59c6a0c2",
}


def key(kind: str, **options: Any) -> str:
    return request_key(make_model(kind, name="j", **LEAST[kind], **options).identity, QUESTION, 2)


@pytest.mark.parametrize("kind", KEYS)
def test_a_key_is_another_with_a_stated_setting_and_the_old_one_without(kind: str) -> None:
    assert key(kind) == KEYS[kind] == key(kind, top_p=None, top_k=None, sampling={})
    keys = [key(kind), key(kind, top_p=0.9), key(kind, top_p=0.95), key(kind, top_k=40),
            key(kind, sampling={"presence_penalty": 0.5})]  # fmt: skip
    assert len(set(keys)) == len(keys)


def test_the_embedded_model_has_its_old_identity_unless_a_setting_is_stated() -> None:
    plain = make_model("embedded").identity
    assert set(plain) == {"kind", "model", "weights", "runtime", "context"}
    assert make_model("embedded", top_k=1, sampling={"min_p": 0.2}).identity == {
        **plain,
        "sampling": '{"min_p": 0.2, "top_k": 1}',
    }


SENT = {"top_p": 0.9, "top_k": 40, "presence_penalty": 0.5}


@pytest.mark.parametrize("kind", ["openai", "anthropic", "google"])
async def test_what_is_stated_is_sent(kind: str) -> None:
    with LoopbackServer() as server:
        model = model_at(kind, server.url, top_p=0.9, top_k=40, sampling={"presence_penalty": 0.5})
        await model.ask(request())
        plain = model_at(kind, server.url)
        await plain.ask(request())
        await model.close()
        await plain.close()
        sent, before = (call.json for call in server.calls)
    if kind == "google":
        names = {"topP": 0.9, "topK": 40, "presencePenalty": 0.5}
        sent, before = sent["generationConfig"], before["generationConfig"]
    else:
        names = SENT
    assert sent == {**before, **names} and not names.keys() & before.keys()


async def test_the_embedded_model_is_asked_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    class Runtime:
        thread = None

        def ask(self, question: dict[str, Any]) -> dict[str, Any]:
            asked.append(question)
            choice = {"message": {"content": "{}"}, "finish_reason": "stop"}
            usage = {"prompt_tokens": 1, "completion_tokens": 1}
            return {"choices": [choice], "usage": usage, "tokens_cached": 0, "seconds": 0.1}

    monkeypatch.setattr(EmbeddedModel, "_shared", lambda self: Runtime())
    for options in ({}, {"top_p": 0.5, "sampling": {"min_p": 0.0}}):
        await make_model("embedded", **options).ask(Request((Message("user", "Hello"),)))
    drawn = [{name: each[name] for name in ("top_k", "top_p", "min_p", "repeat_penalty")} for each in asked]
    assert drawn == [
        {"top_k": 40, "top_p": 0.95, "min_p": 0.05, "repeat_penalty": 1.0},
        {"top_k": 40, "top_p": 0.5, "min_p": 0.0, "repeat_penalty": 1.0},
    ]


@pytest.mark.parametrize("kind", ["openai", "anthropic", "google"])
async def test_an_endpoint_that_does_not_take_it_ends_the_call_with_its_own_words(kind: str) -> None:
    """Temperature is dropped and told, as ever; a stated top_k is never left out in silence."""
    with LoopbackServer(lambda call: "400:Unsupported parameter: 'top_k' is not supported.") as server:
        model = model_at(kind, server.url, top_k=40)
        with pytest.raises(ModelError, match="Unsupported parameter: 'top_k' is not supported"):
            await Gate(cache=MemoryCache()).ask(model, request())
        await model.close()
        assert len(server.calls) == 1 and model.dropped == ()


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        ("openai", {"top_p": 1.5}, "top_p: must be above 0 and at most 1"),
        ("openai", {"top_p": 0}, "top_p: must be greater than 0"),
        ("openai", {"top_k": 0}, "top_k: must be greater than 0"),
        ("openai", {"top_k": 2.5}, "top_k: must be a whole number"),
        ("openai", {"sampling": [1]}, "sampling: must be a table"),
        (
            "openai",
            {"sampling": {"temperature": 1}},
            "has its own setting; write `temperature:` beside it",
        ),
        ("openai", {"sampling": {"top_p": 1}}, "write `top_p:` beside it"),
        ("openai", {"sampling": {"n": 3}}, "'n' is not a way of drawing words"),
        ("openai", {"sampling": {"min_p": {"a": 1}}}, "min_p must be a number"),
        ("openai", {"sampling": {"auth_token": "abc"}}, "looks like a secret"),
        ("openai", {"top_p": 0.9, "extra": {"top_p": 0.8}}, "extra: 'top_p' is already stated beside it"),
        ("google", {"sampling": {"min_p": 0.1}}, "there is no 'min_p' for this kind"),
        ("embedded", {"sampling": {"minp": 0.1}}, "did you mean 'min_p'"),
    ],
)
def test_a_mistake_is_told_before_anything_is_sent(kind: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(MedjuryError, match=words):
        make_model(kind, **LEAST.get(kind, {}), **options)


def test_a_recorded_model_has_the_settings_it_was_recorded_with(tmp_path: Path) -> None:
    identity = {"kind": "openai", "model": "m", "sampling": json.dumps({"top_p": 0.9})}
    write_answers(tmp_path / "a.jsonl", [RecordedAs(names=["j"], identity=identity)], [])
    file = str(tmp_path / "a.jsonl")
    for stated in ({}, {"top_p": 0.9}):
        assert make_model("recorded", name="j", file=file, **stated).identity == identity
    with pytest.raises(
        MedjuryError, match=r"with sampling {'top_p': 0.9}, and the study says {'top_p': 0.5}"
    ):
        make_model("recorded", name="j", file=file, top_p=0.5).check()
