"""The shares that are still to be done, for whoever is free; one that a dead worker was at comes back first."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator

from medjury.studies._cluster.shares import Share


class ShareQueue:
    """`next` waits while shares are under way elsewhere: their worker may die."""

    def __init__(self, shares: Iterator[Share], stop: asyncio.Event) -> None:
        self._shares = shares
        self._returned: deque[Share] = deque()
        self._under_way = 0
        self._stop = stop
        self._changed = asyncio.Event()
        self.finished = asyncio.Event()  # nothing is left to do

    async def next(self) -> Share | None:
        """A share to be done, or None where there is none any more."""
        while not self._stop.is_set():
            share = self._returned.popleft() if self._returned else next(self._shares, None)
            if share is not None:
                self._under_way += 1
                return share
            if not self._under_way:
                self.finished.set()
                return None
            await self._changed.wait()
        return None

    def done(self) -> None:
        self._under_way -= 1
        self._wake()

    def give_back(self, share: Share) -> None:
        self._returned.append(share)
        self.done()

    def end(self) -> None:
        """Wake those who wait: nothing more is to be done."""
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
