"""A stand-in with the signatures of vLLM's offline engine (0.12 and later), which cannot be installed where these
tests run. It refuses what vLLM refuses: settings it does not know, and prompts that do not fit.

It answers with the smallest JSON object that its schema allows. Files beside the weights change that: `broken`
(cannot be loaded), `slow` (seconds for each call). Every load is written down in `loads.log`, with the process and
its parent.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from vllm.outputs import CompletionOutput, RequestOutput
from vllm.sampling_params import SamplingParams

__all__ = ["LLM", "SamplingParams"]
_KNOWN = {
    "dtype", "max_model_len", "gpu_memory_utilization", "tensor_parallel_size", "max_num_seqs", "seed",
    "trust_remote_code", "load_format", "generation_config", "disable_log_stats", "quantization",
}  # fmt: skip


class Token:
    """As `tokenizers.AddedToken`."""

    def __init__(self, content: str) -> None:
        self.content, self.special = content, True


class Tokenizer:
    """One token for every sign, and one for each mark."""

    marks = ("<|end|>", "<|system|>", "<|user|>", "<|assistant|>")
    all_special_tokens: ClassVar[list[str]] = list(marks)
    added_tokens_decoder: ClassVar[dict[int, Token]] = {
        0x110000 + place: Token(mark) for place, mark in enumerate(marks)
    }

    def apply_chat_template(
        self, conversation: Sequence[dict[str, str]], tokenize: bool, add_generation_prompt: bool, **_: Any
    ) -> str:
        assert not tokenize and add_generation_prompt
        return (
            "".join(f"<|{each['role']}|>{each['content']}<|end|>" for each in conversation) + "<|assistant|>"
        )

    def __call__(self, text: str, *, add_special_tokens: bool) -> dict[str, list[int]]:
        assert not add_special_tokens
        tokens: list[int] = []
        while text:
            mark = next((place for place, each in enumerate(self.marks) if text.startswith(each)), None)
            tokens.append(ord(text[0]) if mark is None else 0x110000 + mark)
            text = text[1 if mark is None else len(self.marks[mark]) :]
        return {"input_ids": tokens}


class LLM:
    def __init__(self, model: str, **settings: Any) -> None:
        assert os.environ["VLLM_NO_USAGE_STATS"] == "1" and os.environ["HF_HUB_OFFLINE"] == "1"
        if unknown := set(settings) - _KNOWN:
            raise TypeError(f"EngineArgs.__init__() got an unexpected keyword argument {unknown}")
        self.folder, self.settings = Path(model), settings
        with (self.folder / "loads.log").open("a") as log:
            log.write(f"{os.getpid()} {os.getppid()}\n")
        if (self.folder / "broken").exists():
            raise RuntimeError("Engine core initialization failed. See root cause above.")
        self.calls: list[int] = []

    def get_tokenizer(self) -> Tokenizer:
        return Tokenizer()

    def generate(
        self,
        prompts: Sequence[dict[str, list[int]]],
        sampling_params: Sequence[SamplingParams],
        *,
        use_tqdm: bool = True,
    ) -> list[RequestOutput]:
        assert len(prompts) == len(sampling_params) and not use_tqdm
        self.calls.append(len(prompts))
        longest = max(len(each["prompt_token_ids"]) for each in prompts)
        if longest > self.settings["max_model_len"]:
            raise ValueError(f"The decoder prompt (length {longest}) is longer than the maximum model length")
        if (self.folder / "slow").exists():
            time.sleep(float((self.folder / "slow").read_text()))
        return [
            self._one(each["prompt_token_ids"], how)
            for each, how in zip(prompts, sampling_params, strict=True)
        ]

    def _one(self, tokens: list[int], how: SamplingParams) -> RequestOutput:
        text = "I would say: fine."
        if how.structured_outputs is not None:
            asked = how.structured_outputs.json
            text = json.dumps(_filled(asked))
        cut = text[: how.max_tokens]
        ended = "stop" if cut == text else "length"
        return RequestOutput(tokens, [CompletionOutput(cut, [ord(each) for each in cut], ended)], 2)


def _filled(schema: dict[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("type") == "object":
        return {name: _filled(part) for name, part in schema["properties"].items()}
    if schema.get("type") == "array":
        return []
    return schema.get("minimum", 1) if schema.get("type") in ("integer", "number") else "as the text says"
