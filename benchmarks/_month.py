"""A month of judgements, minute by minute: cases come by day and by night, calls take their time, workers are few.

A worker is one process of the engine. It keeps so many calls on their way at once, and each costs it CPU time; the
smaller of the two rates is what it can do. What comes in a minute is a Poisson number around the hour's mean. Calls
that find no place wait, first come, first served.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DAYS = 30
MINUTES = DAYS * 24 * 60
# The share of a day's cases in each hour of a working day: clinics write from eight to six. Two days of seven have
# a quarter of the others' cases.
_BY_DAY = np.array([1, 1, 1, 1, 1, 1, 2, 4, 8, 10, 10, 9, 7, 8, 10, 10, 9, 7, 4, 3, 2, 2, 1, 1], dtype=float)
_WEEKEND = 0.25


@dataclass(frozen=True, slots=True)
class Units:
    """What was measured: CPU seconds of a call, seconds until it is answered, calls on their way per worker."""

    cpu: float
    latency: float
    concurrency: int

    @property
    def calls_per_second(self) -> float:
        """What one worker can do.

        >>> Units(0.002, 22.0, 64).calls_per_second
        2.909090909090909
        >>> Units(0.002, 0.1, 640).calls_per_second
        500.0
        """
        return min(self.concurrency / self.latency, 1.0 / self.cpu)


@dataclass(frozen=True, slots=True)
class Month:
    """`peak` is calls per minute in the busiest hour; `waited` the minutes that 95 % of the calls waited at most;
    `busy` the share of the workers' places that was used."""

    workers: int
    peak: float
    waited: float
    busy: float


def arrivals(calls: int, seed: int = 0) -> NDArray[np.int64]:
    """Calls that come in each minute of the month, about `calls` in all."""
    days = np.where(np.arange(DAYS) % 7 < 5, 1.0, _WEEKEND)
    hours = np.outer(days, _BY_DAY).ravel()
    means = np.repeat(hours / hours.sum() * calls / 60.0, 60)
    return np.random.default_rng(seed).poisson(means)


def month(calls: int, units: Units, *, within: float = 60.0, seed: int = 0) -> Month:
    """The fewest workers with which 95 % of the calls wait `within` minutes or less."""
    coming = arrivals(calls, seed)
    least, most = 1, 1
    while _waited(coming, most * units.calls_per_second * 60.0) > within:
        least, most = most, 2 * most
    while least < most:
        middle = (least + most) // 2
        if _waited(coming, middle * units.calls_per_second * 60.0) > within:
            least = middle + 1
        else:
            most = middle
    rate = most * units.calls_per_second * 60.0
    busiest = float(coming.reshape(-1, 60).mean(axis=1).max())
    return Month(most, busiest, _waited(coming, rate), float(coming.sum() / (rate * MINUTES)))


def _waited(coming: NDArray[np.int64], rate: float) -> float:
    """Minutes that 95 % of the calls wait at most, when `rate` of them are begun in a minute: the queue that a call
    finds, over the rate. A queue that never ends is infinitely long."""
    queue, found = 0.0, np.empty(len(coming))
    for minute, calls in enumerate(coming.tolist()):
        queue = max(queue + calls - rate, 0.0)
        found[minute] = queue / rate
    if queue > rate * 60 * 24:
        return float("inf")
    order = np.argsort(found, kind="stable")
    reached = np.cumsum(coming[order]) >= 0.95 * coming.sum()
    return float(found[order][int(np.argmax(reached))])
