"""The endpoint kinds by name, for study files: what each takes, checked before anything is opened."""

from __future__ import annotations

import datetime
import importlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.models._chat import ChatModel
from medjury.models._embedded_weights import weights_file

_TEXT: tuple[type, ...] = (str,)
_NUMBER: tuple[type, ...] = (int, float)
_WHOLE: tuple[type, ...] = (int,)
_FLAG: tuple[type, ...] = (bool,)
_TABLE: tuple[type, ...] = (dict,)

_SAMPLING = {"top_p": _NUMBER, "top_k": _WHOLE, "sampling": _TABLE}
_HTTP = {
    "model": _TEXT,
    "api_key_env": _TEXT,
    "vendor": _TEXT,
    "timeout": _NUMBER,
    "largest_body": _WHOLE,
    "context_window": _WHOLE,
    **_SAMPLING,
}
_BATCH = {"mode": _TEXT, "batch_size": _WHOLE}
_OPEN = {"proxy": _TEXT, "headers": _TABLE, "extra": _TABLE, "images": _FLAG}


_SERVED = (
    "vLLM is asked by its URL: start it where the GPU is (`vllm serve FOLDER --port 8000`) and write "
    '`kind: openai`, `url: "http://127.0.0.1:8000/v1"` and `model: FOLDER`; to run a folder of weights inside this '
    "process write `kind: transformers`"
)


@dataclass(frozen=True, slots=True)
class Kind:
    """One endpoint kind: the class that makes it and the options it takes in a study file."""

    summary: str
    module: str
    maker: str
    options: Mapping[str, tuple[type, ...]]
    required: tuple[str, ...] = ()


KINDS: Mapping[str, Kind] = {
    "openai": Kind(
        "any OpenAI-compatible endpoint: OpenAI, vLLM, Ollama, a hospital's gateway",
        "_openai.openai", "OpenAIModel",
        {"url": _TEXT, "tokenize": _TEXT, **_HTTP, **_OPEN, **_BATCH}, ("url", "model"),
    ),
    "azure": Kind(
        "Azure OpenAI: `model` is the deployment's name",
        "_openai.openai", "OpenAIModel", {"url": _TEXT, "azure_api_version": _TEXT, **_HTTP, **_OPEN},
        ("url", "model", "azure_api_version", "api_key_env"),
    ),
    "anthropic": Kind(
        "Anthropic's models, through its SDK (pip install 'medjury[anthropic]')",
        "_anthropic", "AnthropicModel", {"url": _TEXT, "prompt_cache": _FLAG, **_HTTP, **_BATCH}, ("model",),
    ),
    "google": Kind(
        "Google's models, through its SDK (pip install 'medjury[google]')",
        "_google", "GoogleModel", {"url": _TEXT, **_HTTP}, ("model",),
    ),
    "embedded": Kind(
        "a tiny model inside this process, no network (pip install 'medjury[local]'; medjury models pull)",
        "_embedded_model", "EmbeddedModel",
        {"weights": _TEXT, "context_window": _WHOLE, "threads": _WHOLE, "gpu_layers": _WHOLE, "vendor": _TEXT,
         **_SAMPLING},
        (),
    ),
    "transformers": Kind(
        "a model in a folder, run inside this process by transformers, no network (pip install 'medjury[neural]')",
        "_transformers", "TransformersModel",
        {"weights": _TEXT, "context_window": _WHOLE, "dtype": _TEXT, "device": _TEXT, "template": _TABLE,
         "vendor": _TEXT, **_SAMPLING},
        ("weights",),
    ),
    "recorded": Kind(
        "answers that another run was given, from the file that `medjury runs record` writes; no network, no key",
        "_recorded", "RecordedModel",
        {"file": _TEXT, "model": _TEXT, "vendor": _TEXT, "context_window": _WHOLE, **_SAMPLING}, ("file",),
    ),
    "scripted": Kind(
        "answers from a script, for tests and examples",
        "_scripted", "Scripted",
        {"answers": (str, list, dict), "vendor": _TEXT, "context_window": _WHOLE, **_SAMPLING}, ("answers",),
    ),
}  # fmt: skip


