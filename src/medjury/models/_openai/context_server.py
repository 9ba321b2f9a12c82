"""Exact token counts from the server that holds the model: vLLM's and llama.cpp's own way of being asked."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.models._chat import Message, ModelError
from medjury.models._faults import Place, error_words, fault
from medjury.models._openai.dialect import encode
from medjury.models._tokens import told_tokens


class Received(NamedTuple):
    """What a server answered to a request."""

    status: int
    payload: bytes
    retry_after: float | None
    content_type: str


Send = Callable[[bytes, str], Awaitable[Received]]
SERVERS = ("vllm", "llama.cpp")


class ServerTokenizer:
    """Counts the tokens of messages, the chat template included, by a call to the server's tokenizer."""

    def __init__(self, server: str, url: str, model: str) -> None:
        if server not in SERVERS:
            raise MedjuryError(
                f"tokenize: there is no way to count called {server!r}; {nearest(server, SERVERS)}"
            )
        self._server = server
        self._root = _root(url)
        self._model = model

    async def count(self, messages: Sequence[Message], place: Place, send: Send) -> int:
        spoken = [{"role": each.role, "content": each.content} for each in messages]
        prompt = [each.content for each in messages]

        async def ask(path: str, body: dict[str, Any]) -> Any:
            got = await send(encode(body), f"{self._root}/{path}")
            status = got.status
            if status in (404, 405, 501):
                raise ModelError(
                    Reason.PROVIDER,
                    f"{place.host} answered {status} to /{path}: it does not count tokens the way of "
                    f"{self._server}; take `tokenize` out of the study, or name the right server",
                    fatal=True,
                )
            if status != 200:
                raise fault(place, status, error_words(got.payload), prompt, got.retry_after)
            try:
                return json.loads(got.payload)
            except (ValueError, RecursionError):
                return None

        if self._server == "vllm":
            body = {"model": self._model, "messages": spoken, "add_generation_prompt": True}
            found = _count(await ask("tokenize", body), "count")
        else:
            said = await ask("apply-template", {"messages": spoken})
            text = said.get("prompt") if isinstance(said, dict) else None
            body = {"content": text, "add_special": True, "parse_special": True}
            found = None if not isinstance(text, str) else _count(await ask("tokenize", body), "tokens")
        if found is None:
            raise ModelError(
                Reason.PROVIDER,
                f"{place.host} did not say how many tokens the prompt has; take `tokenize` out of the study",
                fatal=True,
            )
        return found


def _count(answer: Any, field: str) -> int | None:
    value = answer.get(field) if isinstance(answer, dict) else None
    return told_tokens(len(value) if isinstance(value, list) else value)


def _root(url: str) -> str:
    """The server's own address: both servers count beside /v1, not below it."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/").removesuffix("/chat/completions").removesuffix("/v1")
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))
