"""A judge in process by transformers: any causal language model in a folder, one question at a time."""

from __future__ import annotations

import asyncio
import copy
import importlib.util
import json
import os
import re
import threading
import time
import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.models._chat import Message, ModelError, PlainModel, Reply, Request
from medjury.models._faults import missing_package
from medjury.models._finish import Finish
from medjury.models._folder_of_weights import (
    folder_fingerprint,
    loading_options,
    read_whole,
    reading_weights,
    refuse_bits_without_libraries,
    refuse_incomplete,
    split_bits,
    stated_window,
)
from medjury.models._sampling import stated_sampling, with_sampling
from medjury.models._wording import with_instructions_first, without_surrogates, worded

_DEFAULT_WINDOW = 4096  # where neither the study nor the folder says
_SEVERAL = ("auto", "balanced", "sequential")  # layers are shared out over the GPUs that are there
_DTYPES = ("auto", "bfloat16", "float16", "float32")
_SAMPLING = ("min_p", "typical_p", "epsilon_cutoff", "eta_cutoff", "repetition_penalty")
_LIBRARIES = ("transformers", "torch")
_Result = TypeVar("_Result")


class TransformersModel(PlainModel):
    """A causal language model with a chat template, in a folder as transformers saves it; `FOLDER:4bit` and
    `FOLDER:8bit` make its weights smaller as they are read. Models with the same settings share one copy in memory.

    `device` is where it runs: the GPU where there is one, else the CPU; `auto` shares its layers out over all
    GPUs. `dtype` is in what numbers; without it in those that it was saved in.
    """

    host = None
    concurrency: int = 1
    answers_in: str = "text"

    def __init__(
        self,
        *,
        weights: str,
        name: str | None = None,
        device: str | None = None,
        context_window: int | None = None,
        dtype: str | None = None,
        template: Mapping[str, Any] | None = None,
        vendor: str | None = None,
        top_p: float | None = None,
        top_k: int | None = None,
        sampling: Mapping[str, Any] | None = None,
    ) -> None:
        if dtype is not None and dtype not in _DTYPES:
            raise MedjuryError(f"dtype: is one of {', '.join(_DTYPES)}, not {dtype!r}")
        self.name = name or "transformers"
        self.vendor = vendor or ""
        place, self.bits = split_bits(weights)
        self.folder = Path(place).expanduser()
        self.context_window: int = context_window or stated_window(self.folder) or _DEFAULT_WINDOW
        self.device = device
        self.dtype = dtype
        self.template = dict(template or {})
        self.sampling = stated_sampling(top_p, top_k, sampling, _SAMPLING)
        self._identity: dict[str, str] | None = None
        self._running: Running | None = None

    @property
    def label(self) -> str:
        """What the model is called in ratings and reports."""
        named = self.folder.resolve().name
        return f"{named}:{self.bits}bit" if self.bits else named

    @property
    def identity(self) -> Mapping[str, str]:
        if self._identity is None:
            known = {
                "kind": "transformers",
                "model": self.label,
                "weights": folder_fingerprint(self.folder),
                "runtime": ", ".join(f"{each} {_version(each)}" for each in _LIBRARIES),
                "context": str(self.context_window),
            }
            if self.dtype is not None:
                known["dtype"] = self.dtype
            if self.template:
                known["template"] = json.dumps(self.template, sort_keys=True)
            if self.device is not None:
                known["device"] = self.device
            self._identity = with_sampling(known, self.sampling)
        return self._identity

    def check(self) -> None:
        """The library and a whole folder are there. Nothing is loaded: that may be another machine's part."""
        if any(importlib.util.find_spec(each) is None for each in _LIBRARIES):
            raise missing_package(self.name, "neural")
        refuse_incomplete(self.name, self.folder)
        if self.bits is not None:
            refuse_bits_without_libraries(f"{self.folder}:{self.bits}bit")

    async def load(self) -> None:
        await self._shared().do(lambda _: None)

    async def count_tokens(self, request: Request) -> int | None:
        messages = self.worded(request).messages
        return await self._shared().do(lambda engine: engine.count(messages))

    async def ask(self, request: Request) -> Reply:
        worded = self.worded(request)
        return await self._shared().do(lambda engine: engine.answer(worded))

    async def close(self) -> None:
        self._running = None

    def worded(self, request: Request) -> Request:
        """The question as the engine is given it: a schema is not enforced, and spelled out."""
        if request.schema is None:
            return request
        messages = worded(request, native=False)
        return Request(messages, None, request.max_tokens, request.temperature, request.seed)

    def engine(self) -> TransformersEngine:
        """The weights, loaded. `MedjuryError` where they cannot be."""
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

    def _shared(self) -> Running:
        if self._running is None:
            self.check()
            key = str(self.folder.resolve()), json.dumps(dict(self.identity), sort_keys=True)
            # What runs must not hold this model, which holds it: else neither would ever leave memory.
            self._running = shared(key, copy.copy(self).engine)
        return self._running


