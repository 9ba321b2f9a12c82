"""The cache of replies: same key, same answer, no cost."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import secrets
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Protocol

from medjury.models._chat import Message, Reply, Request
from medjury.models._schema_text import schema_as_text

SECRET_BYTES = 32
_TOKEN_SIGNS = 10  # of 4 bits: short enough to be copied without a slip, too long to be guessed
_written = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


class ReplyCache(Protocol):
    """What the gate needs of a cache; the ratings' store has a durable one."""

    async def find_or_claim(self, key: str) -> Reply | None:
        """The stored reply, or None: then the caller makes the call and must `put` or `release` the key.
        Waits while another live run makes the same call."""

    async def put(
        self, key: str, reply: Reply, cost: float | None, survives: Callable[[], None] | None = None
    ) -> None:
        """Keep the reply; returns when it is safely stored. Ends the claim. `survives` may be called before that:
        once the death of this process would not lose the reply."""

    async def release(self, key: str) -> None:
        """The call gave no reply: let others make it."""

    async def secret(self) -> bytes:
        """What the tokens of questions are derived with: as lasting as the replies, and the same for all who share
        them."""


def request_key(model_identity: Mapping[str, str], request: Request, repeat: int) -> str:
    """SHA-256 of everything that determines a reply: a JSON object with its names in order, then the texts."""
    settings = _settings(
        request.max_tokens,
        tuple(model_identity.items()),
        repeat,
        request.seed,
        request.temperature,
    )
    roles = ",".join([_role(message) for message in request.messages])
    schema = "null" if request.schema is None else schema_as_text(request.schema)
    whole = f'{settings[0]},"roles":[{roles}],"schema":{schema},{settings[1]}'
    digest = hashlib.sha256(whole.encode())
    for message in request.messages:  # their lengths are stated above, so that no two lists run into one text
        digest.update(message.content.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _role(message: Message) -> str:
    shown = "".join([f',"{each.hash}"' for each in message.images])
    return f'["{message.role}",{len(message.content)}{shown}]'


def call_token(secret: bytes, key: str) -> str:
    """The token of a call: the same whenever the same store asks the same, and nobody else's to know."""
    return hmac.digest(secret, key.encode(), "sha256").hex()[:_TOKEN_SIGNS]


@lru_cache(maxsize=256, typed=True)
def _settings(
    max_tokens: int,
    identity: tuple[tuple[str, str], ...],
    repeat: int,
    seed: int | None,
    temperature: float | None,
) -> tuple[str, str]:
    """The JSON before and behind what differs from question to question, made once: `typed`, as 0 and 0.0 are
    equal, and two texts."""
    before = _written({"max_tokens": max_tokens, "model": dict(identity), "repeat": repeat})
    return before[:-1], f"{_written({'seed': seed, 'temperature': temperature})[1:-1]}}}"


class MemoryCache:
    """A cache for as long as the process lives."""

    def __init__(self) -> None:
        self._replies: dict[str, Reply] = {}
        self._claims: dict[str, asyncio.Event] = {}
        self._secret = secrets.token_bytes(SECRET_BYTES)

    async def find_or_claim(self, key: str) -> Reply | None:
        while key in self._claims:
            await self._claims[key].wait()
        if key not in self._replies:
            self._claims[key] = asyncio.Event()
            return None
        return self._replies[key]

    async def put(
        self, key: str, reply: Reply, cost: float | None, survives: Callable[[], None] | None = None
    ) -> None:
        self._replies.setdefault(key, reply)
        await self.release(key)

    async def release(self, key: str) -> None:
        claim = self._claims.pop(key, None)
        if claim is not None:
            claim.set()

    async def secret(self) -> bytes:
        return self._secret
