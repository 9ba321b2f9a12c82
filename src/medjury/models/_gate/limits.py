"""How fast a model may be asked: calls at a time, requests and tokens per minute; none once the run is to stop."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from medjury.instruments import Reason
from medjury.models._chat import ChatModel, ModelError

Stopped = Callable[[], bool]
_LOOK_SECONDS = 0.2


class StoppedError(ModelError):
    """The run is to stop: the call was not begun, and another run makes it."""

    def __init__(self) -> None:
        super().__init__(Reason.PROVIDER, "was not asked: the run was stopped", fatal=True)


def require_going_on(stopped: Stopped | None) -> None:
    if stopped is not None and stopped():
        raise StoppedError


async def wait_unless(stopped: Stopped | None, waiting: Awaitable[None]) -> None:
    """Wait, but no longer than until the run is to stop."""
    if stopped is None:
        await waiting
        return
    task = asyncio.ensure_future(waiting)
    try:
        while not (await asyncio.wait({task}, timeout=_LOOK_SECONDS))[0]:
            require_going_on(stopped)
        await task
    finally:
        task.cancel()
    require_going_on(stopped)


Clock = Callable[[], float]
Sleep = Callable[[float], Awaitable[None]]

FIRST_CONCURRENCY = 8
MOST_CONCURRENCY = 512


@dataclass(frozen=True, slots=True)
class Limits:
    """What the user, or the provider, allows one model. None: found by trying, or without limit."""

    concurrency: int | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None


class Pace(Protocol):
    """Lets so much through in a minute; workers of a cluster share one."""

    async def take(self, amount: float) -> None:
        """Wait until so much may pass."""

    def give_back(self, amount: float) -> None:
        """Correct an estimate: what was not used after all (negative: what was used on top)."""


class AdaptiveConcurrency:
    """Finds how many calls at a time an endpoint bears: doubling until it complains, then halving on each
    complaint and growing by one per round of good answers (additive increase, multiplicative decrease).
    Where more than half of a round is refused, it falls to what was not.

    A stated limit is where it starts, and it never goes above it.
    """

    def __init__(self, stated: int | None = None) -> None:
        self.limit = stated or FIRST_CONCURRENCY
        self.in_flight = 0
        self._most = stated or MOST_CONCURRENCY
        self._threshold = float("inf")
        self._good = 0
        self._complaints = 0  # rounds of complaints so far: one round halves once
        self._round = 0  # calls in flight when the last round of complaints began, and how many were refused
        self._refused = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def acquire(self) -> int:
        """Wait for a free place; the number returned belongs to `release`."""
        if self.in_flight >= self.limit or self._waiting:
            place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(place)
            try:
                await place
            except asyncio.CancelledError:
                if place.done() and not place.cancelled():
                    self.in_flight -= 1
                    self._wake()
                raise
        else:
            self.in_flight += 1
        return self._complaints

    def release(self, started: int, *, good: bool = False, overloaded: bool = False) -> None:
        """Free the place, and learn: `good` for an answer, `overloaded` for a complaint about the load."""
        saturated = self.in_flight >= self.limit
        self.in_flight -= 1
        if overloaded and started == self._complaints:
            self._complaints += 1
            self._round, self._refused, self._good = self.in_flight + 1, 1, 0
            self.limit = max(1, self.limit // 2)
            self._threshold = self.limit
        elif overloaded and started == self._complaints - 1:  # sent before the last cut: the same round
            self._refused += 1
            self.limit = max(1, min(self.limit, self._round - self._refused))
            self._threshold = self.limit
        elif good and saturated and started == self._complaints:
            self._good += 1
            if self._good >= self.limit:
                self._good = 0
                grown = self.limit * 2 if self.limit < self._threshold else self.limit + 1
                self.limit = min(self._most, grown)
        self._wake()

    def _wake(self) -> None:
        while self._waiting and self.in_flight < self.limit:
            place = self._waiting.popleft()
            if not place.done():
                self.in_flight += 1
                place.set_result(None)


class Bucket:
    """A token bucket that holds one second's worth, so that no minute exceeds its allowance noticeably.

    `take` may take more than the bucket holds: it then waits until the debt of those before it is paid.
    """

    def __init__(self, per_minute: float, clock: Clock, sleep: Sleep) -> None:
        self._rate = per_minute / 60
        self._most = max(1.0, self._rate)
        self._level = self._most
        self._clock = clock
        self._sleep = sleep
        self._then = clock()

    async def take(self, amount: float) -> None:
        self._refill()
        self._level -= amount  # first come, first served: the debt is the queue
        missing = min(0.0, self._level + max(0.0, amount - self._most))
        if missing < 0:
            await self._sleep(-missing / self._rate)

    def give_back(self, amount: float) -> None:
        """Correct an estimate: what was not used after all (negative: what was used on top)."""
        self._refill()
        self._level = min(self._most, self._level + amount)

    def _refill(self) -> None:
        now = self._clock()
        self._level = min(self._most, self._level + (now - self._then) * self._rate)
        self._then = now


MakePace = Callable[[str, float], Pace]  # by what is paced, and so much of it a minute


class Lane:
    """The pace of one model."""

    def __init__(self, model: ChatModel, limits: Limits, pace: MakePace, clock: Clock, sleep: Sleep) -> None:
        stated = model.batch.size if model.batch is not None else limits.concurrency or model.concurrency
        self.places = AdaptiveConcurrency(stated)
        requests, tokens = limits.requests_per_minute, limits.tokens_per_minute
        self.requests = pace(f"{model.name}: requests", requests) if requests else None
        self.tokens = pace(f"{model.name}: tokens", tokens) if tokens else None
        self._clock, self._sleep = clock, sleep
        self._closed_until = 0.0

    def close(self, seconds: float) -> None:
        """For every call to the model: its endpoint asked for a pause."""
        self._closed_until = max(self._closed_until, self._clock() + seconds)

    @property
    def may_wait(self) -> bool:
        """Whether a call may have to wait for its turn."""
        return self.requests is not None or self.tokens is not None or self._closed_until > self._clock()

    async def turn(self, tokens: int) -> None:
        """Wait for a call's turn: the pause that was asked for, then requests and tokens per minute."""
        while (pause := self._closed_until - self._clock()) > 0:
            await self._sleep(pause)
        if self.requests:
            await self.requests.take(1)
        if self.tokens and tokens:
            await self.tokens.take(tokens)