def make_model(kind: str, *, name: str | None = None, **options: Any) -> ChatModel:
    """The model that a study file describes. Nothing is opened and no key is read yet."""
    known = KINDS.get(kind)
    if kind in ("vllm", "vLLM"):
        raise MedjuryError(_SERVED)
    if known is None:
        raise MedjuryError(f"there is no endpoint kind {kind!r}; {nearest(kind, list(KINDS))}")
    for option, value in options.items():
        _check(kind, known, option, value)
    for option in known.required:
        if options.get(option) in (None, ""):
            raise MedjuryError(f"a model of kind {kind} needs {option!r}; add `{option}: ...` to it")
    values = {option: _plain(value) for option, value in options.items() if value is not None}
    maker = getattr(importlib.import_module(f"medjury.models.{known.module}"), known.maker)
    model: ChatModel = maker(**values) if name is None else maker(name=name, **values)
    return model


def _check(kind: str, known: Kind, option: str, given: Any) -> None:
    if option in ("api_key", "key", "token", "password"):
        raise MedjuryError(
            f"{option}: a key does not belong in a file. Put it in an environment variable and write "
            "`api_key_env: NAME_OF_THE_VARIABLE`"
        )
    if option not in known.options:
        swapped = [each for each in known.options if sorted(each) == sorted(option)]  # the likeliest slip
        hint = nearest(option, swapped or list(known.options))
        raise MedjuryError(f"a model of kind {kind} has no option {option!r}; {hint}")
    if option == "api_key_env" and not _names_a_variable(str(given)):
        raise MedjuryError(
            "api_key_env: is not the name of an environment variable; if it is the key itself, take it out of the "
            "file, put it in a variable (export LLAMA_KEY=...) and write `api_key_env: LLAMA_KEY`"
        )
    types = known.options[option]
    value: Any = _plain(given)
    if value is None:
        return
    right: bool = isinstance(value, types) and (bool in types or not isinstance(value, bool))
    if not right:
        wanted = {"str": "text", "int": "a whole number", "float": "a number", "bool": "true or false",
                  "dict": "a table", "list": "a list"}  # fmt: skip
        words = " or ".join(dict.fromkeys(wanted[each.__name__] for each in types))
        raise MedjuryError(f"{option}: must be {words}, not {value!r}")
    if types in (_NUMBER, _WHOLE) and value <= 0:
        raise MedjuryError(f"{option}: must be greater than 0, not {value!r}")


def _plain(value: Any) -> Any:
    """YAML reads a version such as 2024-10-21 as a date."""
    return value.isoformat() if isinstance(value, datetime.date) else value


def kinds_content() -> list[dict[str, Any]]:
    """Every kind with what it takes and what it needs."""
    return [
        {"kind": name, "summary": kind.summary, "options": list(kind.options), "needed": list(kind.required)}
        for name, kind in KINDS.items()
    ]


def kinds_text() -> str:
    """Every kind with its options, and whether the embedded model is here, for a reader."""
    lines = []
    for name, kind in KINDS.items():
        words = [f"{option} (needed)" if option in kind.required else option for option in kind.options]
        lines += [f"{name}: {kind.summary}", f"    options: {', '.join(words)}"]
    here = "here" if weights_file().exists() else "not here yet; run `medjury models pull`"
    return "\n".join([*lines, "", f"The embedded model's weights are {here} ({weights_file()})."])


def _names_a_variable(text: str) -> bool:
    """Whether a text can be a variable's name and does not look like a key, which must not be repeated anywhere."""
    like_a_key = (
        len(text) >= 20 and any(each.islower() for each in text) and any(each.isdigit() for each in text)
    )
    return re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", text) is not None and (text in os.environ or not like_a_key)