class Running:
    """One copy of a model and the one thread that runs it. It is loaded when first needed."""

    def __init__(self, load: Callable[[], TransformersEngine]) -> None:
        self._load = load
        self._engine: TransformersEngine | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="medjury-model")
        weakref.finalize(self, self._thread.shutdown, wait=False)

    async def do(self, work: Callable[[TransformersEngine], _Result]) -> _Result:
        """What comes of this work, once it has its turn; what is given up before that is not done."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, lambda: work(self._loaded()))

    def _loaded(self) -> TransformersEngine:
        if self._engine is None:
            self._engine = self._load()
        return self._engine


_lock = threading.Lock()
_running: weakref.WeakValueDictionary[Hashable, Running] = weakref.WeakValueDictionary()


def shared(key: Hashable, load: Callable[[], TransformersEngine]) -> Running:
    """The copy that has this key; all models with the same settings share one."""
    with _lock:
        found = _running.get(key)
        if found is None:
            found = _running[key] = Running(load)
        return found


# Marks of templates that are ordinary text to their tokenizers.
_MARKS = (
    r"\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\]",
    r"<</?SYS>>",
    r"<\|[^|<>\s]{1,40}\|>",
)


class Template:
    """`settings` are what the template itself takes, such as `enable_thinking: false`."""

    def __init__(self, tokenizer: Any, settings: dict[str, Any]) -> None:
        self._tokenizer = tokenizer
        self._settings = settings
        special = {each.content for each in tokenizer.added_tokens_decoder.values() if each.special}
        special |= set(tokenizer.all_special_tokens)
        words = sorted((re.escape(each) for each in special if len(each) > 1), key=len, reverse=True)
        self._control = re.compile("|".join((*words, *_MARKS)))

    def tokens(self, messages: Sequence[Message]) -> list[int]:
        """The prompt up to where the answer begins."""
        try:
            text = self._text(messages)
        except (
            Exception
        ):  # templates refuse in words of their own; one without a role for instructions is common
            try:
                text = self._text(with_instructions_first(messages))
            except Exception as error:
                raise ModelError(
                    Reason.PROVIDER,
                    f"the model's chat template does not take this question ({type(error).__name__})",
                    fatal=True,
                ) from None
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def _text(self, messages: Sequence[Message]) -> str:
        said = [{"role": each.role, "content": self._harmless(each.content)} for each in messages]
        return str(
            self._tokenizer.apply_chat_template(
                said, tokenize=False, add_generation_prompt=True, **self._settings
            )
        )

    def _harmless(self, text: str) -> str:
        """Control words inside a text stay text, whoever wrote them there."""
        return self._control.sub(lambda found: f"{found[0][0]} {found[0][1:]}", without_surrogates(text))


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

    def answer(self, request: Request) -> Reply:
        torch, started = self._torch, time.perf_counter()
        try:
            asked = self._template.tokens(request.messages)
            if len(asked) >= self._window:
                raise ModelError(
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
        except ModelError:
            raise
        except Exception as error:  # its words may repeat a prompt: only its kind is shown
            if not _is_out_of_memory(error):
                why = f"{self._name} failed ({type(error).__name__})"
                raise ModelError(Reason.PROVIDER, why) from None
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
            raise ModelError(
                Reason.PROVIDER,
                f"{self._name} ran out of memory on a prompt of {len(asked):,} tokens; shorten the cases, "
                "lower max_tokens, or give it a larger device or weights of fewer bits",
            ) from None
        ended = bool(said) and said[-1] in self._ends
        finish: Finish = "stop" if ended else "length" if room == request.max_tokens else "context"
        text = self._tokenizer.decode(said, skip_special_tokens=True)
        seconds = time.perf_counter() - started
        return Reply(text, finish, len(asked), len(said), seconds=seconds, model=self._name)

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


def _version(library: str) -> str:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return "absent"
