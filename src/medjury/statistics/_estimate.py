"""The estimate: a number never travels without its interval, its n and its method."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Estimate:
    """A statistic with its interval. `value` is None where it is undefined, and `reason` says why;
    `low` and `high` are None where no interval exists. Never NaN."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    method: str
    reason: str = ""

    def __post_init__(self) -> None:
        for number in (self.value, self.low, self.high):
            if number is not None and not math.isfinite(number):
                raise ValueError(f"an estimate holds a finite number or None, not {number!r}")
        if (self.value is None) != bool(self.reason):
            raise ValueError("an undefined estimate needs a reason, and only an undefined one has it")

    @property
    def defined(self) -> bool:
        return self.value is not None

    def without_interval(self, why: str) -> Estimate:
        """The value alone, where its interval would not hold, and the reason in place of the method."""
        return replace(self, low=None, high=None, method=f"no interval: {why}")


def undefined(reason: str, n: int, method: str) -> Estimate:
    """An explicit undefined: the statistic does not exist for these data."""
    return Estimate(None, None, None, n, method, reason)
