"""Small changes to what is sent, where an endpoint cannot take it as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace

from medjury.models._chat import Message, Request

_SURROGATES = re.compile("[\ud800-\udfff]")


def without_surrogates(text: str) -> str:
    """Half a surrogate pair, which UTF-8 cannot hold, becomes the replacement sign."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def with_schema_spelled_out(request: Request) -> tuple[Message, ...]:
    """The messages with the schema in words at their end, for endpoints that cannot be given one."""
    spelled = json.dumps(request.schema, ensure_ascii=False)
    words = f"Answer with one JSON object that follows this JSON schema, and nothing else: {spelled}"
    *before, last = request.messages
    if last.role == "user":
        return (*before, replace(last, content=f"{last.content}\n\n{words}"))
    return (*request.messages, Message("user", words))


def with_instructions_first(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages with their instructions at the head of the first question, for endpoints that have no role for
    them."""
    instructions = [each.content for each in messages if each.role == "system"]
    first, *rest = [each for each in messages if each.role != "system"]
    before = "".join(f"{each}\n\n" for each in instructions)
    shared = tuple(len(before) + end for end in first.shared)
    return (Message(first.role, before + first.content, shared), *rest)
