"""Calibration curves of a study as rows: every rater's map, and what maps make of composites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from medjury.analysis.calibration._maps.cross_fit import CrossFitted, OutOfFold
from medjury.analysis.calibration._reliability import calibration_curve, reliability

# As many bins as a composite's curve has points; its scores lie between grades.
_BINS = 8
FINAL = "final"


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What `score` becomes: by the `final` map or by the one `without fold N`; of what follows from calibrated
    scores, the mean calibrated score of the `n` answers around it, of all or of one fold."""

    dimension: str
    rater: str
    map: str
    score: float
    calibrated: float
    n: int | None = None

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


def mapped_points(
    rater: str, dimension: str, fitted: CrossFitted, grades: Sequence[float]
) -> list[CurvePoint]:
    """The curve of a rater with a map of its own, at its grades, by the final map and by each fold's."""
    return [
        CurvePoint(dimension, rater, name, float(at), float(value))
        for name, values in calibration_curve(fitted, grades).items()
        for at, value in zip(grades, values, strict=True)
    ]


def followed_points(rater: str, dimension: str, pairs: OutOfFold) -> list[CurvePoint]:
    """The curve of what follows from calibrated scores (composites, reversed dimensions, the mean of calibrated
    judges): the mean calibrated score, each by a map that never saw its case, over equal shares of the answers
    ordered by the score as it was given; of all answers, and fold by fold."""
    known = ~np.isnan(pairs.scores) & ~np.isnan(pairs.calibrated)
    folds = sorted(set(pairs.fold[known & pairs.known].tolist()))
    parts = {FINAL: (known, _BINS)} | {
        f"fold {number + 1}": (known & pairs.known & (pairs.fold == number), _BINS // 2) for number in folds
    }
    points = []
    for name, (here, bins) in parts.items():
        if here.any():
            cases = np.asarray(pairs.cases)[here]
            found = reliability(
                pairs.scores[here], pairs.calibrated[here], cases=cases, bins=bins, resamples=0
            )
            points += [
                CurvePoint(dimension, rater, name, point.score, point.label.value or 0.0, point.label.n)
                for point in found.points
            ]
    return points
