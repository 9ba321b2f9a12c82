"""What the adapters over a vendor's official SDK share: the call itself, with the SDK's retries switched off, which
settings the endpoint takes, and the fault that ends a call."""

from __future__ import annotations

import asyncio
import json
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

from medjury.instruments import Reason
from medjury.models._chat import ModelError, PlainModel, Reply, Request
from medjury.models._connection import Opened, PerLoop
from medjury.models._echo import prompt_of
from medjury.models._faults import (
    LostReplyError,
    Place,
    connection_fault,
    fault,
    missing_package,
    redirect_fault,
)
from medjury.models._gate.sending import announce_request
from medjury.models._hosts import host_of, require_allowed
from medjury.models._openai.dialect import refuses
from medjury.models._sampling import with_sampling
from medjury.models._secrets import known_secrets, read_key

_MOST_ADAPTATIONS = 5
_SCHEMA_WORDS = ("schema", "output_config", "output_format", "response_mime_type", "responsemimetype")


@dataclass(frozen=True, slots=True)
class SdkDialect:
    """Which settings are sent. Each call keeps the one it began with, so that calls in flight together learn from
    the same refusal, each for itself."""

    schema: bool = True
    temperature: bool = True
    seed: bool = True

    @property
    def dropped(self) -> tuple[str, ...]:
        """What is no longer sent, because the endpoint does not take it."""
        return tuple(name for name in ("temperature", "seed") if not getattr(self, name))

    def with_all_of(self, other: SdkDialect) -> SdkDialect:
        """Without what either has dropped."""
        return SdkDialect(
            self.schema and other.schema, self.temperature and other.temperature, self.seed and other.seed
        )


def adapt_sdk(dialect: SdkDialect, request: Request, words: str) -> SdkDialect | None:
    """The next dialect to try after a 400 that said `words`; None where no dialect would help."""
    said = words.lower()
    for name in ("temperature", "seed"):
        if getattr(dialect, name) and getattr(request, name) is not None and refuses(said, name):
            return replace(dialect, **{name: False})
    if dialect.schema and request.schema is not None and any(each in said for each in _SCHEMA_WORDS):
        return replace(dialect, schema=False)
    return None


def unreadable(place: Place) -> LostReplyError:
    return LostReplyError(
        Reason.PROVIDER, f"the answer of {place.host} is cut off, or not what was expected", retry=True
    )


@asynccontextmanager
async def bounded(place: Place, seconds: float) -> AsyncIterator[None]:
    """Bounds the whole call in time; a connection that is refused or breaks becomes a `ModelError`."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise LostReplyError(
            Reason.TIMEOUT, f"{place.host} gave no complete answer within {seconds:g} s", retry=True
        ) from None
    except OSError as error:
        raise connection_fault(place, error) from None
    except (json.JSONDecodeError, RecursionError):
        raise unreadable(place) from None


class Refused(NamedTuple):
    """An answer that was not a success, as an SDK reports it."""

    status: int
    words: str
    location: str | None
    retry_after: float | None


class SdkModel(PlainModel, ABC):
    """A model that is asked by the SDK of its vendor, of which each adapter states what differs."""

    kind: ClassVar[str]
    announces = True

    def __init__(
        self,
        *,
        model: str,
        name: str | None,
        url: str,
        api_key_env: str,
        vendor: str,
        timeout: float,
        largest_body: int,
        context_window: int | None,
        sampling: Mapping[str, Any],
    ) -> None:
        self.host: str | None = host_of(url)
        self.name = name or model
        self.vendor = vendor
        self.model = model
        self.context_window = context_window
        self._url = url.rstrip("/")
        self._place = Place(self.host or "", model, api_key_env)
        self._timeout = timeout
        self._largest_body = largest_body
        self._sampling = sampling
        self._dialect = SdkDialect()
        self._connection: PerLoop[Any] = PerLoop(self._connect)

    @abstractmethod
    def _import(self) -> None:
        """`ImportError` where the SDK is not installed."""

    @abstractmethod
    def _connect(self) -> Opened[Any]:
        """The SDK's client, and how it is closed."""

    @abstractmethod
    def _arguments(self, request: Request, dialect: SdkDialect) -> dict[str, Any]:
        """What the SDK is called with."""

    @abstractmethod
    async def _answered(self, client: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The body of a success."""

    @abstractmethod
    def _read(self, body: Mapping[str, Any], request: Request, seconds: float) -> Reply:
        """The reply in the body of a success."""

    @abstractmethod
    def _meaning(self, error: Exception) -> Refused | ModelError | None:
        """What an error of the SDK means; None where it is none of its own."""

    @property
    def identity(self) -> Mapping[str, str]:
        return with_sampling({"kind": self.kind, "model": self.model}, self._sampling)

    @property
    def dropped(self) -> tuple[str, ...]:
        return self._dialect.dropped

    def check(self) -> None:
        """The package and the key are there."""
        try:
            self._import()
        except ImportError:
            raise missing_package(self.name, self.kind) from None
        read_key(self.name, self._place)

    def secrets(self) -> Mapping[str, bool]:
        return known_secrets(self._place, self._url)

    async def ask(self, request: Request) -> Reply:
        require_allowed(self.host, f"model {self.name}")
        client = self._connection.open()
        started = time.perf_counter()
        for _ in range(_MOST_ADAPTATIONS):
            dialect = self._dialect
            await announce_request()
            try:
                async with bounded(self._place, self._timeout):
                    body = await self._answered(client, self._arguments(request, dialect))
                return self._read(body, request, time.perf_counter() - started)
            except ModelError:
                raise
            except Exception as error:
                meaning = self._meaning(error)
                if meaning is None:
                    raise
                if isinstance(meaning, ModelError):
                    raise meaning from None
                if not self._adapts(dialect, request, meaning.status, meaning.words):
                    raise self._fault(meaning, request) from None
        raise ModelError(Reason.PROVIDER, f"{self.host} accepts no form of the request for {self.model}")

    def _adapts(self, asked: SdkDialect, request: Request, status: int, words: str) -> bool:
        """Whether a request that was asked so can be asked otherwise; that is remembered."""
        better = adapt_sdk(asked, request, words) if status in (400, 422) else None
        if better is not None:
            self._dialect = self._dialect.with_all_of(better)
        return better is not None

    def _fault(self, refused: Refused, request: Request) -> ModelError:
        if 300 <= refused.status < 400:
            return redirect_fault(self._place, refused.location)
        return fault(self._place, refused.status, refused.words, prompt_of(request), refused.retry_after)

    async def close(self) -> None:
        if self.batch is not None:
            await self.batch.close()
        await self._connection.close()
