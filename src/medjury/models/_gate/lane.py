"""The lane of one model: how many calls to it are in flight, and when the next may leave."""

from __future__ import annotations

from collections.abc import Callable

from medjury.models._chat import ChatModel
from medjury.models._gate.limits import AdaptiveConcurrency, Clock, Limits, Pace, Sleep

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
