"""A provider's prompt cache, for the loopback endpoint: it serves beginnings of prompts that were answered before.

Its rules are those that providers state. OpenAI's way: beginnings are kept without being asked for, in steps of
128 tokens and from 1,024 on. Anthropic's way: only up to the marks of a request, and the schema stands before
the prompt, so that another schema is another beginning. Either way a beginning is there when the reply has ended,
and not when the request has arrived. Four signs are a token here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

SIGNS_PER_TOKEN = 4
_STEP, _LEAST = 128, 1024


@dataclass
class PrefixCache:
    """Beginnings by their hashes. `tokens_in` and `tokens_cached` count what passed it."""

    known: set[bytes] = field(default_factory=set)
    tokens_in: int = 0
    tokens_cached: int = 0

    def served(self, protocol: str, body: dict[str, Any]) -> tuple[int, int, int]:
        """The tokens of a prompt, how many of them are there, and how many will be written."""
        ends = list(_beginnings(protocol, body))
        there = max((tokens for tokens, mark in ends if mark in self.known), default=0)
        most = max((tokens for tokens, _ in ends), default=0)
        tokens_in = max(1, len(_prompt(protocol, body)) // SIGNS_PER_TOKEN)
        self.tokens_in += tokens_in
        self.tokens_cached += there
        return tokens_in, there, most - there if protocol == "anthropic" else 0

    def fill(self, protocol: str, body: dict[str, Any]) -> None:
        """The reply to this request has ended."""
        self.known.update(mark for _, mark in _beginnings(protocol, body))

    @property
    def share(self) -> float:
        return self.tokens_cached / self.tokens_in if self.tokens_in else 0.0


def _beginnings(protocol: str, body: dict[str, Any]) -> Iterator[tuple[int, bytes]]:
    """Every beginning that may be kept: its tokens and its hash."""
    digest, signs = hashlib.blake2b(str(body.get("model")).encode(), digest_size=16), 0
    if protocol == "anthropic":
        digest.update(json.dumps(body.get("output_config"), sort_keys=True).encode())
        for text, marked in _blocks(body):
            digest.update(text.encode())
            signs += len(text)
            if marked and signs // SIGNS_PER_TOKEN >= _LEAST:
                yield signs // SIGNS_PER_TOKEN, digest.digest()
        return
    prompt, step = _prompt(protocol, body), _STEP * SIGNS_PER_TOKEN
    for end in range(step, len(prompt) + 1, step):
        digest.update(prompt[end - step : end].encode())
        if end // SIGNS_PER_TOKEN >= _LEAST:
            yield end // SIGNS_PER_TOKEN, digest.digest()


def _prompt(protocol: str, body: dict[str, Any]) -> str:
    if protocol == "anthropic":
        return "".join(text for text, _ in _blocks(body))
    return "".join(f"<{each['role']}>{each['content']}" for each in body["messages"])


def _blocks(body: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """The texts of a request in their order, and whether each ends in a mark."""
    for part in body.get("system") or ():
        yield part["text"], "cache_control" in part
    for message in body["messages"]:
        content = message["content"]
        parts = [{"text": content}] if isinstance(content, str) else content
        for place, part in enumerate(parts):
            role = f"<{message['role']}>" if not place else ""
            yield role + part["text"], "cache_control" in part
