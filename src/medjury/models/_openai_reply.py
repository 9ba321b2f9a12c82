"""Reads the body of a chat completion; what is not one is an error, never an empty answer."""

from __future__ import annotations

import json
from typing import Any

from medjury.instruments import Reason
from medjury.models._chat import Finish, Reply, Request
from medjury.models._faults import LostReplyError, Place
from medjury.models._tokens import estimate_tokens, request_tokens, told_tokens

_FINISHES: dict[str, Finish] = {
    "stop": "stop", "eos": "stop", "eos_token": "stop", "end_turn": "stop", "stop_sequence": "stop",
    "length": "length", "max_tokens": "length", "max_output_tokens": "length", "model_length": "length",
    "content_filter": "refusal", "refusal": "refusal", "safety": "refusal", "sensitive": "refusal",
}  # fmt: skip


def read_reply(payload: bytes, request: Request, place: Place, seconds: float) -> Reply:
    """The reply in a 200 body."""
    try:
        body = json.loads(payload)
    except (ValueError, RecursionError):
        raise LostReplyError(
            Reason.PROVIDER,
            f"the answer of {place.host} is cut off or not JSON",
            retry=True,
        ) from None
    try:
        choice = body["choices"][0]
        message = choice["message"]
        text = _text(message.get("content"))
        refusal = message.get("refusal")
        usage = body.get("usage") or {}
        tokens_out = told_tokens(usage.get("completion_tokens"))
        finish: Finish = _finish(choice.get("finish_reason"), tokens_out, request.max_tokens)
        if refusal:
            text, finish = str(refusal), "refusal"
        details = usage.get("prompt_tokens_details") or {}
        tokens_in = told_tokens(usage.get("prompt_tokens"))
        return Reply(
            text=text,
            finish=finish,
            tokens_in=request_tokens(request) if tokens_in is None else tokens_in,
            tokens_out=estimate_tokens(text) if tokens_out is None else tokens_out,
            tokens_cached=told_tokens(details.get("cached_tokens")) or 0,
            seconds=seconds,
            model=str(body.get("model") or ""),
        )
    except (KeyError, IndexError, TypeError, AttributeError):
        raise LostReplyError(
            Reason.PROVIDER,
            f"the answer of {place.host} is no chat completion; is the url right?",
        ) from None


def _text(content: Any) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in content if part.get("type") in (None, "text", "output_text"))


def _finish(said: Any, tokens_out: int | None, most: int) -> Finish:
    """Why the model stopped. Where the endpoint does not say it in words known here, an answer counts as
    whole only if it is shorter than the limit: one that was cut off must never be read as a whole one."""
    known = _FINISHES.get(said) if isinstance(said, str) else None
    if known is not None:
        return known
    return "stop" if tokens_out is not None and tokens_out < most else "length"
