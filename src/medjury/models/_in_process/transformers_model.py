"""A judge in process by transformers: any causal language model in a folder, one question at a time."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.models._chat import Message, ModelError, Request
from medjury.models._finish import Finish
from medjury.models._in_process.bits import loading_options
from medjury.models._in_process.folder_model import FolderModel
from medjury.models._in_process.prompt import Template
from medjury.models._in_process.running import Engine, Generated
from medjury.models._in_process.weights import read_whole, reading_weights

_SEVERAL = ("auto", "balanced", "sequential")  # layers are shared out over the GPUs that are there
_DTYPES = ("auto", "bfloat16", "float16", "float32")


class TransformersModel(FolderModel):
    """`device` is where it runs: the GPU where there is one, else the CPU; `auto` shares its layers out over all
    GPUs. `dtype` is in what numbers; without it in those that it was saved in."""

    kind = "transformers"
    libraries = ("transformers", "torch")
    extra = "neural"
    sampling_names = ("min_p", "typical_p", "epsilon_cutoff", "eta_cutoff", "repetition_penalty")

    def __init__(self, *, weights: str, device: str | None = None, **options: Any) -> None:
        super().__init__(weights=weights, **options)
        self.device = device
        if self.dtype is not None and self.dtype not in _DTYPES:
            raise MedjuryError(f"dtype: is one of {', '.join(_DTYPES)}, not {self.dtype!r}")

    def further(self) -> dict[str, str]:
        return {} if self.device is None else {"device": self.device}

    def engine(self) -> Engine:
        return TransformersEngine(
            self.label,
            self.folder,
            self.bits,
            self.device,
            self.dtype or "auto",
            self.context_window,
            self.template,
            self.sampling,
        )


class TransformersEngine:
    """The same question gets the same answer on the same machine: a seed begins every answer anew."""

    def __init__(
        self,
        name: str,
        folder: Path,
        bits: int | None,
        device: str | None,
        dtype: str,
        window: int,
        template: Mapping[str, Any],
        sampling: Mapping[str, Any],
    ) -> None:
        # Read when the library is imported. A local folder needs no hub, and some versions ask it all the same.
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        import torch
        import transformers

        self._torch: Any = torch
        self._name, self._window, self._sampling = name, window, dict(sampling)
        where = device or ("cuda" if torch.cuda.is_available() else "cpu")
        if where.startswith("cuda") and not torch.cuda.is_available():
            raise MedjuryError(f"model {name}: `device: {where}`, but there is no CUDA device here")
        if bits is not None and not torch.cuda.is_available():
            raise MedjuryError(
                f"model {name}: weights of {bits} bits need a CUDA device, and there is none here; take "
                f"`:{bits}bit` out, or say `gpus: 1` and judge on a cluster"
            )
        options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
        placed: dict[str, Any] = {"dtype": dtype, "use_safetensors": True}
        if bits is not None:
            place = f"{folder}:{bits}bit"
            placed |= loading_options(place, torch, transformers, "cuda" if where in _SEVERAL else where)
        if where in _SEVERAL:
            placed["device_map"] = where
        try:
            with reading_weights(transformers):
                self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(str(folder), **options)
                model = read_whole(transformers.AutoModelForCausalLM, str(folder), **options, **placed)
            if "device_map" not in placed:
                model = model.to(where)
        except Exception as error:  # whatever a damaged folder or a full device makes the library say
            if _is_out_of_memory(error):
                raise MedjuryError(f"model {name}: {folder} does not fit into memory ({where})") from None
            first = (str(error).splitlines() or [""])[0][:300]
            raise MedjuryError(
                f"model {name}: {folder} cannot be loaded ({type(error).__name__}: {first})"
            ) from None
        self._model: Any = model.eval()
        self._template = Template(self._tokenizer, dict(template))
        self._ends = _ends(model, self._tokenizer)
        # What the folder says of drawing words is not what the study says: only how an answer ends is kept of it.
        padding = self._tokenizer.pad_token_id
        self._model.generation_config = transformers.GenerationConfig(
            eos_token_id=self._ends, pad_token_id=self._ends[0] if padding is None and self._ends else padding
        )

    def count(self, messages: Sequence[Message]) -> int:
        return len(self._template.tokens(messages))

    def answer(self, requests: Sequence[Request]) -> Sequence[Generated | ModelError]:
        return [self._answer(request) for request in requests]

    def _answer(self, request: Request) -> Generated | ModelError:
        torch = self._torch
        try:
            asked = self._template.tokens(request.messages)
            if len(asked) >= self._window:
                return ModelError(
                    Reason.CONTEXT,
                    f"the prompt does not fit {self._name}: {len(asked):,} tokens, and it takes {self._window:,}",
                )
            room = min(request.max_tokens, self._window - len(asked))
            with torch.inference_mode(), torch.random.fork_rng(devices=self._devices()):
                torch.manual_seed(0 if request.seed is None else request.seed % 2**63)
                tokens = torch.tensor([asked], device=self._model.device)
                said = self._model.generate(
                    input_ids=tokens,
                    attention_mask=torch.ones_like(tokens),
                    max_new_tokens=room,
                    **self._drawing(request.temperature or 0.0),
                )[0][len(asked) :].tolist()
        except ModelError as error:
            return error
        except Exception as error:  # its words may repeat a prompt: only its kind is told
            if not _is_out_of_memory(error):
                return ModelError(Reason.PROVIDER, f"{self._name} failed ({type(error).__name__})")
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
            return ModelError(
                Reason.PROVIDER,
                f"{self._name} ran out of memory on a prompt of {len(asked):,} tokens; shorten the cases, "
                "lower max_tokens, or give it a larger device or weights of fewer bits",
            )
        ended = bool(said) and said[-1] in self._ends
        finish: Finish = "stop" if ended else "length" if room == request.max_tokens else "context"
        text = self._tokenizer.decode(said, skip_special_tokens=True)
        return Generated(text, finish, len(asked), len(said))

    def _drawing(self, temperature: float) -> dict[str, Any]:
        if temperature <= 0:
            kept = {name: said for name, said in self._sampling.items() if name == "repetition_penalty"}
            return {"do_sample": False, **kept}
        return {"do_sample": True, "temperature": temperature, "top_p": 1.0, "top_k": 0, **self._sampling}

    def _devices(self) -> list[int]:
        return list(range(self._torch.cuda.device_count())) if self._torch.cuda.is_available() else []


def _ends(model: Any, tokenizer: Any) -> list[int]:
    """The tokens that end an answer, as the model's own files say."""
    stated = getattr(model.generation_config, "eos_token_id", None)
    listed = stated if isinstance(stated, list) else [stated]
    return list(dict.fromkeys(each for each in (*listed, tokenizer.eos_token_id) if each is not None))


def _is_out_of_memory(error: BaseException) -> bool:
    said = str(error).lower()
    return (
        isinstance(error, MemoryError)
        or type(error).__name__ == "OutOfMemoryError"
        or (isinstance(error, RuntimeError) and ("out of memory" in said or "can't allocate memory" in said))
    )
