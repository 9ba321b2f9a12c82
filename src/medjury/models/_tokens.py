"""How many tokens a text has, without a tokenizer: an approximation for plans and pacing, never for bills."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from medjury.models._chat import Request

# English clinical prose has 3.5 to 4.5 signs per token in the tokenizers in use; tables and abbreviations
# have fewer. Letters outside ASCII take about one token each.
SIGNS_PER_TOKEN = 3.6
TOKENS_PER_MESSAGE = 6
MOST_COUNTED = 2**53  # no call has more; no database and no float holds them exactly


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has (within a third for ordinary clinical English).

    >>> estimate_tokens("No fever, no cough, sats 98 % on air.")
    11
    """
    if not text:
        return 0
    if text.isascii():
        return math.ceil(len(text) / SIGNS_PER_TOKEN)
    plain = sum(sign < "\x80" for sign in text)
    return math.ceil(plain / SIGNS_PER_TOKEN + (len(text) - plain))


def told_tokens(value: Any) -> int | None:
    """The count an endpoint reports; None where it reports none, or one that cannot be."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value <= MOST_COUNTED else None


def request_tokens(request: Request) -> int:
    """About how many tokens a request sends."""
    return sum(estimate_tokens(each.content) + TOKENS_PER_MESSAGE for each in request.messages)


def most_tokens(request: Request) -> int:
    """More tokens than any tokenizer makes of the request: one per byte, and the schema with it."""
    texts: Iterable[str] = (message.content for message in request.messages)
    size = sum(len(text) if text.isascii() else len(text.encode("utf-8", "replace")) for text in texts)
    schema = 4 * len(repr(request.schema)) if request.schema is not None else 0
    return size + schema + 64 * (1 + len(request.messages))
