"""Judges in process by vLLM, held against a stand-in with its signatures: never run on vLLM itself."""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.folder_of_weights import FAKE_VLLM, write_weights
from tests.models.samples import SCHEMA, request

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.models import Message, ModelError, Request, VllmModel, make_model
from medjury.models._in_process.vllm_library import ENVIRONMENT

WINDOW = 400


@pytest.fixture(autouse=True)
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ENVIRONMENT:
        monkeypatch.setenv(name, "whatever it was")
    monkeypatch.syspath_prepend(str(FAKE_VLLM))
    importlib.invalidate_caches()
    yield
    for name in [each for each in sys.modules if each.partition(".")[0] == "vllm"]:
        del sys.modules[name]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_weights(tmp_path / "judge", window=WINDOW)


def made(folder: Path | str, **options: Any) -> VllmModel:
    model = make_model("vllm", name="local", weights=str(folder), **options)
    assert isinstance(model, VllmModel)
    model.check()
    return model


def engine(model: VllmModel) -> Any:
    return model._shared()._loaded()


async def test_it_follows_the_schema_and_tells_tokens_and_ends(folder: Path) -> None:
    model = made(folder)
    reply = await model.ask(request("Good?", seed=2**40, temperature=0.7))
    assert json.loads(reply.text) == {"explanation": "as the text says", "score": 1}
    prompt = "You grade." + "Good?"
    assert (reply.finish, reply.tokens_in, reply.tokens_out) == ("stop", len(prompt) + 5, len(reply.text))
    assert reply.tokens_cached == 2 and reply.model == "judge"
    assert await model.count_tokens(request("Good?")) == len(prompt) + 5


async def test_an_answer_that_is_cut_says_by_what(folder: Path) -> None:
    model = made(folder)
    cut = await model.ask(request("Good?", max_tokens=10))
    assert cut.finish == "length" and cut.tokens_out == 10
    full = await model.ask(request("x" * (WINDOW - 20 - 5), max_tokens=100))
    assert full.finish == "context" and full.tokens_in + full.tokens_out == WINDOW


async def test_a_prompt_that_does_not_fit_takes_no_other_with_it(folder: Path) -> None:
    model = made(folder)
    asked = [model.ask(request(text)) for text in ("a", "x" * WINDOW, "b")]
    first, long, second = await asyncio.gather(*asked, return_exceptions=True)
    assert isinstance(long, ModelError) and long.reason is Reason.CONTEXT
    assert "tokens, the model takes 400" in long.message
    assert not isinstance(first, BaseException) and not isinstance(second, BaseException)


async def test_questions_that_came_together_are_answered_together(folder: Path) -> None:
    model = made(folder)
    asked = [Request((Message("user", f"{n}"),), SCHEMA, 50 + n) for n in range(150)]
    replies = await asyncio.gather(*map(model.ask, asked))
    assert [each.tokens_in for each in replies] == [len(each.messages[0].content) + 3 for each in asked]
    assert max(engine(model)._llm.calls) == 64 and len(engine(model)._llm.calls) <= 5


async def test_a_failure_of_the_engine_is_no_answer_and_repeats_no_prompt(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = made(folder)
    await model.load()

    def fail(*_: Any, **__: Any) -> None:
        raise ValueError("the prompt 'secret' is refused")

    with monkeypatch.context() as patched:
        patched.setattr(engine(model)._llm, "generate", fail)
        with pytest.raises(ModelError, match=r"vLLM failed \(ValueError\)$") as caught:
            await model.ask(request("secret"))
        assert caught.value.reason is Reason.PROVIDER
        patched.setattr(engine(model)._llm, "generate", lambda *_, **__: [])
        with pytest.raises(ModelError, match="0 answers to 1 questions"):
            await model.ask(request("secret"))
    assert (await model.ask(request())).text


async def test_an_answer_to_another_prompt_is_not_taken(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = made(folder)
    await model.load()
    real = engine(model)._llm.generate
    monkeypatch.setattr(engine(model)._llm, "generate", lambda *a, **k: real(*a, **k)[::-1])
    several = [model.ask(request("a")), model.ask(request("bb"))]
    outcomes = await asyncio.gather(*several, return_exceptions=True)
    assert all("another prompt" in str(each) for each in outcomes if isinstance(each, ModelError))
    assert any(isinstance(each, ModelError) for each in outcomes)


async def test_what_the_engine_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MedjuryError, match=r"weights of 4 bits need .*medjury\[quantised\]"):
        monkeypatch.setattr("medjury.models._in_process.bits._NEEDED", ("no_such_library",))
        made(f"{folder}:4bit")
    monkeypatch.setattr("medjury.models._in_process.bits._NEEDED", ())
    model = made(f"{folder}:4bit", gpu_memory=0.5, tensor_parallel=2, dtype="float16")
    await model.load()
    settings = engine(model)._llm.settings
    told = {"quantization": "bitsandbytes", "load_format": "bitsandbytes", "max_model_len": WINDOW,
            "gpu_memory_utilization": 0.5, "tensor_parallel_size": 2, "trust_remote_code": False,
            "generation_config": "vllm"}  # fmt: skip
    assert told.items() <= settings.items()
    assert model.identity["model"] == "judge:4bit" and model.identity["tensor_parallel"] == "2"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"weights": "x:8bit"}, "write `:4bit`"),
        ({"weights": "x", "gpu_memory": 1.5}, "gpu_memory: is a share"),
        ({"weights": "x", "dtype": "int4"}, "dtype: is one of"),
        ({}, "needs 'weights'"),
    ],
)
def test_what_cannot_be_is_refused_as_the_file_is_read(options: dict[str, Any], told: str) -> None:
    with pytest.raises(MedjuryError, match=told):
        make_model("vllm", name="x", **options)


async def test_weights_that_cannot_be_loaded_are_a_refusal(folder: Path) -> None:
    (folder / "broken").touch()
    with pytest.raises(MedjuryError, match=r"vLLM cannot load .*judge .*Is there a GPU"):
        await made(folder).load()


def test_without_vllm_the_error_says_what_to_install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each != str(FAKE_VLLM)])
    importlib.invalidate_caches()
    if importlib.util.find_spec("vllm"):
        pytest.skip("vllm is here")
    with pytest.raises(MedjuryError, match=r"pip install 'medjury\[vllm\]'"):
        make_model("vllm", name="x", weights=str(folder)).check()
