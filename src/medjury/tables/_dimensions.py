"""A dimension as it was measured: every grade that could be given, which end is good, what it follows from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument
from medjury.store.runs import GateRules, ManifestInstrument

if TYPE_CHECKING:
    import polars


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
        """The nearest grade, half up: 2.5 is 3 (numpy's own rounding says 2). On grades for and against, half is
        nearer to neither: 0.5 and -0.5 are both 0."""
        middles = (np.asarray(self.values)[:-1] + np.asarray(self.values)[1:]) / 2
        even = self.values[0] < 0 and self.values == tuple(-each for each in reversed(self.values))
        half_up = np.where(even & (middles > 0), _SAME, -_SAME)
        places = np.searchsorted(middles + half_up, scores, side="right")
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
            "list every grade where they are not whole numbers."
        )
    if high - low > MOST_GRADES:
        raise MedjuryError(
            f"a scale from {low:g} to {high:g} has more than {MOST_GRADES:,} grades, and nobody tells so many "
            "apart; list the grades, or divide the scores."
        )
    return Grades(tuple(range(int(low), int(high) + 1)))


GradesArgument = Grades | Sequence[float] | Mapping[str, "Grades | Sequence[float]"] | None


# A dimension as it was measured: its scale, which end is good, and what it follows from.


@dataclass(frozen=True, slots=True)
class Measured:
    """One dimension. `grades` is None where no scale is known. A `derived` one (reversed, composite) follows from
    others: it is shown beside them, and never counted as one more."""

    name: str
    label: str
    grades: Grades | None
    higher_is_better: bool = True
    derived: bool = False
    safety: bool = False
    weights: Mapping[str, float] = field(default_factory=dict)

    def oriented(self, scores: Numbers) -> Numbers:
        """The scores with low as the dangerous end."""
        if self.higher_is_better or self.grades is None:
            return scores
        return self.grades.lowest + self.grades.highest - scores

    def danger(self, rules: GateRules) -> tuple[float, float] | None:
        """The oriented score at or below which an answer is dangerous, and how much higher is a miss: a grade at
        least. Of two grades it is half way: a jury of three misses what two of its judges overlook, although their
        mean is less than a grade away. None without a scale."""
        if self.grades is None:
            return None
        span = self.grades.highest - self.grades.lowest
        least = span / 2 if len(self.grades.values) == 2 else float(min(np.diff(self.grades.values)))
        worst = self.grades.lowest + rules.danger * span
        if rules.danger >= 1:
            worst = float(self.oriented(np.asarray(rules.danger)))
        return worst, max(least, rules.gap * span)

    def claimed_danger(self, rules: GateRules) -> tuple[float, float] | None:
        """The same, and None on a dimension that carries no danger: what a verdict speaks of."""
        return self.danger(rules) if self.carries_danger(rules) else None

    def carries_danger(self, rules: GateRules) -> bool:
        """Whether the study says so or, where it says nothing, the instrument."""
        stated = rules.severe_dimensions
        return self.safety if stated is None else self.name in stated

    def danger_words(self, rules: GateRules) -> str:
        """What is called dangerous, for a reader: `graded 2 or lower`; "" where no danger is claimed."""
        limits = self.claimed_danger(rules)
        if limits is None or self.grades is None:
            return ""
        grades = self.grades.values if self.higher_is_better else self.grades.values[::-1]
        inside = [each for each in grades if float(self.oriented(np.asarray(each))) <= limits[0] + 1e-9]
        if not inside:
            return ""
        more = "" if len(inside) == 1 else " or lower" if self.higher_is_better else " or higher"
        return f"graded {inside[-1]:g}{more}"


def of_manifest(stated: ManifestInstrument) -> list[Measured]:
    """The dimensions that a run's manifest describes."""
    source = f"instrument {stated.name}"
    return [
        Measured(
            each.name,
            each.label or each.name,
            Grades(each.grades, source) if each.grades else None,
            each.higher_is_better,
            each.derived,
            each.safety,
            each.weights,
        )
        for each in stated.dimensions
    ]


def of_instrument(instrument: Instrument) -> list[Measured]:
    """The dimensions of an instrument, in its order, then what follows from them."""
    return of_manifest(ManifestInstrument.of(instrument))


def present(known: Sequence[Measured], rows: polars.DataFrame, scale: GradesArgument) -> tuple[Measured, ...]:
    """The dimensions that the rows have: known ones in their order, then the others; a scale that is given counts
    more than the instrument's. One scale for all is not that of a composite, whose range its weights make."""
    names = [str(name) for name in rows["dimension"].unique(maintain_order=True).to_list()]
    kept = [each for each in known if each.name in names]
    listed = [
        *kept,
        *(Measured(name, name, None) for name in sorted(set(names) - {each.name for each in kept})),
    ]
    return tuple(_rescaled(each, scale) for each in listed)


def _rescaled(dimension: Measured, scale: GradesArgument) -> Measured:
    composite = bool(dimension.weights)
    given: Any = scale.get(dimension.name) if isinstance(scale, Mapping) else None if composite else scale
    return dimension if given is None else replace(dimension, grades=grades_of(given))
