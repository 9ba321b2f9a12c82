"""The scale: every grade that could be given, seen or not. Observed levels are never taken for it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument

Numbers = NDArray[np.float64]
_SAME = 1e-9
# Tables of all grades by all grades are made; beyond this they do not fit.
MOST_GRADES = 1000


@dataclass(frozen=True, slots=True)
class Grades:
    """All grades, lowest first, and who says so."""

    values: tuple[float, ...]
    source: str = "given"

    def __post_init__(self) -> None:
        if len(self.values) < 2 or any(
            b - a <= 0 for a, b in zip(self.values, self.values[1:], strict=False)
        ):
            raise MedjuryError(f"a scale needs two or more rising grades, not {list(self.values)}.")

    @property
    def lowest(self) -> float:
        return self.values[0]

    @property
    def highest(self) -> float:
        return self.values[-1]

    def holds(self, scores: Numbers) -> NDArray[np.bool_]:
        """Which scores lie between the lowest and the highest grade, on a grade or not (a jury's mean)."""
        return np.asarray((scores >= self.lowest - _SAME) & (scores <= self.highest + _SAME))

    def grade(self, scores: Numbers) -> Numbers:
        """The nearest grade, half up: 2.5 is 3 (numpy's own rounding says 2)."""
        middles = (np.asarray(self.values)[:-1] + np.asarray(self.values)[1:]) / 2
        places = np.searchsorted(middles - _SAME, scores, side="right")
        return np.where(np.isnan(scores), np.nan, np.asarray(self.values)[places])


def grades_of(given: Grades | Sequence[float]) -> Grades:
    """`(1, 5)` means the grades 1, 2, 3, 4, 5; three numbers or more are the grades themselves.

    >>> grades_of((1, 5)).values
    (1, 2, 3, 4, 5)
    """
    if isinstance(given, Grades):
        return given
    numbers = tuple(given)
    if len(numbers) != 2:
        return Grades(numbers)
    low, high = numbers
    if not (math.isfinite(low) and math.isfinite(high)) or low % 1 or high % 1 or high <= low:
        raise MedjuryError(
            f"a scale of two numbers runs over whole grades from low to high, not {low:g} to {high:g}; "
            "list every grade where they are no whole numbers."
        )
    if high - low > MOST_GRADES:
        raise MedjuryError(
            f"a scale from {low:g} to {high:g} has more than {MOST_GRADES:,} grades, and nobody tells so many "
            "apart; list the grades, or divide the scores."
        )
    return Grades(tuple(range(int(low), int(high) + 1)))


def grades_from_instrument(instrument: Instrument, dimension: str) -> Grades | None:
    """The grades of a dimension, or of the one it reverses; None for a composite or an unknown name."""
    names = {each.name: each.of for each in instrument.reversed}
    for each in instrument.dimensions:
        if each.name == names.get(dimension, dimension):
            return Grades(tuple(float(value) for value in each.values), f"instrument {instrument.name}")
    return None


GradesArgument = Grades | Sequence[float] | Mapping[str, "Grades | Sequence[float]"] | None
