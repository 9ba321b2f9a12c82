"""How an answer ended, in every dialect, and what a reader sees of one that did not end well."""

from __future__ import annotations

import json
from typing import Any, Literal

from medjury.instruments import Reason

Finish = Literal[
    "stop", "length", "refusal", "context", "tool_use", "paused", "image_refusal", "malformed_call"
]

_FINISHES: dict[str, Finish] = {
    "stop": "stop", "eos": "stop", "eos_token": "stop", "end_turn": "stop", "stop_sequence": "stop",
    "length": "length", "max_tokens": "length", "max_output_tokens": "length", "continuation": "length",
    "content_filter": "refusal", "refusal": "refusal", "safety": "refusal", "sensitive": "refusal",
    "recitation": "refusal", "blocklist": "refusal", "prohibited_content": "refusal", "spii": "refusal",
    "language": "refusal",
    "image_safety": "image_refusal", "image_prohibited_content": "image_refusal",
    "image_recitation": "image_refusal", "image_other": "image_refusal", "no_image": "image_refusal",
    "model_context_window_exceeded": "context", "model_length": "context", "context_length": "context",
    "context_length_exceeded": "context", "context_window_exceeded": "context",
    "tool_use": "tool_use", "tool_calls": "tool_use", "tool_call": "tool_use", "function_call": "tool_use",
    "pause_turn": "paused",
    "malformed_function_call": "malformed_call", "unexpected_tool_call": "malformed_call",
    "too_many_tool_calls": "malformed_call", "malformed_response": "malformed_call",
}  # fmt: skip


def finish_of(said: Any, text: str, tokens_out: int | None, most: int) -> Finish:
    """How the answer ended. Where the endpoint does not say it in words known here, an answer counts as whole if it
    is one whole JSON object or shorter than the limit: one that was cut off must never be read as a whole one. A
    call of a tool that hands the verdict over is an answer too."""
    known = _FINISHES.get(said.lower()) if isinstance(said, str) else None
    if known == "tool_use" and is_whole(text):
        return "stop"
    if known is not None:
        return known
    return "stop" if is_whole(text) or (tokens_out is not None and tokens_out < most) else "length"


def is_whole(text: str) -> bool:
    """Whether a text is one JSON object from its first sign to its last; a fence around it is no part of it."""
    text = text.strip()
    if text.startswith("```") and text.endswith("```"):
        text = text[3:-3].removeprefix("json").strip()
    if not text.endswith("}"):
        return False
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def why_unfinished(finish: Finish, max_tokens: int) -> tuple[Reason, str] | None:
    """The reason and the words for an answer that did not come to its end; None for one that did."""
    if finish == "length":
        return Reason.TRUNCATED, f"the answer was cut off at {max_tokens} tokens; raise max_tokens"
    return _WHY.get(finish)


_TOOLS = "the study gives it no tools: switch tools off at the endpoint"
_WHY: dict[Finish, tuple[Reason, str]] = {
    "refusal": (Reason.REFUSAL, "the model declined to answer"),
    "image_refusal": (
        Reason.REFUSAL,
        "the endpoint's filter for pictures stopped the answer; use a model that writes text only",
    ),
    "context": (
        Reason.CONTEXT,
        "the prompt and the answer together fill the model's context window; shorten the cases, lower max_tokens, "
        "or use a model with a larger window, and say `context_window: TOKENS`",
    ),
    "tool_use": (Reason.PARSE, f"the model called a tool in place of an answer; {_TOOLS}"),
    "paused": (Reason.PARSE, f"the model paused in the middle of its answer to use a tool; {_TOOLS}"),
    "malformed_call": (Reason.PARSE, f"the model tried to call a tool in place of an answer; {_TOOLS}"),
}
