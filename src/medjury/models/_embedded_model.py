"""The model that runs inside this process: SmolLM2-135M, far too small to be trusted, and needing no network."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError, no_such
from medjury.instruments import Reason
from medjury.models._chat import ModelError, PlainModel, Reply, Request
from medjury.models._embedded_runtime import Runtime, runtime_version, shared_runtime
from medjury.models._embedded_weights import EMBEDDED, SHA256, file_sha256, weights_file
from medjury.models._faults import missing_package
from medjury.models._finish import Finish
from medjury.models._sampling import stated_sampling, with_sampling
from medjury.models._wording import without_surrogates

# The model's control words. Inside a text they must stay text, whoever wrote them there.
_CONTROL = re.compile(
    r"<(?=\|[a-z_]+\|>|(?:repo_?name|file_sep|filename|gh_stars|empty_output)>|(?:issue|jupyter)_)"
)
_SAMPLING = {"top_k": 40, "top_p": 0.95, "min_p": 0.05, "repeat_penalty": 1.0}
# Further names that the runtime knows; it would pass over any other in silence.
_SAMPLING_NAMES = (
    "min_p", "typical_p", "top_n_sigma", "repeat_penalty", "repeat_last_n", "presence_penalty", "frequency_penalty",
    "mirostat", "mirostat_tau", "mirostat_eta", "dynatemp_range", "dynatemp_exponent", "xtc_probability",
    "xtc_threshold", "dry_multiplier", "dry_base", "dry_allowed_length", "dry_penalty_last_n",
)  # fmt: skip


class EmbeddedModel(PlainModel):
    """SmolLM2-135M-Instruct, or another GGUF file given as `weights`. Models with the same settings share one
    copy in memory, which answers one question at a time. The same request gets the same reply.
    """

    host = None
    concurrency = 1
    shows_token = False  # its answers follow the schema by force
    context_window: int

    def __init__(
        self,
        *,
        name: str = "embedded",
        weights: str | None = None,
        context_window: int = 8192,
        threads: int | None = None,
        gpu_layers: int | None = None,
        vendor: str | None = None,
        top_p: float | None = None,
        top_k: int | None = None,
        sampling: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.vendor = vendor if vendor is not None else "Hugging Face" if weights is None else ""
        self._weights = None if weights is None else Path(weights).expanduser()
        self.context_window = context_window
        self._threads = threads
        self._gpu_layers = gpu_layers
        self._sampling = stated_sampling(top_p, top_k, sampling, _SAMPLING_NAMES)
        self._runtime: Runtime | None = None
        self._identity: dict[str, str] | None = None

    @property
    def identity(self) -> Mapping[str, str]:
        if self._identity is None:
            known = {
                "kind": "embedded",
                "model": EMBEDDED if self._weights is None else self._weights.stem,
                "weights": SHA256 if self._weights is None else _own_hash(self._weights),
                "runtime": runtime_version(),
                "context": str(self.context_window),
            }
            if self._gpu_layers is not None:  # sums are done in another order there
                known["gpu_layers"] = str(self._gpu_layers)
            self._identity = with_sampling(known, self._sampling)
        return self._identity

    def check(self) -> None:
        """The runtime and the weights are there."""
        if runtime_version() == "absent":
            raise missing_package(self.name, "local")
        if self._weights is None and not weights_file().exists():
            raise MedjuryError(f"model {self.name}: its weights are not here yet; run `medjury models pull`")
        if self._weights is not None and not self._weights.exists():
            raise MedjuryError(f"model {self.name}: weights: {no_such(self._weights)}")

    async def load(self) -> None:
        runtime = self._shared()
        await asyncio.get_running_loop().run_in_executor(runtime.thread, runtime.load)

    async def count_tokens(self, request: Request) -> int | None:
        """The tokens of the prompt by the model's own tokenizer; None where its template hides them."""
        runtime = self._shared()
        messages = _question(replace(request, schema=None))["messages"]
        return await asyncio.get_running_loop().run_in_executor(runtime.thread, runtime.count, messages)

    def _shared(self) -> Runtime:
        if self._runtime is None:
            self.check()
            self._runtime = shared_runtime(
                self._weights or weights_file(), self.context_window, self._threads, self._gpu_layers
            )
        return self._runtime

    async def ask(self, request: Request) -> Reply:
        runtime = self._shared()
        question = _question(request) | self._sampling
        answer = await asyncio.get_running_loop().run_in_executor(runtime.thread, runtime.ask, question)
        return self._read(answer)

    def _read(self, answer: dict[str, Any]) -> Reply:
        error = answer.get("error")
        if error is not None:
            if error.get("type") == "exceed_context_size_error":
                size = (
                    f"{error.get('n_prompt_tokens', 0):,} tokens, the model takes {error.get('n_ctx', 0):,}"
                )
                raise ModelError(Reason.CONTEXT, f"the prompt does not fit the embedded model: {size}")
            raise ModelError(Reason.PROVIDER, f"the embedded model failed ({error.get('type')})")
        choice = answer["choices"][0]
        usage = answer["usage"]
        finish: Finish = "stop" if choice["finish_reason"] == "stop" else "length"
        return Reply(
            text=choice["message"]["content"] or "",
            finish=finish,
            tokens_in=usage["prompt_tokens"],
            tokens_out=usage["completion_tokens"],
            tokens_cached=answer["tokens_cached"],
            seconds=answer["seconds"],
            model=EMBEDDED if self._weights is None else self._weights.stem,
        )

    async def close(self) -> None:
        self._runtime = None


def _question(request: Request) -> dict[str, Any]:
    question: dict[str, Any] = {
        "messages": [
            {"role": each.role, "content": _CONTROL.sub("< ", without_surrogates(each.content))}
            for each in request.messages
        ],
        "max_tokens": request.max_tokens,
        "temperature": 0.0 if request.temperature is None else request.temperature,
        "seed": 0 if request.seed is None else request.seed % 2**32,
        **_SAMPLING,
    }
    if request.schema is not None:
        question["grammar"] = _grammar(request.schema, request.max_tokens)
    return question


def _grammar(schema: Mapping[str, Any], max_tokens: int) -> str:
    """The schema as a constraint on decoding: JSON without idle white space, and texts short enough for the
    object to close within the token limit (a model this small seldom ends a text by itself)."""
    texts = max(1, json.dumps(schema).count('"type": "string"'))
    longest = max(20, min(240, 2 * max_tokens // texts))
    bounded = _bounded(schema, longest)
    style = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
    return f"%llguidance {{}}\nstart: %json {json.dumps({**bounded, 'x-guidance': style})}"


def _bounded(schema: Any, longest: int) -> Any:
    if isinstance(schema, list | tuple):
        return [_bounded(each, longest) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    copy = {key: _bounded(value, longest) for key, value in schema.items()}
    if copy.get("type") == "string" and not {"enum", "const", "maxLength"} & copy.keys():
        copy["maxLength"] = max(longest, copy.get("minLength", 0))
    return copy


def _own_hash(weights: Path) -> str:
    if not weights.exists():
        return hashlib.sha256(str(weights).encode()).hexdigest()
    return file_sha256(weights)
