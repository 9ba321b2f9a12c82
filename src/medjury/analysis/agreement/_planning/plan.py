"""Planning a study: what a sample size buys, and the search for the smallest one that buys enough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from scipy import special

from medjury.foundation.errors import MedjuryError

_MOST_CASES = 10_000_000


@dataclass(frozen=True, slots=True)
class Plan:
    """`cases` rated by `raters` each. `width` is the interval's expected full width and `power` the chance to
    show that the statistic exceeds `null`; each None where it was not asked for."""

    statistic: str
    value: float
    cases: int
    raters: int
    width: float | None
    power: float | None
    null: float | None
    confidence: float
    method: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Simulated:
    """What really happens at a sample size: mean width, share of intervals that hold the true value, share of
    studies whose one-sided lower bound lies above `null`, and share in which the statistic was undefined."""

    cases: int
    raters: int
    width: float
    coverage: float
    power: float | None
    undefined: float
    simulations: int
    seed: int
    method: str


def two_sided(confidence: float) -> float:
    """The normal quantile of a two-sided interval."""
    if not 0 < confidence < 1:
        raise MedjuryError(f"confidence is a share between 0 and 1, not {confidence}.")
    return float(special.ndtri(1 - (1 - confidence) / 2))


def check_goal(width: float | None, null: float | None, value: float, power: float) -> None:
    """A plan has one goal: a width, or power against a null value below the expected one."""
    if (width is None) == (null is None):
        raise MedjuryError(
            "say what the study is for: either a width of the interval or a null value to beat."
        )
    if width is not None and not 0 < width < 2:
        raise MedjuryError(f"the width of the interval must lie between 0 and 2, not {width}.")
    if null is not None and not null < value:
        raise MedjuryError(f"the null value {null} must lie below the expected value {value}.")
    if not 0 < power < 1:
        raise MedjuryError(f"power is a share between 0 and 1, not {power}.")


def smallest(enough: Callable[[int], bool], start: int, lowest: int = 3) -> int:
    """The smallest whole number that is enough, searched from `start`; `enough` must not turn false again."""
    high = max(start, lowest)
    while not enough(high):
        if high > _MOST_CASES:
            raise MedjuryError(f"more than {_MOST_CASES:,} cases would be needed; ask for less.")
        high *= 2
    low = lowest - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
