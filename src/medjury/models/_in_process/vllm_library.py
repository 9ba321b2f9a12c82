"""The part of vLLM that is used, with its types: the offline engine of version 0.12 and later, and nothing else.

Written from vLLM's documentation (`vllm.LLM`, `vllm.SamplingParams`, structured outputs, reproducibility) and not
yet run on vLLM itself: tests hold it against a stand-in with the same signatures.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

# No word to its makers, no log of prompts, nothing fetched, and the engine in this very process: then the order in
# which questions are taken is always the same.
ENVIRONMENT = {
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
}


class Completion(Protocol):
    """`vllm.outputs.CompletionOutput`."""

    text: str
    token_ids: Sequence[int]
    finish_reason: str | None


class Output(Protocol):
    """`vllm.outputs.RequestOutput`."""

    prompt_token_ids: Sequence[int] | None
    outputs: Sequence[Completion]
    num_cached_tokens: int | None


class Offline(Protocol):
    """`vllm.LLM`."""

    def get_tokenizer(self) -> Any: ...

    def generate(
        self, prompts: Sequence[Mapping[str, Any]], sampling_params: Sequence[Any], *, use_tqdm: bool
    ) -> Sequence[Output]: ...


class MakeOffline(Protocol):
    def __call__(self, model: str, **settings: Any) -> Offline: ...


class Make(Protocol):
    def __call__(self, **settings: Any) -> Any: ...


class Vllm(NamedTuple):
    """What is taken from the library."""

    llm: MakeOffline
    sampling_params: Make
    structured_outputs: Make


def vllm_library() -> Vllm:
    """The library. What it reads from the environment as it is imported is set before, whoever set it otherwise."""
    os.environ.update(ENVIRONMENT)
    vllm: Any = importlib.import_module("vllm")
    sampling: Any = importlib.import_module("vllm.sampling_params")
    return Vllm(vllm.LLM, vllm.SamplingParams, sampling.StructuredOutputsParams)
