"""What the tests of this room share: a small request, models for the loopback server, a clock to turn by hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.loopback import LoopbackServer

from medjury.models import ChatModel, Message, Request, make_model

SCHEMA = {
    "type": "object",
    "properties": {
        "explanation": {"type": "string"},
        "score": {"type": "integer", "enum": [1, 2, 3, 4, 5]},
    },
    "required": ["explanation", "score"],
    "additionalProperties": False,
}
KINDS = ("openai", "azure", "anthropic", "google")
KEY = "sk-never-in-a-log"
VARIABLE = "MEDJURY_TEST_KEY"


def request(text: str = "How good is this summary?", **settings: Any) -> Request:
    return Request((Message("system", "You grade."), Message("user", text)), schema=SCHEMA, **settings)


def model_at(kind: str, url: str, **options: Any) -> ChatModel:
    """A model of a kind at an address; its key is in the variable that the fixture `key` sets."""
    if kind == "azure":
        options |= {"azure_api_version": "2024-10-21"}
    return make_model(kind, name="juror", url=url, model="m", api_key_env=VARIABLE, **options)


@asynccontextmanager
async def served(
    server: LoopbackServer | None = None, **options: Any
) -> AsyncIterator[tuple[LoopbackServer, ChatModel]]:
    """An endpoint, plain unless one is given, and a model of kind `openai` behind it."""
    with server or LoopbackServer() as started:
        model = model_at("openai", started.base_url, **options)
        try:
            yield started, model
        finally:
            await model.close()


async def ask_once(kind: str, behaviour: str, asked: Request | None = None, **options: Any) -> Any:
    """Start an endpoint that behaves so, ask it once, and return the reply (or let the error through)."""
    with LoopbackServer(behaviour) as server:
        model = model_at(kind, server.url, **options)
        try:
            return await model.ask(asked or request())
        finally:
            await model.close()


class HandClock:
    """A clock that stands still until somebody sleeps; `slept` keeps what was asked for."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)
