"""The line in which units of work wait for a worker; siblings wait until the first of them has filled the cache.

Questions about one record begin alike, and a provider's prompt cache serves that beginning once a question with it
has been answered. Sent at the same moment, none of them would find it there. So the first goes alone; whatever
comes of it, the others follow, and meanwhile other records have their turn: no worker stands still for it.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from medjury.judging._rater import Unit

# A first question that takes longer than this is no longer waited for.
MOST_SECONDS = 60.0
# Providers keep a beginning for about five minutes after its last use.
_KEPT_SECONDS = 240.0
_MOST_KNOWN = 10_000


class Place(NamedTuple):
    """A unit in the line, with the beginnings that its question shares."""

    unit: Unit
    beginnings: Sequence[str]


class Line:
    """Hands out units in their order; with `siblings` none whose beginning another one is filling. At most `most`
    wait."""

    def __init__(self, most: int, *, siblings: bool = False, longest_wait: float = MOST_SECONDS) -> None:
        self._most = most
        self._siblings = siblings
        self._longest_wait = longest_wait
        self._ready: deque[Place] = deque()
        self._held: dict[str, list[Place]] = {}
        self._filling: dict[str, tuple[Unit, asyncio.TimerHandle]] = {}
        self._filled: dict[str, float] = {}  # when, the oldest first
        self._waiting = 0
        self._ended = False
        self._workers: deque[asyncio.Future[None]] = deque()
        self._room: asyncio.Future[None] | None = None

    async def put(self, unit: Unit) -> None:
        """Wait for room, then join the end of the line. Only one may put at a time."""
        while self._waiting >= self._most and not self._ended:
            self._room = asyncio.get_running_loop().create_future()
            await self._room
        beginnings = [each.id for each in unit.rater.shared(unit)] if self._siblings else ()
        self._ready.append(Place(unit, beginnings))
        self._waiting += 1
        self._wake(1)

    async def get(self) -> Unit | None:
        """The next unit that may start; None where none will come any more."""
        while True:
            if (place := self._next()) is not None:
                self._start(place)
                return place.unit
            if self._ended and not self._waiting:
                self._wake(len(self._workers))
                return None
            called = asyncio.get_running_loop().create_future()
            self._workers.append(called)
            try:
                await called
            except asyncio.CancelledError:
                if called.done() and not called.cancelled():
                    self._wake(1)
                raise

    def done(self, unit: Unit) -> None:
        """The unit is over, whatever came of it: those that waited for it may start."""
        for beginning in [each for each, (first, _) in self._filling.items() if first is unit]:
            self._release(beginning)

    def end(self, *, drop: bool = False) -> None:
        """Nothing more will be put; `drop` leaves out what still waits."""
        self._ended = True
        if drop:
            self._ready.clear()
            self._held.clear()
            self._waiting = 0
        if self._room is not None and not self._room.done():
            self._room.set_result(None)
        self._wake(len(self._workers))

    def _next(self) -> Place | None:
        while self._ready:
            place = self._ready.popleft()
            busy = next((each for each in place.beginnings if each in self._filling), None)
            if busy is None:
                return place
            self._held.setdefault(busy, []).append(place)
        return None

    def _start(self, place: Place) -> None:
        self._waiting -= 1
        if self._room is not None and not self._room.done():
            self._room.set_result(None)
        if not place.beginnings:
            return
        loop, now = asyncio.get_running_loop(), time.monotonic()
        for each in place.beginnings:
            if now - self._filled.get(each, -_KEPT_SECONDS) >= _KEPT_SECONDS:
                bound = loop.call_later(self._longest_wait, self._release, each)
                self._filling[each] = place.unit, bound

    def _release(self, beginning: str) -> None:
        _, bound = self._filling.pop(beginning)
        bound.cancel()
        self._filled.pop(beginning, None)
        self._filled[beginning] = time.monotonic()
        if len(self._filled) > _MOST_KNOWN:
            del self._filled[next(iter(self._filled))]
        freed = self._held.pop(beginning, [])
        self._ready.extendleft(reversed(freed))  # while the cache is warm
        self._wake(len(freed))

    def _wake(self, count: int) -> None:
        while count > 0 and self._workers:
            called = self._workers.popleft()
            if not called.done():
                called.set_result(None)
                count -= 1
