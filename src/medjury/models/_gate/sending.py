"""The requests of one attempt: each is in the log and in the budget before it leaves this machine."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import Any, Protocol

from medjury.models._answers import readable_name
from medjury.models._chat import ChatModel, Reply
from medjury.models._gate.budget import Budget, Reservation

Announced = Callable[[], Awaitable[None]]
_listener: ContextVar[Announced | None] = ContextVar("medjury_announced", default=None)


async def announce_request() -> None:
    """Adapters await this before each HTTP request they make, be it the first, a repetition or one in another
    dialect. It returns when the request may leave; an earlier request of the same call is over by then."""
    listener = _listener.get()
    if listener is not None:
        await listener()


class announced_to:  # noqa: N801 - it reads as a function
    """Requests made within are announced to this listener."""

    __slots__ = ("_listener", "_token")

    def __init__(self, listener: Announced) -> None:
        self._listener = listener

    def __enter__(self) -> None:
        self._token = _listener.set(self._listener)

    def __exit__(self, *_: object) -> None:
        _listener.reset(self._token)


class RequestLog(Protocol):
    """Takes a line about every request before it leaves, and one about its end."""

    async def announce(self, entry: Mapping[str, Any]) -> int:
        """The number of an entry about what is to be done next; returns when it is safely written."""

    async def append(self, entry: Mapping[str, Any]) -> None:
        """The end of a request that was answered. It is safe no later than the reply that is stored next."""

    def record(self, entry: Mapping[str, Any]) -> object:
        """The end of a request without an answer."""


def log_entry(model: ChatModel, key: str, attempt: int) -> dict[str, Any]:
    """What every line about a call says: ids and hashes, never text."""
    return {
        "key": key,
        "rater": model.name,
        "model": model.identity.get("model", model.identity.get("kind", "")),
        "host": model.host,
        "attempt": attempt,
    }


class Sending:
    """Announces the requests of one attempt, and ends them. `reservation` is what the budget has set aside for the
    first one; `another` sets aside the worst case of a further one and waits for its turn."""

    def __init__(
        self,
        audit: RequestLog | None,
        budget: Budget,
        about: Mapping[str, Any],
        reservation: Reservation,
        another: Callable[[], Awaitable[Reservation]],
    ) -> None:
        self.left = 0  # requests that left this machine, whatever came of them
        self._audit = audit
        self._budget = budget
        self._about = about
        self._reservation: Reservation | None = reservation
        self._another = another
        self._number: int | None = None  # of the line that announced the open request
        self.open = False
        self.entrusted = False  # to a batch job that is written down: the answer is fetched another time

    @classmethod
    def earlier(
        cls, audit: RequestLog | None, budget: Budget, about: Mapping[str, Any], announced: int | None
    ) -> Sending:
        """A request that an earlier process announced: only its end is logged."""

        async def another() -> Reservation:
            raise AssertionError("it was announced before")

        sending = cls(audit, budget, about, Reservation(0.0), another)
        sending._reservation, sending._number = None, announced
        return sending

    @property
    def number(self) -> int | None:
        """The line of the log that announced the open request."""
        return self._number

    @property
    def set_aside(self) -> float:
        """What the budget holds for the open request."""
        return 0.0 if self._reservation is None else self._reservation.money

    def leave(self) -> None:
        """The request stays open in the log, and what it may cost stays set aside: another process ends it."""
        self.settle(0.0, lost=True)

    async def announce(self) -> None:
        """Returns when the next request may leave. One that was open came to nothing: the endpoint refused a
        setting or led elsewhere, and is asked otherwise."""
        if self.open:
            self.fail("asked_otherwise")
        if self._reservation is None:
            self._reservation = await self._another()
        if self._audit is not None:
            entry: dict[str, Any] = {"event": "sent", "for": "call", **self._about}
            if self._reservation.money:  # what it may cost, should nothing be heard of it again
                entry["perhaps"] = self._reservation.money
            self._number = await self._audit.announce(entry)
        self._budget.announced(self._reservation)
        self.open = True

    def settle(self, cost: float | None, *, left: bool = True, lost: bool = False) -> float:
        """The open request is over: count it. Returns what it may have cost beyond `cost`."""
        reservation, self._reservation, self.open = self._reservation, None, False
        if reservation is None:
            return 0.0
        self.left += left
        self._budget.settle(reservation, cost=cost, sent=left, lost=lost)
        return reservation.money if lost else 0.0

    def fail(self, status: str, *, left: bool = True, lost: bool = False) -> None:
        """The open request gave no reply."""
        perhaps = self.settle(0.0, left=left, lost=lost)
        if self._audit is not None:
            self._audit.record(self._end(status, {"perhaps": perhaps} if perhaps else {}, left=left))

    def ended(self, status: str, *, left: bool = True) -> None:
        """The end of an earlier request that gave no reply, into the log."""
        if self._audit is not None:
            self._audit.record(self._end(status, {}, left=left))

    def unsent(self) -> None:
        """Nothing was announced and nothing left."""
        self.settle(0.0, left=False)

    async def finish(self, status: str, reply: Reply, cost: float | None, doubtful: bool) -> None:
        """The reply of the last request, which is counted already, into the log."""
        if self._audit is None:
            return
        text = reply.text.encode("utf-8", "surrogatepass")
        entry = {
            "answered_by": readable_name(reply.model),
            "reply": hashlib.sha256(text).hexdigest(),
            "tokens_in": reply.tokens_in,
            "tokens_out": reply.tokens_out,
            "cost": cost,
        }
        if doubtful:  # fewer tokens read than the prompt can have
            entry["perhaps_cut"] = True
        await self._audit.append(self._end(status, entry))

    def _end(self, status: str, more: Mapping[str, Any], *, left: bool = True) -> dict[str, Any]:
        of = {} if self._number is None else {"of": self._number}
        self._number = None
        end = {**of, "event": "call", **self._about, "status": status, **more}
        return end if left else {**end, "left": False}


class Counting:
    """Announces the requests that only count a prompt's tokens: they cost nothing, but the text leaves."""

    def __init__(self, audit: RequestLog, about: Mapping[str, Any]) -> None:
        self._audit = audit
        self._about = about
        self._number: int | None = None

    async def announce(self) -> None:
        self.end("counted")
        self._number = await self._audit.announce({"event": "sent", "for": "count", **self._about})

    def end(self, status: str, *, left: bool = True) -> None:
        if self._number is not None:
            end = {"of": self._number, "event": "count", **self._about, "status": status}
            self._number = None
            self._audit.record(end if left else {**end, "left": False})
