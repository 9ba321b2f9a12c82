"""A batch job: many calls handed to a provider at once, at half the price, answered within a day."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from medjury.instruments import Reason
from medjury.models._chat import ModelError, Reply, Request, TakesBatches

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
class JobState:
    """How a job stands, and where that is told, why it never ran."""

    state: State
    why: str = ""


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


class BatchEndpoint(TakesBatches, Protocol):
    """How one provider takes batch jobs."""

    async def submit(self, job: str, calls: Sequence[tuple[str, Request]]) -> str:
        """Hand a job over; what the provider calls it. `LostReplyError` where nobody knows whether it arrived."""

    async def find(self, job: Job) -> str | None:
        """What the provider calls a job whose submission was never confirmed; None where it has none such."""

    async def look(self, provider_id: str) -> JobState:
        """How it stands."""

    def results(self, provider_id: str) -> AsyncIterator[JobResult]:
        """What came of its calls, in any order, perhaps one of them twice."""

    def reply(self, request: Request, result: JobResult) -> Reply:
        """The reply; `ModelError` where it is none."""
