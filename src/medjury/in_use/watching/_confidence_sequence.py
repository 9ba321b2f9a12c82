"""An interval for a mean that may be looked at after every value, for ever, and whose mean may move.

For values between 0 and 1, a guess of each from those before it, and any bet 0 < λ < 1 the process
exp(λ·Σ(value − its mean) − (−log(1 − λ) − λ)·Σ(value − guess)²) gains nothing on average (Fan, Grama & Liu 2015,
EJP 20:1-22). So does its mean over several λ, which stays below 2/α for ever with a probability of 1 − α/2 (Ville
1939). Solved for the sum this is an interval around the plain mean of the values, for the mean of their means
(Howard, Ramdas, McAuliffe & Sekhon 2021, Annals of Statistics 49:1055-1080, theorem 4). It always holds its own
mean. It is not cut by what was found earlier: where a mean moves, earlier intervals are about another one.

A source of values that comes back (a patient's second, third, … value) is not new evidence: given the first
value the second has another mean. So first values are summed up apart, second ones too, and so on; in each of
these sums every source appears once. Each has its own part of α, and what they may be off by is added up,
whatever their dependence.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

_BETS = 0.9 * 0.5 ** np.arange(14)
_COSTS = -np.log1p(-_BETS) - _BETS
_SHARES = np.log(1.0 / ((np.arange(14) + 1.0) * (np.arange(14) + 2.0)))
_FIRST = 0.9  # of α for the first values; the k-th have the rest divided by (k − 1)·k


@dataclass
class ConfidenceSequence:
    """The interval for the mean of values between `low` and `high` so far.

    >>> sequence = ConfidenceSequence(alpha=0.05)
    >>> for value in [1, 0, 1, 1] * 100:
    ...     sequence.update(value)
    >>> [round(end, 2) for end in sequence.interval]
    [0.66, 0.84]
    """

    alpha: float = 0.05
    low: float = 0.0
    high: float = 1.0
    counts: list[int] = field(default_factory=list)  # of first values, of second values, …
    totals: list[float] = field(default_factory=list)  # on the scale from 0 to 1
    squares: list[float] = field(default_factory=list)  # of what each differs from its guess

    def update(self, value: float, earlier: int = 0) -> None:
        """Take one value, of a source that gave so many earlier ones."""
        scaled = (value - self.low) / (self.high - self.low)
        if not -1e-9 <= scaled <= 1 + 1e-9:
            raise ValueError(f"{value:g} does not lie between {self.low:g} and {self.high:g}")
        while len(self.counts) <= earlier:
            self.counts.append(0)
            self.totals.append(0.0)
            self.squares.append(0.0)
        guess = (0.5 + self.totals[earlier]) / (self.counts[earlier] + 1)
        self.counts[earlier] += 1
        self.totals[earlier] += scaled
        self.squares[earlier] += (scaled - guess) ** 2

    @property
    def n(self) -> int:
        """How many values there were."""
        return sum(self.counts)

    @property
    def mean(self) -> float | None:
        """The plain mean of the values."""
        return None if not self.n else self.low + sum(self.totals) / self.n * (self.high - self.low)

    @property
    def interval(self) -> tuple[float, float]:
        """Its ends, on the scale of the values; the mean lies between them."""
        if not self.n:
            return self.low, self.high
        low = high = 0.0
        for earlier, (count, total, squares) in enumerate(
            zip(self.counts, self.totals, self.squares, strict=True)
        ):
            share = _FIRST if not earlier else (1 - _FIRST) / (earlier * (earlier + 1))
            reach = _reach(squares, math.log(2 / (self.alpha * share)))
            low += max(0.0, total - reach)
            high += min(float(count), total + reach)
        width = (self.high - self.low) / self.n
        return self.low + low * width, self.low + high * width

    def state(self) -> dict[str, Any]:
        """What makes the same sequence again: `ConfidenceSequence(**state)`."""
        return asdict(self)


def _reach(squares: float, evidence: float) -> float:
    """How far a sum lies from its mean where the log of the mixture reaches this evidence: found by halving."""
    low, high = (
        0.0,
        float(np.min((evidence - _SHARES + _COSTS * squares) / _BETS)),
    )  # one bet alone is less than all
    for _ in range(60):
        middle = (low + high) / 2
        if np.logaddexp.reduce(_SHARES + _BETS * middle - _COSTS * squares) < evidence:
            low = middle
        else:
            high = middle
    return high
