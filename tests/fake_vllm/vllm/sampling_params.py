"""How words are drawn: unknown names and impossible values are refused, as vLLM refuses them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class StructuredOutputsParams:
    json: str | dict[str, Any] | None = None
    regex: str | None = None
    choice: list[str] | None = None


@dataclass
class SamplingParams:
    n: int = 1
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    repetition_penalty: float = 1.0
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    seed: int | None = None
    stop: str | list[str] | None = None
    max_tokens: int | None = 16
    structured_outputs: StructuredOutputsParams | None = None

    def __post_init__(self) -> None:
        if self.max_tokens is not None and self.max_tokens < 1:
            raise ValueError(f"max_tokens must be at least 1, got {self.max_tokens}.")
        if self.temperature < 0 or not 0 < self.top_p <= 1:
            raise ValueError("temperature must be non-negative, top_p in (0, 1]")
