"""The weights in memory and the one thread that runs them, shared by all embedded models of the process.

The library can only be had with its HTTP server inside. It is given a Unix socket in a private folder, and that
address is removed as soon as it exists: no network socket is opened, and nobody can connect.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.models._embedded_weights import FILE, SHA256, file_sha256

_lock = threading.Lock()
_Key = tuple[str, int, int | None, int | None]
_runtimes: weakref.WeakValueDictionary[_Key, Runtime] = weakref.WeakValueDictionary()


def runtime_version() -> str:
    """The library's version, which is part of a model's identity; `absent` where it is not installed."""
    try:
        return f"xllamacpp {metadata.version('xllamacpp')}"
    except metadata.PackageNotFoundError:
        return "absent"


def shared_runtime(
    weights: Path, context: int, threads: int | None, gpu_layers: int | None = None
) -> Runtime:
    """The runtime for these settings; loaded at its first question."""
    key = (str(weights.resolve()), context, threads, gpu_layers)
    with _lock:
        runtime = _runtimes.get(key)
        if runtime is None:
            runtime = _runtimes[key] = Runtime(weights, context, threads, gpu_layers)
        return runtime


def _idle_cores() -> int:
    """Threads wait for each other after every step, so that one without a core of its own slows all the
    others: take only cores that are idle now. The reply does not depend on their number."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        before = _processor_times()
        time.sleep(0.1)
        total, idle = (after - was for after, was in zip(_processor_times(), before, strict=True))
    except OSError:  # not Linux
        return max(1, min(8, cores))
    return max(1, min(8, round(cores * idle / max(1, total))))


def _processor_times() -> tuple[int, int]:
    """All the time of all processors so far, and the idle part of it."""
    first = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0]
    times = [int(word) for word in first.split()[1:9]]
    return sum(times), times[3] + times[4]


class Runtime:
    """One copy of the weights. `ask` runs in `thread` only, so that there is one decode at a time.

    Replies do not depend on what was asked before. The start that a prompt shares with the one before it is
    taken from memory; so that this changes no bit of the reply, (1) flash attention is off, whose sums depend
    on the number of threads, (2) a prompt is first read in, and then its last token is evaluated alone, whether
    much or little of it was in memory, and (3) what the model said itself is never reused as part of a prompt.
    """

    def __init__(
        self, weights: Path, context: int, threads: int | None, gpu_layers: int | None = None
    ) -> None:
        self._weights = weights
        self._context = context
        self._threads = threads
        self._gpu_layers = gpu_layers
        self._server: Any = None
        self._read: str | None = None  # the hash of the prompt that is read in
        self._messages: list[dict[str, str]] = []
        self._tokens = 0
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="medjury-embedded")
        weakref.finalize(self, self.thread.shutdown, wait=False)

    def load(self) -> None:
        """Once; where it cannot be done, every question says so."""
        if self._server is None:
            self._server = self._load()

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """The library's answer, with the seconds it took and the tokens that were in memory."""
        self.load()
        started = time.perf_counter()
        messages = question["messages"]
        prompt = hashlib.sha256(json.dumps(messages).encode()).hexdigest()
        if prompt != self._read:
            continued = messages[: len(self._messages)] == self._messages
            reading = {
                "messages": messages,
                "max_tokens": 1,
                "temperature": 0.0,
                "cache_prompt": not continued,
            }
            read: dict[str, Any] = self._server.handle_chat_completions(reading)
            if "error" in read:
                return read | {"seconds": 0.0, "tokens_cached": 0}
            cached = read["usage"]["prompt_tokens_details"]["cached_tokens"]
            self._read, self._messages = prompt, messages
            self._tokens = read["usage"]["prompt_tokens"]
        else:
            cached = self._tokens
        answer: dict[str, Any] = self._server.handle_chat_completions(question | {"cache_prompt": True})
        return answer | {"seconds": time.perf_counter() - started, "tokens_cached": cached}

    def count(self, messages: list[dict[str, str]]) -> int | None:
        """How many tokens a prompt has, counted by the library without reading it in: with padding that no context
        holds, it refuses the prompt and says how long it is. What is in memory stays there. None where the
        model's template takes no second message by the user."""
        self.load()
        padding = {"role": "user", "content": " a" * (self._context + 256)}
        once, twice = (self._refused_at([*messages, *[padding] * times]) for times in (1, 2))
        return None if once is None or twice is None else 2 * once - twice

    def _refused_at(self, messages: list[dict[str, str]]) -> int | None:
        question = {"messages": messages, "max_tokens": 1, "cache_prompt": True}
        error = self._server.handle_chat_completions(question).get("error") or {}
        length = error.get("n_prompt_tokens")
        return length if error.get("type") == "exceed_context_size_error" else None

    def _load(self) -> Any:
        import xllamacpp

        if self._weights.name == FILE and file_sha256(self._weights) != SHA256:
            raise MedjuryError(
                f"{self._weights}: the weights are damaged; delete the file and run `medjury models pull`"
            )
        settings = xllamacpp.CommonParams()
        settings.model.path = str(self._weights)
        settings.n_ctx = self._context
        settings.n_parallel = 1
        if self._gpu_layers is not None:
            settings.n_gpu_layers = self._gpu_layers
        settings.cache_ram_mib = 0
        settings.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
        settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = self._threads or _idle_cores()
        # Threads that wait by spinning are in each other's way on a busy machine: minutes instead of seconds.
        settings.cpuparams.poll = settings.cpuparams_batch.poll = 0
        settings.warmup = False
        settings.verbosity = -1  # nothing of a prompt may reach a log
        settings.offline = True
        settings.ui = settings.endpoint_slots = settings.endpoint_metrics = settings.endpoint_props = False
        with tempfile.TemporaryDirectory(prefix="medjury-") as folder:  # private: mode 0700
            settings.hostnames = [str(Path(folder) / "x.sock")]
            try:
                return xllamacpp.Server(settings)
            except RuntimeError:
                raise MedjuryError(f"{self._weights}: cannot be loaded as a GGUF model") from None
