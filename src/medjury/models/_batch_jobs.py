"""A batch job: many calls handed to a provider at once, at half the price, answered within a day.

How a job is stated and written down, what all providers of batch jobs have in common, and how they are reached.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol
from urllib.parse import urlsplit, urlunsplit

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.models._chat import ModelError, Reply, Request
from medjury.models._connection import Opened, PerLoop, open_session
from medjury.models._faults import LostReplyError, Place, connection_fault, error_words, fault
from medjury.models._reply_fields import fields

if TYPE_CHECKING:
    import aiohttp

# Of the states that providers tell, what matters: it goes on, it is over, or it never ran.
State = Literal["open", "ended", "expired", "failed"]


class PendingError(ModelError):
    """The call is with the provider, in a batch job that has not ended: it is fetched another time."""

    def __init__(self, job: str) -> None:
        super().__init__(Reason.PROVIDER, f"waits in the batch job {job}", fatal=True)
        self.job = job


@dataclass(frozen=True, slots=True)
class JobCall:
    """One call of a job. `announced` is the line of the audit log that announced it, `perhaps` what the budget has
    set aside for it."""

    key: str
    announced: int | None = None
    perhaps: float = 0.0


@dataclass(frozen=True, slots=True)
class Job:
    """A job as it is written down before it is handed over. `endpoint` is where, `log` names the audit log that
    announced its calls, `provider_id` is what the provider calls it, once that is known."""

    id: str
    endpoint: str
    log: str
    created_at: str
    calls: Sequence[JobCall] = field(repr=False, default=())
    provider_id: str | None = None


@dataclass(frozen=True, slots=True)
class JobResult:
    """What came of one call of a job: an answer with its HTTP status, or (status 0) why there is none."""

    key: str
    status: int
    payload: bytes
    expired: bool = False


class JobJournal(Protocol):
    """Where jobs are written down, so that none is lost and none is paid for twice."""

    async def open_jobs(self, endpoint: str) -> Sequence[Job]:
        """Jobs with calls of which nobody has heard the end."""

    async def intend(self, job: Job) -> None:
        """It is about to be handed over. Returns when that is safely written."""

    async def submitted(self, job: str, provider_id: str) -> None:
        """The provider has it."""

    async def finished(self, job: str, keys: Sequence[str]) -> None:
        """These calls of it have an end."""


_LARGEST_BODY = 1024 * 1024 * 1024
_SECONDS = 900.0
_MOST_PAGES = 50


class Wire:
    """One provider's address. `headers` reads the key anew for each session."""

    def __init__(self, base: str, place: Place, headers: Callable[[], Mapping[str, str]]) -> None:
        self._base = base
        self._place = place
        self._headers = headers
        self._session = PerLoop(self._connect)

    async def send(self, method: str, path: str, *, body: bytes | None = None, data: Any = None) -> bytes:
        """The body of a success; `ModelError` for everything else, `LostReplyError` where it may have been done."""
        import aiohttp

        kind = {"Content-Type": "application/json"} if body is not None else {}
        try:
            async with self._session.open().request(
                method, f"{self._base}{path}", data=body if data is None else data, headers=kind,
                allow_redirects=False,
            ) as response:  # fmt: skip
                payload = await response.read()
        except (aiohttp.ClientError, OSError) as error:
            raise connection_fault(self._place, error) from None
        if 200 <= response.status < 300:
            return payload
        found = fault(self._place, response.status, error_words(payload), ())
        if response.status >= 500:
            raise LostReplyError(found.reason, found.message, retry=True)
        raise found

    async def json(
        self, method: str, path: str, *, body: bytes | None = None, data: Any = None
    ) -> dict[str, Any]:
        """The same where the body is one JSON object."""
        payload = await self.send(method, path, body=body, data=data)
        try:
            loaded = json.loads(payload)
        except (ValueError, RecursionError):
            loaded = None
        if not isinstance(loaded, dict):
            message = f"the answer of {self._place.host} about a batch job is cut off or not JSON"
            raise LostReplyError(Reason.PROVIDER, message, retry=True)
        return loaded

    def _connect(self) -> Opened[aiohttp.ClientSession]:
        headers = {name: value for name, value in self._headers().items() if name != "Content-Type"}
        session = open_session(_SECONDS, headers, largest_body=_LARGEST_BODY)
        return session, session.close

    async def close(self) -> None:
        await self._session.close()


