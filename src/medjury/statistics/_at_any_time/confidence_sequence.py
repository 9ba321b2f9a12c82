"""An interval for a mean that may be looked at after every value, for ever.

The predictable plug-in empirical Bernstein sequence (Waudby-Smith & Ramdas 2024, JRSS-B 86:1-27, theorem 2): with
probability 1 − α the mean lies in all of the intervals at once, however often one looks and whenever one stops. For
a mean that moves, it is an interval for a weighted mean of the means so far.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from medjury.records import dataclass

_CAP = 0.5  # of a bet; any value below 1 is valid


@dataclass
class ConfidenceSequence:
    """The interval for the mean of values between `low` and `high` so far; a running intersection, as is allowed
    where all intervals hold at once.

    >>> sequence = ConfidenceSequence(alpha=0.05)
    >>> for value in [1, 0, 1, 1] * 100:
    ...     sequence.update(value)
    >>> [round(end, 2) for end in sequence.interval]
    [0.67, 0.83]
    """

    alpha: float = 0.05
    low: float = 0.0
    high: float = 1.0
    n: int = 0
    total: float = 0.0  # of the values on the scale from 0 to 1
    squares: float = 0.0
    bets: float = 0.0
    staked: float = 0.0
    spent: float = 0.0
    lower: float = 0.0
    upper: float = 1.0

    def update(self, value: float) -> None:
        """Take one value."""
        scaled = (value - self.low) / (self.high - self.low)
        if not -1e-9 <= scaled <= 1 + 1e-9:
            raise ValueError(f"{value:g} does not lie between {self.low:g} and {self.high:g}")
        before = (0.5 + self.total) / (self.n + 1)
        variance = (0.25 + self.squares) / (self.n + 1)
        self.n += 1
        bet = math.sqrt(2 * math.log(1 / self.alpha) / (variance * self.n * math.log1p(self.n)))
        bet = min(bet, _CAP)
        self.total += scaled
        self.squares += (scaled - (0.5 + self.total) / (self.n + 1)) ** 2
        self.bets += bet
        self.staked += bet * scaled
        self.spent += (scaled - before) ** 2 * (-math.log1p(-bet) - bet)
        centre, reach = self.staked / self.bets, (math.log(2 / self.alpha) + self.spent) / self.bets
        self.lower, self.upper = max(self.lower, centre - reach), min(self.upper, centre + reach)

    @property
    def mean(self) -> float | None:
        """The plain mean of the values."""
        return None if not self.n else self.low + self.total / self.n * (self.high - self.low)

    @property
    def interval(self) -> tuple[float, float]:
        """Its ends, on the scale of the values. They cross only where the mean has moved."""
        width = self.high - self.low
        return self.low + self.lower * width, self.low + self.upper * width

    def state(self) -> dict[str, Any]:
        """What makes the same sequence again: `ConfidenceSequence(**state)`."""
        return asdict(self)
