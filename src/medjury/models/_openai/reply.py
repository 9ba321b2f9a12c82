"""Reads the body of a chat completion, whole or in pieces; what is not one is an error, never an empty answer."""

from __future__ import annotations

import json
import math
from typing import Any

from medjury.instruments import Reason
from medjury.models._chat import Reply, Request
from medjury.models._faults import LostReplyError, Place
from medjury.models._finish import finish_of
from medjury.models._reply_fields import fields, handed_over, loaded, require_no_error, text_of, unwrapped
from medjury.models._tokens import estimate_tokens, reported_tokens, request_tokens


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
        called = delta.get("tool_calls")
        calls = [fields(fields(each).get("function")) for each in called] if isinstance(called, list) else []
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


def read_reply(
    payload: bytes, request: Request, place: Place, seconds: float, content_type: str = "application/json"
) -> Reply:
    """The reply in the body of a success."""
    streamed = content_type == "text/event-stream" or payload[:5] == b"data:"
    body = joined(payload, place) if streamed else loaded(payload, place, content_type)
    require_no_error(body, place, request)
    choices = body.get("choices")
    choice = fields(choices[0]) if isinstance(choices, list) and choices else {}
    require_no_error(choice, place, request)
    message = choice.get("message")
    text = _text(message) if isinstance(message, dict) else None
    if text is None or not isinstance(message, dict):
        raise LostReplyError(
            Reason.PROVIDER, f"the answer of {place.host} is not a chat completion; is the url right?"
        )
    usage = fields(body.get("usage"))
    tokens_in, tokens_out = (
        reported_tokens(usage.get("prompt_tokens")),
        reported_tokens(usage.get("completion_tokens")),
    )
    finish = finish_of(choice.get("finish_reason"), text, tokens_out, request.max_tokens)
    if refusal := message.get("refusal"):
        text, finish = str(refusal), "refusal"
    return Reply(
        text=unwrapped(text, request),
        finish=finish,
        tokens_in=request_tokens(request) if tokens_in is None else tokens_in,
        tokens_out=estimate_tokens(text) if tokens_out is None else tokens_out,
        tokens_cached=_cached(usage),
        seconds=seconds,
        model=str(body.get("model") or ""),
        cost=_cost(usage.get("cost")),
    )


def _text(message: dict[str, Any]) -> str | None:
    """What the model said, or handed over as the arguments of a tool; None where the message is none."""
    text = text_of(message.get("content"))
    if text is None or text.strip():
        return text
    calls = message.get("tool_calls")
    called = [fields(each).get("function") for each in calls] if isinstance(calls, list) else []
    called = called or [message.get("function_call")]
    return handed_over(fields(each).get("arguments") for each in called) or text


def _cached(usage: dict[str, Any]) -> int:
    """Tokens read from the provider's cache, in either of the two ways of saying it."""
    cached = reported_tokens(fields(usage.get("prompt_tokens_details")).get("cached_tokens"))
    return cached or reported_tokens(usage.get("prompt_cache_hit_tokens")) or 0


def _cost(cost: Any) -> float | None:
    known = isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost < math.inf
    return float(cost) if known else None
