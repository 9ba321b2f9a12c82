"""A judge in process by vLLM's offline engine: many questions at a time, answers that follow the schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.models._chat import Message, ModelError, Request
from medjury.models._finish import finish_of
from medjury.models._in_process.folder_model import FolderModel
from medjury.models._in_process.prompt import Template
from medjury.models._in_process.running import Engine, Generated
from medjury.models._in_process.vllm_library import Offline, Output, Vllm, vllm_library

_AT_ONCE = 64
_DTYPES = ("auto", "bfloat16", "float16", "float32")


class VllmModel(FolderModel):
    """`gpu_memory` is the share of each GPU's memory that it takes, `tensor_parallel` over how many GPUs its layers
    are split. Weights are made smaller to 4 bits only; a folder of 8-bit weights needs no word."""

    kind = "vllm"
    libraries = ("vllm",)
    extra = "vllm"
    sampling_names = ("min_p", "presence_penalty", "frequency_penalty", "repetition_penalty")
    concurrency = _AT_ONCE

    def __init__(
        self, *, weights: str, gpu_memory: float = 0.9, tensor_parallel: int = 1, **options: Any
    ) -> None:
        super().__init__(weights=weights, **options)
        self.gpu_memory, self.tensor_parallel = gpu_memory, tensor_parallel
        if not 0 < gpu_memory <= 1:
            raise MedjuryError(f"gpu_memory: is a share above 0 and at most 1, not {gpu_memory!r}")
        if self.dtype is not None and self.dtype not in _DTYPES:
            raise MedjuryError(f"dtype: is one of {', '.join(_DTYPES)}, not {self.dtype!r}")
        if self.bits == 8:
            raise MedjuryError(
                "weights: vLLM makes weights of 4 bits as it reads them, and none of 8; give a folder that holds "
                "8-bit weights, write `:4bit`, or take `kind: transformers`"
            )

    def further(self) -> dict[str, str]:
        return {} if self.tensor_parallel == 1 else {"tensor_parallel": str(self.tensor_parallel)}

    shows_token = False  # its answers follow the schema by force

    @property
    def answers_in(self) -> str:
        return "json_schema"

    def worded(self, request: Request) -> Request:
        return request

    def engine(self) -> Engine:
        settings: dict[str, Any] = {
            "dtype": self.dtype or "auto",
            "max_model_len": self.context_window,
            "gpu_memory_utilization": self.gpu_memory,
            "tensor_parallel_size": self.tensor_parallel,
            "max_num_seqs": self.concurrency,
            "seed": 0,
            "trust_remote_code": False,
            "load_format": "safetensors",
            "generation_config": "vllm",  # what the folder says of drawing words is not what the study says
            "disable_log_stats": True,
        }
        if self.bits == 4:
            settings |= {"quantization": "bitsandbytes", "load_format": "bitsandbytes"}
        return VllmEngine(
            self.label, self.folder, settings, self.context_window, self.template, self.sampling
        )


class VllmEngine:
    """The same question asked beside others may be answered otherwise: vLLM adds up in another order then."""

    def __init__(
        self,
        name: str,
        folder: Path,
        settings: Mapping[str, Any],
        window: int,
        template: Mapping[str, Any],
        sampling: Mapping[str, Any],
    ) -> None:
        self._name, self._window, self._sampling = name, window, dict(sampling)
        try:
            self._library: Vllm = vllm_library()
            self._llm: Offline = self._library.llm(str(folder), **settings)
            self._template = Template(self._llm.get_tokenizer(), dict(template))
        except Exception as error:
            first = (str(error).splitlines() or [""])[0][:300]
            raise MedjuryError(
                f"model {name}: vLLM cannot load {folder} ({type(error).__name__}: {first}). Is there a GPU with "
                "room for it? `gpu_memory` and `context_window` say how much it takes"
            ) from None

    def count(self, messages: Sequence[Message]) -> int:
        return len(self._template.tokens(messages))

    def answer(self, requests: Sequence[Request]) -> Sequence[Generated | ModelError]:
        """One prompt that does not fit would end the whole call: those are told before it."""
        said: list[Generated | ModelError | None] = []
        asked: list[tuple[int, list[int]]] = []
        for place, request in enumerate(requests):
            try:
                tokens = self._template.tokens(request.messages)
            except ModelError as error:
                said.append(error)
                continue
            if len(tokens) >= self._window:
                told = f"{len(tokens):,} tokens, the model takes {self._window:,}"
                said.append(ModelError(Reason.CONTEXT, f"the prompt does not fit {self._name}: {told}"))
                continue
            said.append(None)
            asked.append((place, tokens))
        if asked:
            for (place, tokens), one in zip(asked, self._generated(requests, asked), strict=True):
                said[place] = one if isinstance(one, ModelError) else self._read(one, requests[place], tokens)
        return [each for each in said if each is not None]

    def _generated(
        self, requests: Sequence[Request], asked: Sequence[tuple[int, list[int]]]
    ) -> Sequence[Output | ModelError]:
        prompts = [{"prompt_token_ids": tokens} for _, tokens in asked]
        try:
            drawing = [self._drawing(requests[place], tokens) for place, tokens in asked]
            found = self._llm.generate(prompts, drawing, use_tqdm=False)
        except Exception as error:  # its words may repeat a prompt: only its kind is told
            why = f"vLLM failed ({type(error).__name__})"
            if isinstance(error, MemoryError) or "outofmemory" in type(error).__name__.lower():
                why = "vLLM ran out of memory; lower gpu_memory, context_window or concurrency"
            return [ModelError(Reason.PROVIDER, f"{self._name}: {why}")] * len(asked)
        if len(found) != len(asked):
            lost = f"{self._name}: vLLM gave {len(found)} answers to {len(asked)} questions"
            return [ModelError(Reason.PROVIDER, lost)] * len(asked)
        return found

    def _read(self, output: Output, request: Request, tokens: Sequence[int]) -> Generated | ModelError:
        if not output.outputs or output.outputs[0].finish_reason is None:
            return ModelError(Reason.PROVIDER, f"{self._name}: vLLM gave no whole answer")
        if list(output.prompt_token_ids or ()) != list(tokens):
            return ModelError(Reason.PROVIDER, f"{self._name}: vLLM answered another prompt than was asked")
        one = output.outputs[0]
        finish = finish_of(one.finish_reason, one.text, len(one.token_ids), request.max_tokens)
        if finish == "length" and len(one.token_ids) < request.max_tokens:
            finish = "context"
        return Generated(one.text, finish, len(tokens), len(one.token_ids), output.num_cached_tokens or 0)

    def _drawing(self, request: Request, tokens: Sequence[int]) -> Any:
        settings: dict[str, Any] = {
            "temperature": request.temperature or 0.0,
            "seed": 0 if request.seed is None else request.seed % 2**31,
            "max_tokens": min(request.max_tokens, self._window - len(tokens)),
            **self._sampling,
        }
        if request.schema is not None:
            settings["structured_outputs"] = self._library.structured_outputs(json=dict(request.schema))
        return self._library.sampling_params(**settings)
