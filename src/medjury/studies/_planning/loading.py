"""Models that run in this process are loaded before anybody is asked: one that cannot be loaded is then a refusal,
and nothing of the others was paid for in vain."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from medjury.models import ChatModel


async def load_models(models: Iterable[ChatModel]) -> None:
    """One after another; `MedjuryError` where one cannot be."""
    for model in models:
        await model.load()


class LoadedFirst:
    """Is awaited ahead of every call that is really made: the first loads all `models`. A run that finds every
    answer in its store loads none."""

    def __init__(self, models: Iterable[ChatModel], then: Callable[[ChatModel], Awaitable[None]]) -> None:
        self._models = tuple(models)
        self._then = then
        self._loading: asyncio.Task[None] | None = None

    async def __call__(self, model: ChatModel) -> None:
        if self._loading is None:
            self._loading = asyncio.create_task(load_models(self._models))
        await asyncio.shield(self._loading)
        await self._then(model)
