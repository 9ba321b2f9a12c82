"""An answer that comes in pieces, from servers that answer in no other way: put together as one that came whole."""

from __future__ import annotations

import json
from typing import Any

from medjury.instruments import Reason
from medjury.models._faults import LostReplyError, Place
from medjury.models._reply_fields import fields, text_of


def joined(payload: bytes, place: Place) -> dict[str, Any]:
    """The chat completion that the pieces of a stream make up. One without an end is not taken for a whole one."""
    whole: dict[str, Any] = {}
    text, arguments, finish, ended = [], [], None, False
    for line in payload.decode("utf-8", "replace").split("\n"):  # a text may hold other ends of lines
        data = line.removeprefix("data:").strip() if line.startswith("data:") else ""
        if data == "[DONE]":
            ended = True
        if not data.startswith("{"):
            continue
        try:
            piece = fields(json.loads(data))
        except (ValueError, RecursionError):
            raise _cut(place) from None
        whole |= {name: piece[name] for name in ("model", "usage", "error") if piece.get(name)}
        choices = piece.get("choices")
        choice = fields(choices[0]) if isinstance(choices, list) and choices else {}
        delta = fields(choice.get("delta")) or fields(choice.get("message"))
        text.append(text_of(delta.get("content")) or "")
        told = delta.get("tool_calls")
        calls = [fields(fields(each).get("function")) for each in told] if isinstance(told, list) else []
        arguments += [str(each.get("arguments") or "") for each in calls]
        finish = choice.get("finish_reason") or finish
    if whole.get("error"):
        return whole
    if not ended and finish is None:
        raise _cut(place)
    message: dict[str, Any] = {"content": "".join(text)}
    if any(arguments):
        message["tool_calls"] = [{"function": {"arguments": "".join(arguments)}}]
    return {**whole, "choices": [{"message": message, "finish_reason": finish}]}


def _cut(place: Place) -> LostReplyError:
    return LostReplyError(
        Reason.PROVIDER, f"the answer of {place.host} came in pieces and was cut off", retry=True
    )
