"""Has a mean crossed a limit? A test that may be looked at after every value, for ever.

A gambler starts with 1 and bets on every value that the mean lies beyond the limit: the wealth is multiplied by
1 + λ · (limit − value). While the mean (of every value, given those before it) is not beyond the limit, no way of
betting gains on average, so that the wealth ever reaches 1/α with a probability of at most α over the whole stream
(Ville 1939; Waudby-Smith & Ramdas 2024, JRSS-B 86:1-27). The wealth is spread over several λ, and over gamblers who
start later, each with his share of the first stake: who started long before a change has lost too much to see it.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from medjury.records import dataclass

Floats = NDArray[np.float64]
Direction = Literal["below", "above"]
_BETS = (0.1, 0.3, 0.6, 0.95)  # of the largest bet that can never lose more than all
_SOONEST, _LATEST, _EARLY, _MOST_STARTS, _MOST_WEALTH = 10, 100, 20, 2000, 1e200


@dataclass(eq=False)
class EProcess:
    """The evidence that the mean of values between `low` and `high` lies `direction` the `limit`, for one stream or
    for several side by side. Whenever a tenth more was seen, but after 10 values at the soonest and
    100 at the latest, another gambler starts; the k-th has 20/((k+19)(k+20)) of the stake."""

    limit: float
    direction: Direction
    low: float = 0.0
    high: float = 1.0
    streams: int = 1
    seen: int = 0
    started: int = 0
    next_start: int = 0
    wealth: Floats = field(default_factory=lambda: np.empty((0, 0, 0)))
    shares: Floats = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        if not self.low < self.limit < self.high:
            raise ValueError(f"the limit {self.limit:g} must lie between {self.low:g} and {self.high:g}")
        room = self.high - self.limit if self.direction == "below" else self.limit - self.low
        self._bets = np.array(_BETS) / room
        if not self.wealth.size:
            self.wealth = np.empty((self.streams, 0, len(_BETS)))

    def update(self, values: ArrayLike) -> Floats:
        """Take one value of each stream; the evidence of each after it. An alarm is evidence of 1/α or more."""
        given = np.atleast_1d(np.asarray(values, dtype=float))
        if self.seen == self.next_start:
            self._start()
        gain = self.limit - given if self.direction == "below" else given - self.limit
        self.wealth *= 1.0 + gain[:, None, None] * self._bets
        np.minimum(self.wealth, _MOST_WEALTH, out=self.wealth)
        self.seen += 1
        return self.evidence

    @property
    def evidence(self) -> Floats:
        """The wealth of all gamblers, and the stakes of those who have yet to start."""
        own: Floats = self.wealth.mean(axis=2) @ self.shares + _EARLY / (self.started + _EARLY)
        return own

    def _start(self) -> None:
        self.started += 1
        self.next_start += min(_LATEST, max(_SOONEST, self.seen // 10))
        ones = np.ones((self.streams, 1, len(_BETS)))
        self.wealth = np.concatenate([self.wealth, ones], axis=1)
        share = _EARLY / ((self.started + _EARLY - 1) * (self.started + _EARLY))
        self.shares = np.append(self.shares, share)
        if (
            len(self.shares) > _MOST_STARTS
        ):  # whoever has nothing left goes home: that can only lower the evidence
            kept = np.sort(
                np.argsort((self.wealth.max(axis=(0, 2)) * self.shares)[:-1])[-_MOST_STARTS // 2 :]
            )
            kept = np.append(kept, len(self.shares) - 1)
            self.wealth, self.shares = self.wealth[:, kept], self.shares[kept]

    def state(self) -> dict[str, Any]:
        """What `from_state` needs to go on where this one is, exactly."""
        kept = ("limit", "direction", "low", "high", "streams", "seen", "started", "next_start")
        said: dict[str, Any] = {name: getattr(self, name) for name in kept}
        return said | {"wealth": self.wealth.tolist(), "shares": self.shares.tolist()}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> EProcess:
        """The process that `state` was taken of."""
        arrays = {name: np.array(state[name], dtype=float) for name in ("wealth", "shares")}
        return cls(**{**state, **arrays})
