"""Two raters' complete scores, and whether they can be counted as grades."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medjury.statistics import RESAMPLES, Floats, PostStrata
from medjury.tables import Grades


@dataclass(frozen=True, slots=True)
class Settings:
    """How estimates are made: how many resamples, which seed, how wide, which statistics (None: all)."""

    resamples: int = RESAMPLES
    seed: int = 0
    confidence: float = 0.95
    statistics: Collection[str] | None = None

    def wants(self, name: str) -> bool:
        return self.statistics is None or name in self.statistics

    def wants_any(self, names: Iterable[str]) -> bool:
        return self.statistics is None or any(name in self.statistics for name in names)


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Complete scores of two raters, reference first, with the case of every row and, where there are two
    systems or more, its system. A `metric` is on no clinical scale. `weights` are one over the probabilities with
    which the answers were drawn; None where these are all the same. `strata` are then those of all answers by the
    score of the rater who scored all, where there is one."""

    rows: Floats
    cases: NDArray[Any]
    grades: Grades | None
    systems: NDArray[Any] | None = None
    metric: bool = False
    weights: Floats | None = None
    strata: PostStrata | None = None

    @property
    def clusters(self) -> NDArray[Any] | None:
        """The cases, or None where every row is a case of its own."""
        return self.cases if len(set(self.cases.tolist())) < len(self.cases) else None

    def positive(self) -> float | None:
        """The positive value of a reference with two: on a two-grade scale, or 0 and 1 without a scale."""
        if self.grades is not None and len(self.grades.values) == 2:
            return self.grades.highest if np.isin(self.rows[:, 0], self.grades.values).all() else None
        seen = np.unique(self.rows[:, 0]).tolist()
        return 1.0 if self.grades is None and seen == [0.0, 1.0] else None


@dataclass(frozen=True, slots=True)
class Counted:
    """The grades a pair's scores are counted on: `given`, or the whole numbers between the lowest and the
    highest score seen, for coefficients that grades outside that range cannot change; `note` joins their
    method."""

    grades: Grades | None
    given: bool = False
    note: str = ""


def counted(pair: Pair) -> Counted:
    """Scores between grades (a jury's mean) are rounded half up, and the note says how many."""
    rows, grades = pair.rows, pair.grades
    if pair.metric or not len(rows):
        return Counted(None)
    if grades is not None:
        between = int((grades.grade(rows) != rows).any(axis=1).sum())
        return Counted(grades, True, f"; {between} scores between grades rounded half up" if between else "")
    if (rows != np.floor(rows)).any() or np.ptp(rows) > 1000:
        return Counted(None)
    low, high = int(rows.min()), int(rows.max())
    levels = tuple(float(level) for level in range(low, max(high, low + 1) + 1))
    return Counted(Grades(levels, "whole numbers seen"), False, "; no scale given, grades one apart assumed")
