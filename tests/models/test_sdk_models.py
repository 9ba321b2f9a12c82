"""The adapters over vendors' SDKs: what they send, and what they do where the package is not installed."""

from __future__ import annotations

import sys

import pytest
from tests.loopback import LoopbackServer
from tests.models.samples import KEY, SCHEMA, model_at, request

from medjury.foundation.errors import MedjuryError
from medjury.models import Message, Request, make_model

TALK = Request(
    (Message("system", "You grade."), Message("user", "a"), Message("assistant", "b"), Message("user", "c")),
    schema=SCHEMA,
    temperature=0.3,
    seed=4,
    max_tokens=77,
)


async def test_anthropic_is_asked_in_its_own_form() -> None:
    with LoopbackServer(tokens_cached=5) as server:
        model = model_at("anthropic", server.url, prompt_cache=True)
        reply = await model.ask(TALK)
        await model.close()
        (call,) = server.calls
    sent = call.json
    assert call.path == "/v1/messages"
    assert sent["output_config"]["format"] == {"type": "json_schema", "schema": SCHEMA}
    assert sent["system"] == [{"type": "text", "text": "You grade.", "cache_control": {"type": "ephemeral"}}]
    assert [(each["role"], each["content"]) for each in sent["messages"]] == [
        ("user", "a"), ("assistant", "b"), ("user", "c"),
    ]  # fmt: skip
    assert (sent["max_tokens"], sent["temperature"]) == (77, 0.3)
    assert reply.tokens_cached == 5 and reply.tokens_in > 5, "cached tokens are among the tokens in"


async def test_google_is_asked_in_its_own_form() -> None:
    with LoopbackServer(tokens_cached=5) as server:
        model = model_at("google", server.url)
        reply = await model.ask(TALK)
        await model.close()
        (call,) = server.calls
    config = call.json["generationConfig"]
    assert call.path.endswith("/models/m:generateContent")
    assert call.headers["x-goog-api-key"] == KEY
    assert config["responseJsonSchema"] == SCHEMA and config["responseMimeType"] == "application/json"
    assert (config["maxOutputTokens"], config["temperature"], config["seed"]) == (77, 0.3, 4)
    assert [each["role"] for each in call.json["contents"]] == ["user", "model", "user"]
    assert reply.tokens_cached == 5


@pytest.mark.parametrize("kind", ["anthropic", "google"])
async def test_tokens_that_cannot_be_count_as_not_reported(kind: str) -> None:
    with LoopbackServer(tokens_cached=10**30) as server:
        model = model_at(kind, server.url)
        reply = await model.ask(TALK)
        await model.close()
    assert reply.tokens_cached == 0 and 0 < reply.tokens_in < 2**53 and 0 < reply.tokens_out < 2**53


@pytest.mark.parametrize("kind", ["anthropic", "google"])
async def test_a_model_without_structured_output_is_asked_in_words(kind: str) -> None:
    refusal = "400:output_config.format: json_schema is not supported by this model (response schema)"
    with LoopbackServer([refusal]) as server:
        model = model_at(kind, server.url)
        for text in ("one", "two"):
            assert '"score"' in (await model.ask(request(text))).text
        await model.close()
        assert len(server.calls) == 3, "it is learnt once"
        assert "output_config" not in server.calls[2].json and "JSON schema" in server.calls[2].prompt


async def test_a_model_that_takes_no_temperature_is_asked_without() -> None:
    with LoopbackServer(["400:temperature is not supported by this model"]) as server:
        model = model_at("anthropic", server.url)
        await model.ask(request())
        await model.close()
        assert ["temperature" in call.json for call in server.calls] == [True, False]


@pytest.mark.parametrize("kind", ["anthropic", "google"])
async def test_the_sdk_does_not_retry_by_itself(kind: str) -> None:
    for behaviour in ("500", "reset"):
        with LoopbackServer(behaviour) as server:
            model = model_at(kind, server.url)
            with pytest.raises(Exception, match=r"500|broke"):
                await model.ask(request())
            await model.close()
            assert len(server.calls) == 1


@pytest.mark.parametrize("kind", ["anthropic", "google"])
async def test_half_a_surrogate_pair_is_replaced(kind: str) -> None:
    with LoopbackServer() as server:
        model = model_at(kind, server.url)
        await model.ask(request("lone \ud83d surrogate"))
        await model.close()
        assert "lone \ufffd surrogate" in server.calls[0].prompt


@pytest.mark.parametrize(("kind", "package"), [("anthropic", "anthropic"), ("google", "google.genai")])
async def test_a_missing_package_is_named_with_the_remedy(
    kind: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    if kind == "google":
        import google

        monkeypatch.delattr(google, "genai", raising=False)
    with pytest.raises(MedjuryError, match=rf"pip install 'medjury\[{kind}\]'"):
        await make_model(kind, model="m", url="http://127.0.0.1:1").ask(request())


@pytest.mark.parametrize("kind", ["anthropic", "google"])
def test_a_missing_key_is_named(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    with pytest.raises(MedjuryError, match=r"(ANTHROPIC|GEMINI)_API_KEY is not set"):
        make_model(kind, model="m").check()  # type: ignore[attr-defined]
