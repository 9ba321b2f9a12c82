"""A loaded model and the one thread that runs it: questions that came meanwhile are answered together."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

from medjury.models._chat import Message, ModelError, Request
from medjury.models._finish import Finish

_GATHER_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class Generated:
    """What a model said to one question."""

    text: str
    finish: Finish
    tokens_in: int
    tokens_out: int
    tokens_cached: int = 0


class Engine(Protocol):
    """Weights in memory. Everything is asked of it in one thread."""

    def count(self, messages: Sequence[Message]) -> int:
        """How many tokens the prompt has."""

    def answer(self, requests: Sequence[Request]) -> Sequence[Generated | ModelError]:
        """For each question what was said, or why nothing was."""


_Waiting = tuple[Request, "asyncio.Future[tuple[Generated, float]]"]


class Running:
    """One copy of a model. It is loaded when first needed, and `most` questions at a time are put to it."""

    def __init__(self, load: Callable[[], Engine], most: int) -> None:
        self._load, self._most = load, most
        self._engine: Engine | None = None
        self._waiting: deque[_Waiting] = deque()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="medjury-model")
        weakref.finalize(self, self._thread.shutdown, wait=False)

    async def load(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._loaded)

    async def count(self, messages: Sequence[Message]) -> int:
        def work() -> int:
            return self._loaded().count(messages)

        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def ask(self, request: Request) -> tuple[Generated, float]:
        """What was said, and the seconds that it took together with what was asked at the same time."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[tuple[Generated, float]] = loop.create_future()
        self._waiting.append((request, future))
        try:
            await loop.run_in_executor(self._thread, self._work)
            return await future
        except asyncio.CancelledError:
            future.cancel()
            raise

    def _loaded(self) -> Engine:
        if self._engine is None:
            self._engine = self._load()
        return self._engine

    def _work(self) -> None:
        """Every question comes here once; one that was answered with an earlier one finds nothing left to do."""
        if not self._waiting:
            return
        if self._most > 1:
            time.sleep(_GATHER_SECONDS)  # others are on their way
        batch: list[_Waiting] = []
        while self._waiting and len(batch) < self._most:
            one = self._waiting.popleft()
            if not one[1].cancelled():
                batch.append(one)
        if not batch:
            return
        try:
            engine = self._loaded()
            started = time.perf_counter()
            said = engine.answer([request for request, _ in batch])
        except BaseException as error:  # nobody may wait for ever
            for _, future in batch:
                _tell(future, error)
            return
        seconds = time.perf_counter() - started
        for (_, future), outcome in zip(batch, said, strict=True):
            _tell(future, outcome if isinstance(outcome, ModelError) else (outcome, seconds))


def _tell(
    future: asyncio.Future[tuple[Generated, float]], outcome: tuple[Generated, float] | BaseException
) -> None:
    def tell() -> None:
        if not future.done():
            if isinstance(outcome, BaseException):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

    with contextlib.suppress(RuntimeError):  # the loop of whoever asked is closed
        future.get_loop().call_soon_threadsafe(tell)


_lock = threading.Lock()
_running: weakref.WeakValueDictionary[Hashable, Running] = weakref.WeakValueDictionary()


def shared(key: Hashable, load: Callable[[], Engine], most: int) -> Running:
    """The copy that has this key; all models with the same settings share one."""
    with _lock:
        found = _running.get(key)
        if found is None:
            found = _running[key] = Running(load, most)
        return found
