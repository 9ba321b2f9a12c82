"""The one protocol that every model speaks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from medjury.instruments import Reason
from medjury.intake.cases import Image
from medjury.models._finish import Finish

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """A text and who says it, after the `images` that it is about. `shared` are places in the text, each the
    end of a beginning that other questions have too: a provider's prompt cache is worth filling up to there.
    They are no part of what is said."""

    role: Role
    content: str
    shared: tuple[int, ...] = field(default=(), compare=False)
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model. `schema` is the JSON schema the answer must follow, if any. `draw` says which of the
    possible answers is asked for: the gate sets it, no endpoint sees it, and recorded answers are found by it.
    `token` is what the answer proves itself by (see `worded`): the gate derives it from the call's key, so it is
    not a part of that; `plain` questions have none. The message in place `question` shows it: the last one, unless
    an answer was handed back since."""

    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    max_tokens: int = 1024
    temperature: float | None = 0.0
    seed: int | None = None
    draw: int = 0
    token: str = field(default="", compare=False)
    plain: bool = False
    question: int = field(default=-1, compare=False)

    @property
    def has_siblings(self) -> bool:
        """Whether other questions begin as this one does, so that a prompt cache is worth filling."""
        return any(message.shared for message in self.messages)


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back. `model` is the version the endpoint reports, which may differ from the one asked; `cost` what
    it says that the call cost, where it does. Of `tokens_in`, `tokens_cached` were read from the provider's prompt
    cache and `tokens_written` put into it, at a price of its own. `token` is the one that its question showed; ""
    where it showed none, or nobody knows."""

    text: str
    finish: Finish = "stop"
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    seconds: float = 0.0
    model: str = ""
    cost: float | None = None
    tokens_written: int = 0
    token: str = ""


class ModelError(Exception):
    """A call that gave no reply.

    `retry` says that asking again may help (after `retry_after` seconds, where the endpoint named a time);
    `fatal` that no further call can succeed (an invalid key), so the run stops and says what to do.
    """

    def __init__(
        self,
        reason: Reason,
        message: str,
        *,
        retry: bool = False,
        retry_after: float | None = None,
        fatal: bool = False,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.retry = retry
        self.retry_after = retry_after
        self.fatal = fatal


class TakesBatches(Protocol):
    """A way of handing many calls over at once; `BatchProvider` states how."""

    @property
    def size(self) -> int:
        """How many calls a job may hold."""

    async def close(self) -> None: ...


@runtime_checkable
class ChatModel(Protocol):
    """A model that answers a `Request`. One file per endpoint kind implements it."""

    @property
    def name(self) -> str:
        """The rater's name in ratings: short, unique within a jury."""

    @property
    def identity(self) -> Mapping[str, str]:
        """Everything about the model that determines its answer (kind, model id, weights' hash...):
        part of every rating's key. No secrets, no host name: moving an endpoint is not another model."""

    @property
    def vendor(self) -> str:
        """Who made the model: the self-preference audit needs it."""

    @property
    def host(self) -> str | None:
        """The host a call goes to, or None where the model runs in this process."""

    @property
    def proxy_host(self) -> str | None:
        """The host of a proxy that calls pass on their way, or None."""

    @property
    def concurrency(self) -> int | None:
        """How many calls it takes at a time at most; None leaves that to be found out."""

    @property
    def context_window(self) -> int | None:
        """How many tokens it takes in all, as the user states it; None where nobody has."""

    @property
    def announces(self) -> bool:
        """Whether it announces every request by itself before that leaves (`announce_request`); for one that does
        not, the gate announces each call as one request."""

    @property
    def batch(self) -> TakesBatches | None:
        """How it takes batch jobs, where it is to be asked through them; None where each call is made by itself."""

    @property
    def recorded(self) -> str:
        """The hash of the file that its answers come from; "" where it answers by itself. A recorded answer costs
        what it cost then."""

    @property
    def recorded_at(self) -> str:
        """When the first score was seen that rests on its recorded answers: rules that were stated later were not
        stated before. "" where it answers by itself, or where nobody knows."""

    @property
    def dropped(self) -> Sequence[str]:
        """Settings of requests that are no longer sent: the endpoint said that it does not take them."""

    @property
    def answers_in(self) -> str:
        """How the endpoint is asked for JSON (json_schema, json_object or text); "" where that is not known."""

    @property
    def shows_token(self) -> bool:
        """Whether its questions show the token. Where every answer follows the schema by force, or was recorded,
        they do not."""

    def secrets(self) -> Mapping[str, bool]:
        """Texts that an endpoint must not repeat to anybody: its key, headers, what its address holds. True where
        one must not be in an answer either. They are read anew each time, and kept by nobody but the gate."""

    def check(self) -> None:
        """Refuse what can be known to fail before the first call: a missing key, package or file."""

    async def load(self) -> None:
        """Bring into memory what runs in this process; `MedjuryError` where that cannot be done. Before anything is
        asked of anybody, so that a judge that cannot answer costs nothing of the others."""

    async def count_tokens(self, request: Request) -> int | None:
        """The tokens of the prompt by the model's own tokenizer; None where it cannot be asked."""

    async def ask(self, request: Request) -> Reply:
        """Ask once; raise `ModelError` where no reply comes. The gate retries, not the adapter."""

    async def close(self) -> None: ...


def takes_images(model: ChatModel) -> bool:
    """Whether it may be shown images: a model says so by `takes_images`, and one that says nothing is shown
    none."""
    return bool(getattr(model, "takes_images", False))


def no_images(model: ChatModel) -> str:
    """Why a model is not asked about a case with images."""
    return (
        f"the model {model.name} is not known to take images, which the instrument shows; take another one, or "
        "state `images: true` in its entry where an OpenAI-compatible endpoint takes them"
    )


class PlainModel:
    """What a model is that has nothing special to say: a base for adapters, which state what differs."""

    proxy_host: str | None = None
    concurrency: int | None = None
    context_window: int | None = None
    announces: bool = False
    batch: TakesBatches | None = None
    shows_token: bool = True
    takes_images: bool = False

    @property
    def recorded(self) -> str:
        return ""

    @property
    def recorded_at(self) -> str:
        return ""

    @property
    def dropped(self) -> Sequence[str]:
        return ()

    @property
    def answers_in(self) -> str:
        return ""

    def secrets(self) -> Mapping[str, bool]:
        return {}

    def check(self) -> None:
        return None

    async def load(self) -> None:
        return None

    async def count_tokens(self, request: Request) -> int | None:
        return None
