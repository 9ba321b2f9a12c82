"""Words for the embedded model: what a processor or a seed may make it say, without the time it takes to say it."""

from __future__ import annotations

import hashlib
import json

import pytest
from tests.loopback import conforming

from medjury.models import Reply, Request, estimate_tokens
from medjury.models._embedded_model import EmbeddedModel

VOICES = ("what was asked for", "half of that", "something else", "nothing")


def put_words(monkeypatch: pytest.MonkeyPatch, voice: str, mood: int = 0) -> list[Request]:
    """Put words into the model's mouth; another mood chooses other grades. The list fills with what it is asked."""
    heard: list[Request] = []

    async def ask(self: EmbeddedModel, asked: Request) -> Reply:
        heard.append(asked)
        tokens = sum(estimate_tokens(each.content) for each in asked.messages)
        said = [(each.role, each.content) for each in asked.messages]
        seed = hashlib.sha256(repr((mood, said, asked.seed)).encode()).digest()
        whole = json.dumps(conforming(asked.schema or {}, seed))
        return {
            "what was asked for": Reply(whole, tokens_in=tokens, tokens_out=9),
            "half of that": Reply(whole[: len(whole) // 2], finish="length", tokens_in=tokens, tokens_out=9),
            "something else": Reply("It seems fine to me.", tokens_in=tokens, tokens_out=9),
            "nothing": Reply("", tokens_in=tokens, tokens_out=1),
        }[voice]

    monkeypatch.setattr(EmbeddedModel, "ask", ask)
    return heard
