"""What the engine gives back."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class CompletionOutput:
    text: str
    token_ids: list[int]
    finish_reason: str | None = None


@dataclass
class RequestOutput:
    prompt_token_ids: list[int] | None
    outputs: list[CompletionOutput]
    num_cached_tokens: int | None = None
