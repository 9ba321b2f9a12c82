"""Does a prompt fit its model? One that is too long is not sent: it would be refused, or silently cut.

Counting is done no more exactly than it must be: a prompt that fits even at one token per byte is not counted,
one that fits by the cautious estimate neither. Only then is the model's own tokenizer asked, where there is
one. Where there is none, only a prompt that is clearly too long is refused; one in doubt is sent, and its reply
is used only if the endpoint did not cut the prompt.
"""

from __future__ import annotations

from medjury.instruments import Reason
from medjury.models._answer import Answer
from medjury.models._chat import ChatModel, ModelError, Reply, Request
from medjury.models._gate.context_windows import context_window
from medjury.models._gate.sending import Counting
from medjury.models._schema_text import schema_text
from medjury.models._tokens import (
    CAUTIOUS_TOKENS_PER_MESSAGE,
    MOST_SIGNS_PER_TOKEN,
    TOKEN_BYTES,
    cautious_request_tokens,
    least_request_tokens,
)

# An endpoint that cuts leaves a prompt as long as its window, give or take a few tokens.
_FULL = 0.99


class ContextError(ModelError):
    """The prompt does not fit the model. `exact` says that `tokens` were counted, not estimated; `sent` that only
    the endpoint could tell, so that a call was made; `paid` is its answer to a prompt that it had cut."""

    def __init__(
        self, model: ChatModel, what: str, tokens: int, answer: int, window: int, *, exact: bool, sent: bool
    ) -> None:
        super().__init__(Reason.CONTEXT, f"the prompt does not fit {model.name}: {what}")
        self.tokens = tokens
        self.exact = exact
        self.answer = answer
        self.window = window
        self.sent = sent
        self.paid: Answer | None = None

    @property
    def excess(self) -> int:
        """How many tokens the prompt has too many."""
        return max(1, self.tokens + self.answer - self.window)


def plainly_fits(model: ChatModel, request: Request) -> bool:
    """Whether nothing need be counted: the window is not known, or the prompt fits at one token per byte."""
    window = context_window(model)
    return window is None or _bytes(request) + request.max_tokens <= window


async def require_fit(model: ChatModel, request: Request, counting: Counting | None = None) -> bool:
    """Raise `ContextError` where the prompt and the room for the answer exceed the model's window for certain;
    nothing is refused where the window is not known. False where it is in doubt: no tokenizer can be asked, and
    it may fit or not. `counting` is told where the model does not announce by itself that it is asked to count."""
    window = context_window(model)
    if window is None:
        return True
    tokens, room = cautious_request_tokens(request), window - request.max_tokens
    if tokens <= room:
        return True
    told = await _counted(model, request, counting)
    seen = told is not None and model.host is not None
    if told is not None and told < least_request_tokens(request):
        told = None  # it counted something else
    if told is None and least_request_tokens(request) <= room:
        return False
    if told is not None and told <= room:
        return True
    exact = told is not None
    tokens = tokens if told is None else told
    sent = f"it was sent to {model.host} to be counted, and no further" if seen else "nothing was sent"
    raise ContextError(
        model,
        f"it has {'' if exact else 'about '}{tokens:,} tokens, {request.max_tokens:,} are kept for the answer, and "
        f"the model takes {window:,} in all; {sent}",
        tokens,
        request.max_tokens,
        window,
        exact=exact,
        sent=False,
    )


async def _counted(model: ChatModel, request: Request, counting: Counting | None) -> int | None:
    """The model's own count; None where it has none to give."""
    try:
        if counting is not None:
            await counting.announce()
        told = await model.count_tokens(request)
        if counting is not None and told is None:
            counting.end("not_counted", left=False)
    except ModelError as error:
        if error.reason is not Reason.CONTEXT or isinstance(error, ContextError):
            raise
        raise refused_by_endpoint(model, request) from None  # too long even to be counted
    return told


def refused_by_endpoint(model: ChatModel, request: Request) -> ContextError:
    """For a prompt in doubt that its endpoint says is too long."""
    tokens, window = cautious_request_tokens(request), context_window(model) or 0
    what = f"its endpoint refused about {tokens:,} tokens; the model takes {window:,}, prompt and answer together"
    return ContextError(model, what, tokens, request.max_tokens, window, exact=False, sent=True)


def cut_by_endpoint(model: ChatModel, request: Request, reply: Reply) -> ContextError | None:
    """For a prompt in doubt that was answered: some endpoints cut it without a word, and then say that they read
    a full window, or fewer tokens than the prompt can have."""
    window = context_window(model)
    if window is None or least_request_tokens(request) <= reply.tokens_in < _FULL * window:
        return None
    tokens = cautious_request_tokens(request)
    what = (
        f"its endpoint says that it read {reply.tokens_in:,} of about {tokens:,} tokens, and the model takes "
        f"{window:,}: the prompt was cut, and the answer to the rest of it is not used"
    )
    return ContextError(model, what, tokens, request.max_tokens, window, exact=False, sent=True)


def perhaps_cut(request: Request, reply: Reply) -> bool:
    """Whether the endpoint says that it read fewer tokens than the prompt can have. Where the window is not known
    this proves nothing, for some endpoints count otherwise; but a reader should know."""
    read = reply.tokens_in * MOST_SIGNS_PER_TOKEN
    signs = sum([len(message.content) for message in request.messages])
    if not read or read >= signs:  # as nearly always: nothing need be counted
        return False
    signs -= sum([each.content.count(" ") + each.content.count("\n") for each in request.messages])
    # Rounded up text by text; ruled lines and other white space make it fewer yet, and are seldom looked for.
    return read < signs + MOST_SIGNS_PER_TOKEN * len(request.messages) and (
        reply.tokens_in < least_request_tokens(request)
    )


def excess_tokens(model: ChatModel, request: Request) -> int | None:
    """By how many tokens the prompt is too long (0: it fits) by the cautious estimate, without asking anybody;
    None where the window is not known."""
    window = context_window(model)
    if window is None:
        return None
    if plainly_fits(model, request):
        return 0
    return max(0, cautious_request_tokens(request) + request.max_tokens - window)


def clearly_too_long(model: ChatModel, request: Request) -> bool:
    """Whether the prompt does not fit even if it has as few tokens as a text of its length can have."""
    window = context_window(model)
    return window is not None and least_request_tokens(request) + request.max_tokens > window


def _bytes(request: Request) -> int:
    """As many bytes as the request's texts have, which are never fewer than their tokens."""
    size = len(schema_text(request.schema)) if request.schema is not None else 0
    size += TOKEN_BYTES if request.token else 0
    for message in request.messages:
        text = message.content
        size += len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
        size += CAUTIOUS_TOKENS_PER_MESSAGE
    return size
