"""Has a mean crossed a limit? A test that may be looked at after every value, for ever.

A gambler starts with 1 and bets on every value that the mean lies beyond the limit: the wealth is multiplied by
1 + λ · (limit − value). While the mean (of every value, given those before it) is not beyond the limit, no way of
betting gains on average, so that the wealth ever reaches 1/α with a probability of at most α over the whole stream
(Ville 1939; Waudby-Smith & Ramdas 2024, JRSS-B 86:1-27). The wealth is spread over several λ, and over gamblers who
start later, each with his share of the first stake: who started long before a change has lost too much to see it.

A source of values that comes back, such as a patient, is a trap: given the first value, the second has another
mean. So a gambler bets once on each source. Gamblers belong to generations, and a later generation may bet
again on a source on which an earlier one has bet. Within a generation every source appears once, so its wealth
gains nothing on average given all that this generation has seen. Given what the others saw it might, so the
wealth of two generations is not added up (Choe & Ramdas 2024, arXiv:2402.09698). The evidence is that of the
generation that has most: the stakes of all generations are 1 together, so the probability that any of them ever
reaches 1/α is α at most. Which source comes when, and so when a generation begins, must not depend on the
values.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Direction = Literal["below", "above"]
_BETS = (0.1, 0.3, 0.6, 0.95)  # of the largest bet that can never lose more than all
_SOONEST, _LATEST, _EARLY, _MOST_STARTS, _MOST_WEALTH = 10, 100, 20, 2000, 1e200
_ARRAYS = ("wealth", "shares", "generations")
_FEWEST_PASSED = 100  # of values that a generation let pass before the next one begins


@dataclass(eq=False)
class EProcess:
    """The evidence that the mean of values between `low` and `high` lies `direction` the `limit`, for one stream or
    for several side by side. Whenever a tenth more was seen, but after 10 values at the soonest and
    100 at the latest, another gambler starts; the k-th has 20/((k+19)(k+20)) of the stake. The next generation
    begins once the last one let pass as many values of sources that it knows as it took, and 100 at least."""

    limit: float
    direction: Direction
    low: float = 0.0
    high: float = 1.0
    streams: int = 1
    seen: int = 0
    started: int = 0
    next_start: int = 0
    generation: int = 1
    taken: int = 0  # values on which this generation bet, and those that it let pass
    passed: int = 0
    wealth: Floats = field(default_factory=lambda: np.empty((0, 0, 0)))
    shares: Floats = field(default_factory=lambda: np.empty(0))
    generations: Floats = field(default_factory=lambda: np.empty(0))  # of each gambler

    def __post_init__(self) -> None:
        if not self.low < self.limit < self.high:
            raise ValueError(f"the limit {self.limit:g} must lie between {self.low:g} and {self.high:g}")
        room = self.high - self.limit if self.direction == "below" else self.limit - self.low
        self._bets = np.array(_BETS) / room
        if not self.wealth.size:
            self.wealth = np.empty((self.streams, 0, len(_BETS)))

    def update(self, values: ArrayLike, known: int = 0) -> Floats:
        """Take one value of each stream; the evidence of each after it. An alarm is evidence of 1/α or more.
        `known` is the generation after the last value of the same source, 0 where this is the first one."""
        given = np.atleast_1d(np.asarray(values, dtype=float))
        if known >= self.generation:
            self.passed += 1
            if self.passed > max(self.taken, _FEWEST_PASSED):
                self.generation += 1
                self.taken, self.passed, self.next_start = 0, 0, self.seen
        if known < self.generation:
            if self.seen == self.next_start:
                self._start()
            self.seen += 1
            self.taken += 1
        gain = self.limit - given if self.direction == "below" else given - self.limit
        factors = 1.0 + gain[:, None, None] * self._bets
        if known:
            factors = np.where((self.generations > known)[:, None], factors, 1.0)
        self.wealth *= factors
        np.minimum(self.wealth, _MOST_WEALTH, out=self.wealth)
        return self.evidence

    @property
    def evidence(self) -> Floats:
        """The wealth of a generation, of the last one with the stakes of those who have yet to start; the most that
        any has."""
        own = self.wealth.mean(axis=2) * self.shares
        starts = np.flatnonzero(np.diff(self.generations, prepend=0.0))
        each = np.add.reduceat(own, starts, axis=1) if len(starts) else np.zeros((self.streams, 1))
        each[:, -1] += _EARLY / (self.started + _EARLY)
        most: Floats = each.max(axis=1)
        return most

    def _start(self) -> None:
        self.started += 1
        self.next_start += min(_LATEST, max(_SOONEST, self.seen // 10))
        ones = np.ones((self.streams, 1, len(_BETS)))
        self.wealth = np.concatenate([self.wealth, ones], axis=1)
        share = _EARLY / ((self.started + _EARLY - 1) * (self.started + _EARLY))
        self.shares = np.append(self.shares, share)
        self.generations = np.append(self.generations, self.generation)
        if (
            len(self.shares) > _MOST_STARTS
        ):  # whoever has nothing left goes home: that can only lower the evidence
            kept = np.sort(
                np.argsort((self.wealth.max(axis=(0, 2)) * self.shares)[:-1])[-_MOST_STARTS // 2 :]
            )
            kept = np.append(kept, len(self.shares) - 1)
            self.wealth, self.shares = self.wealth[:, kept], self.shares[kept]
            self.generations = self.generations[kept]

    def state(self) -> dict[str, Any]:
        """What `from_state` needs to go on where this one is, exactly."""
        said: dict[str, Any] = {each.name: getattr(self, each.name) for each in fields(self)}
        return said | {name: said[name].tolist() for name in _ARRAYS}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> EProcess:
        """The process that `state` was taken of."""
        arrays = {name: np.array(state[name], dtype=float) for name in _ARRAYS}
        return cls(**{**state, **arrays})
