"""Does a prompt fit its model? One that does not is never sent: it would be refused, or silently cut.

Counting is done no more exactly than it must be: a prompt that fits even at one token per byte is not counted,
one that fits by the cautious estimate neither. Only then is the model's own tokenizer asked, where there is
one; where there is none, the cautious estimate decides.
"""

from __future__ import annotations

from collections.abc import Callable

from medjury.instruments import Reason
from medjury.models._chat import ChatModel, ModelError, Request
from medjury.models._context_windows import context_window
from medjury.models._schema_text import schema_text
from medjury.models._tokens import CAUTIOUS_TOKENS_PER_MESSAGE, cautious_request_tokens


class ContextError(ModelError):
    """The prompt does not fit the model. Nothing was sent and nothing was paid."""

    def __init__(self, model: ChatModel, tokens: int, exact: bool, answer: int, window: int) -> None:
        counted = "" if exact else "about "
        advice = "" if exact else " (a cautious estimate; `tokenize` counts exactly where the server can)"
        super().__init__(
            Reason.CONTEXT,
            f"the prompt does not fit {model.name}: it has {counted}{tokens:,} tokens{advice}, {answer:,} are "
            f"kept for the answer, and the model takes {window:,} in all; nothing was sent",
        )
        self.tokens = tokens
        self.exact = exact
        self.answer = answer
        self.window = window

    @property
    def excess(self) -> int:
        """How many tokens the prompt has too many."""
        return self.tokens + self.answer - self.window


def plainly_fits(model: ChatModel, request: Request) -> bool:
    """Whether nothing need be counted: the window is not known, or the prompt fits at one token per byte."""
    window = context_window(model)
    return window is None or _bytes(request) + request.max_tokens <= window


async def require_fit(model: ChatModel, request: Request, counted: Callable[[], None] | None = None) -> None:
    """Raise `ContextError` where the prompt and the room for the answer exceed the model's window; nothing is
    refused where the window is not known. `counted` is told when an endpoint was asked to count."""
    window = context_window(model)
    if window is None:
        return
    tokens, exact = cautious_request_tokens(request), False
    if tokens + request.max_tokens <= window:
        return
    count = getattr(model, "count_tokens", None)
    told: int | None = None
    if count is not None:
        sent = model.host is not None  # whatever comes of it: the text has left
        try:
            told = await count(request)
            sent = sent and told is not None
        finally:
            if sent and counted is not None:
                counted()
    if told is not None:
        tokens, exact = told, True
    if tokens + request.max_tokens > window:
        raise ContextError(model, tokens, exact, request.max_tokens, window)


def excess_tokens(model: ChatModel, request: Request) -> int | None:
    """By how many tokens the prompt is too long (0: it fits) by the cautious estimate, without asking anybody;
    None where the window is not known."""
    window = context_window(model)
    if window is None:
        return None
    if plainly_fits(model, request):
        return 0
    return max(0, cautious_request_tokens(request) + request.max_tokens - window)


def _bytes(request: Request) -> int:
    """As many bytes as the request's texts have, which are never fewer than their tokens."""
    size = len(schema_text(request.schema)) if request.schema is not None else 0
    for message in request.messages:
        text = message.content
        size += len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
        size += CAUTIOUS_TOKENS_PER_MESSAGE
    return size
