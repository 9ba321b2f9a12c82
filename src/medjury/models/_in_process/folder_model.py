"""What judges in process have in common, whichever library runs them: a folder, an identity, checks, loading."""

from __future__ import annotations

import copy
import importlib.util
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar

from medjury.models._chat import PlainModel, Reply, Request
from medjury.models._in_process.bits import refuse_bits_without_libraries, split_bits
from medjury.models._in_process.folder import folder_fingerprint, refuse_incomplete, stated_window
from medjury.models._in_process.running import Engine, Running, shared
from medjury.models._sampling import stated_sampling, with_sampling
from medjury.models._sdks.sdk_call import missing_package
from medjury.models._wording import worded

_DEFAULT_WINDOW = 4096  # where neither the study nor the folder says


class FolderModel(PlainModel, ABC):
    """A causal language model with a chat template, in a folder as transformers saves it; `FOLDER:4bit` and
    `FOLDER:8bit` make its weights smaller as they are read. Models with the same settings share one copy in memory.
    """

    kind: ClassVar[str]
    libraries: ClassVar[tuple[str, ...]]
    extra: ClassVar[str]
    sampling_names: ClassVar[tuple[str, ...]]
    host = None
    concurrency: int = 1

    def __init__(
        self,
        *,
        weights: str,
        name: str | None = None,
        context_window: int | None = None,
        dtype: str | None = None,
        template: Mapping[str, Any] | None = None,
        vendor: str | None = None,
        top_p: float | None = None,
        top_k: int | None = None,
        sampling: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name or self.kind
        self.vendor = vendor or ""
        place, self.bits = split_bits(weights)
        self.folder = Path(place).expanduser()
        self.context_window: int = context_window or stated_window(self.folder) or _DEFAULT_WINDOW
        self.dtype = dtype
        self.template = dict(template or {})
        self.sampling = stated_sampling(top_p, top_k, sampling, self.sampling_names)
        self._identity: dict[str, str] | None = None
        self._running: Running | None = None

    def further(self) -> dict[str, str]:
        """What else determines an answer of this kind."""
        return {}

    @abstractmethod
    def engine(self) -> Engine:
        """The weights, loaded. `MedjuryError` where they cannot be."""

    @property
    def label(self) -> str:
        """What the model is called in ratings and reports."""
        named = self.folder.resolve().name
        return f"{named}:{self.bits}bit" if self.bits else named

    @property
    def identity(self) -> Mapping[str, str]:
        if self._identity is None:
            known = {
                "kind": self.kind,
                "model": self.label,
                "weights": folder_fingerprint(self.folder),
                "runtime": ", ".join(f"{each} {_version(each)}" for each in self.libraries),
                "context": str(self.context_window),
            }
            if self.dtype is not None:
                known["dtype"] = self.dtype
            if self.template:
                known["template"] = json.dumps(self.template, sort_keys=True)
            self._identity = with_sampling(known | self.further(), self.sampling)
        return self._identity

    @property
    def answers_in(self) -> str:
        return "text"

    def check(self) -> None:
        """The library and a whole folder are there. Nothing is loaded: that may be another machine's part."""
        if any(importlib.util.find_spec(each) is None for each in self.libraries):
            raise missing_package(self.name, self.extra)
        refuse_incomplete(self.name, self.folder)
        if self.bits is not None:
            refuse_bits_without_libraries(f"{self.folder}:{self.bits}bit")

    async def load(self) -> None:
        await self._shared().load()

    async def count_tokens(self, request: Request) -> int | None:
        return await self._shared().count(self.worded(request).messages)

    async def ask(self, request: Request) -> Reply:
        said, seconds = await self._shared().ask(self.worded(request))
        return Reply(
            text=said.text,
            finish=said.finish,
            tokens_in=said.tokens_in,
            tokens_out=said.tokens_out,
            tokens_cached=said.tokens_cached,
            seconds=seconds,
            model=self.label,
        )

    async def close(self) -> None:
        self._running = None

    def worded(self, request: Request) -> Request:
        """The question as the engine is given it: a schema that is not enforced is spelled out."""
        if request.schema is None:
            return request
        messages = worded(request, native=False)
        return Request(messages, None, request.max_tokens, request.temperature, request.seed)

    def _shared(self) -> Running:
        if self._running is None:
            self.check()
            key = (
                str(self.folder.resolve()),
                json.dumps(dict(self.identity), sort_keys=True),
                self.concurrency,
            )
            # What runs must not hold this model, which holds it: else neither would ever leave memory.
            self._running = shared(key, copy.copy(self).engine, self.concurrency)
        return self._running


def _version(library: str) -> str:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return "absent"