class BatchProvider(ABC):
    """How one provider takes batch jobs. `made` makes the request of one call, `read` its reply from a result;
    `dialect` tells in which form calls are asked now: what one job has taught is used in the next."""

    def __init__(
        self,
        wire: Wire,
        made: Callable[[Request], Any],
        read: Callable[[Request, JobResult, Any], Reply],
        dialect: Callable[[], Any],
        size: int,
    ) -> None:
        self.size = size
        self._dialect = dialect
        self._asked_in: dict[str, Any] = {}  # the dialect of each call
        self._wire = wire
        self._made = made
        self._read = read

    @abstractmethod
    async def submit(self, job: str, calls: Sequence[tuple[str, Request]]) -> str:
        """Hand a job over; what the provider calls it. `LostReplyError` where nobody knows whether it arrived."""

    @abstractmethod
    async def find(self, job: Job) -> str | None:
        """What the provider calls a job whose submission was never confirmed; None where it has none such."""

    @abstractmethod
    async def look(self, provider_id: str) -> tuple[State, str]:
        """Its state and, where that is known, why it never ran."""

    @abstractmethod
    def results(self, provider_id: str) -> AsyncIterator[JobResult]:
        """What came of its calls, in any order, perhaps one of them twice."""

    def _note(self, calls: Sequence[tuple[str, Request]]) -> None:
        """These calls are asked in the dialect of now."""
        self._asked_in.update(dict.fromkeys((key for key, _ in calls), self._dialect()))

    def _results_in(self, payload: bytes, read: Callable[[bytes], JobResult | None]) -> Iterator[JobResult]:
        """The lines of a file of results that can be read."""
        for line in payload.splitlines():
            if (result := read(line)) is not None:
                self._asked_in.setdefault(result.key, self._dialect())
                yield result

    async def _listed(self, path: str, after: str) -> AsyncIterator[dict[str, Any]]:
        """What the provider lists, page by page; `after` names the parameter that leads to the next one."""
        more = ""
        for _ in range(_MOST_PAGES):
            page = await self._wire.json("GET", f"{path}?limit=100{more}")
            for each in page.get("data") or ():
                yield fields(each)
            if not page.get("has_more") or not page.get("last_id"):
                return
            more = f"&{after}={page['last_id']}"

    def reply(self, request: Request, result: JobResult) -> Reply:
        """The reply; `ModelError` where it is none."""
        return self._read(request, result, self._asked_in.pop(result.key, None))

    async def close(self) -> None:
        await self._wire.close()


MOST_CALLS = 10_000  # of one job, unless the judge's entry says otherwise
_MODES = ("call", "batch")


def asked_in_batches(mode: str) -> bool:
    if mode not in _MODES:
        raise MedjuryError(f"mode: is {' or '.join(_MODES)}, not {mode!r}")
    return mode == "batch"


def batch_base(chat_address: str) -> str:
    """The address beside which files and jobs are, from that of chat completions."""
    parts = urlsplit(chat_address)
    if parts.query:
        raise MedjuryError("mode: an address with a query takes no batch jobs; take `mode: batch` out")
    return urlunsplit(parts._replace(path=parts.path.removesuffix("/chat/completions")))


def result_fault(place: Place, result: JobResult, words: str, prompt: Iterable[str]) -> ModelError:
    """The error of a call in a job that gave no reply: what has expired or broke is asked again in the next one."""
    if result.expired:
        return ModelError(
            Reason.TIMEOUT, f"the batch job at {place.host} expired before this call", retry=True
        )
    if not result.status:
        found = fault(place, 500, words, prompt)
        return ModelError(found.reason, found.message, retry=True)
    return fault(place, result.status, words, prompt)
