"""Small changes to what is sent, where an endpoint cannot take it as it is."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import replace

from medjury.instruments import VERDICT
from medjury.intake.cases import Image
from medjury.models._chat import Message, Request

_SURROGATES = re.compile("[\ud800-\udfff]")


def without_surrogates(text: str) -> str:
    """Half a surrogate pair, which UTF-8 cannot hold, becomes the replacement sign."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def base64_of(image: Image) -> str:
    """An image as endpoints take it in JSON."""
    return b64encode(image.content).decode("ascii")


def worded(request: Request, *, native: bool) -> tuple[Message, ...]:
    """The messages as they are sent. At their end comes what differs between questions, so that a provider's prompt
    cache keeps all before it: the schema in words, where the endpoint is not given it as such (`native`), and the
    token that the answer proves itself by. An endpoint that is given the schema may follow it by force, and then
    no answer can have a further key: it is asked for the token only beside other text."""
    messages = request.messages
    if request.schema is not None and not native:
        spelled = json.dumps(request.schema, ensure_ascii=False)
        words = f"Answer with one JSON object that follows this JSON schema, and nothing else: {spelled}"
        messages = _ending(messages, -1, words)
    if request.token and native:
        words = (
            "If you write anything besides the JSON object, write it before the object, and end the object with "
            f'one more key: "{VERDICT}": "{request.token}"'
        )
        messages = _ending(messages, request.question, words)
    elif request.token:
        words = f'End the object with one more key, exactly so: "{VERDICT}": "{request.token}"'
        messages = _ending(messages, request.question, words)
    return messages


def _ending(messages: tuple[Message, ...], place: int, words: str) -> tuple[Message, ...]:
    """The messages, of which the one in this place ends with these words."""
    asked = messages[place]
    if asked.role != "user":
        return (*messages, Message("user", words))
    changed = list(messages)
    changed[place] = replace(asked, content=f"{asked.content}\n\n{words}")
    return tuple(changed)


def with_instructions_first(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages with their instructions at the head of the first question, for endpoints that have no role for
    them."""
    instructions = [each.content for each in messages if each.role == "system"]
    first, *rest = [each for each in messages if each.role != "system"]
    before = "".join(f"{each}\n\n" for each in instructions)
    shared = tuple(len(before) + end for end in first.shared)
    return (replace(first, content=before + first.content, shared=shared), *rest)
