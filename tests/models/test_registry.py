"""Models by name, as a study file gives them: mistakes are told before anything is opened."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest

from medjury.foundation.errors import MedjuryError
from medjury.models import KINDS, ChatModel, RecordedAs, make_model, write_answers

LEAST: dict[str, dict[str, Any]] = {
    "openai": {"url": "http://127.0.0.1:1/v1", "model": "llama-3.3"},
    "azure": {
        "url": "https://x.openai.azure.com",
        "model": "gpt",
        "azure_api_version": "2024-10-21",
        "api_key_env": "K",
    },
    "anthropic": {"model": "claude-sonnet-4-5"},
    "google": {"model": "gemini-2.5-flash"},
    "embedded": {},
    "transformers": {"weights": "no/such/folder"},
    "scripted": {"answers": "fine"},
}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "recorded"])
def test_every_kind_is_made_and_speaks_the_protocol(kind: str) -> None:
    model = make_model(kind, name="juror", **LEAST[kind])
    assert isinstance(model, ChatModel)
    assert model.name == "juror" and model.identity["kind"] == kind
    assert all(isinstance(value, str) for value in model.identity.values())
    assert make_model(kind, name="other", **LEAST[kind]).identity == model.identity
    assert (model.host is None) == (kind in ("embedded", "transformers", "scripted"))


def test_a_recorded_model_speaks_the_protocol_and_is_the_model_that_was_recorded(tmp_path: Path) -> None:
    identity = {"kind": "openai", "model": "llama-3.3"}
    write_answers(tmp_path / "a.jsonl", [RecordedAs(names=["juror"], identity=identity, vendor="Meta")], [])
    model = make_model("recorded", name="juror", file=str(tmp_path / "a.jsonl"))
    assert isinstance(model, ChatModel) and model.host is None and model.vendor == "Meta"
    assert model.identity == make_model("openai", **LEAST["openai"]).identity == identity


def test_the_name_is_the_models_where_none_is_given() -> None:
    assert make_model("openai", **LEAST["openai"]).name == "llama-3.3"
    assert make_model("embedded").name == "embedded"


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        ("opnai", {}, r"no endpoint kind 'opnai'; did you mean 'openai'\?"),
        (
            "vllm",
            {"weights": "models/judge", "gpu_memory": 0.8},
            r"`vllm serve FOLDER.*`kind: openai`, `url: ",
        ),
        ("openai", {"url": "http://x/v1"}, "kind openai needs 'model'"),
        ("openai", {**LEAST["openai"], "modle": "x"}, r"no option 'modle'; did you mean 'model'\?"),
        ("openai", {**LEAST["openai"], "api_key": "sk-1"}, "api_key_env"),
        ("openai", {**LEAST["openai"], "timeout": "soon"}, "timeout: must be a whole number or a number"),
        ("openai", {**LEAST["openai"], "timeout": 0}, "timeout: must be greater than 0"),
        ("openai", {**LEAST["openai"], "timeout": True}, "timeout: must be"),
        ("openai", {"url": "gateway/v1", "model": "m"}, "is not an address"),
        ("embedded", {"url": "http://x"}, "kind embedded has no option 'url'"),
        ("scripted", {}, "needs 'answers'"),
    ],
)
def test_a_mistake_is_named_with_its_remedy(kind: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(MedjuryError, match=words):
        make_model(kind, **options)


def test_a_version_that_yaml_read_as_a_date_is_a_version() -> None:
    options = LEAST["azure"] | {"azure_api_version": datetime.date(2024, 10, 21)}
    assert "api-version=2024-10-21" in make_model("azure", **options)._address  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("model", "vendor"),
    [("gpt-4o", "OpenAI"), ("meta-llama/Llama-3.3-70B", "Meta"), ("Qwen2.5", "Alibaba"), ("home-made", "")],
)
def test_the_vendor_is_read_from_the_name_unless_given(model: str, vendor: str) -> None:
    assert make_model("openai", url="http://127.0.0.1:1", model=model).vendor == vendor
    assert make_model("openai", url="http://127.0.0.1:1", model=model, vendor="Us").vendor == "Us"
