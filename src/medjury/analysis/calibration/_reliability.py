"""Reliability: where the judge says 4, what did the clinicians say? And the calibration curve of every fold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from medjury.analysis.calibration._maps.calibrator import Calibrator, Floats
from medjury.analysis.calibration._maps.cross_fit import CrossFitted
from medjury.analysis.calibration._maps.folds import Cases
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate, bootstrap


@dataclass(frozen=True, slots=True)
class ReliabilityPoint:
    """Items whose score lies in a bin: their mean score and the reference's mean on the same items."""

    lowest: float
    highest: float
    score: float
    label: Estimate


@dataclass(frozen=True, slots=True)
class Reliability:
    """The points of the curve, and `error`: the mean of |score − label| over bins, weighted by their items."""

    points: tuple[ReliabilityPoint, ...]
    error: float
    n: int


def reliability(
    scores: ArrayLike,
    labels: ArrayLike,
    *,
    cases: Cases,
    bins: int = 10,
    resamples: int = 2000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Reliability:
    """Mean label by score: one bin per distinct score where there are at most `bins`, else bins of equal
    size.

    A calibrated judge lies on the diagonal. Intervals resample the whole cases of a bin (BCa-t); a bin of fewer
    than 30 answers or ten cases, or in which all labels are the same, has a value and no interval.

    >>> curve = reliability([1, 1, 2, 2], [1, 2, 2, 3], cases="abcd", resamples=100)
    >>> [(point.score, point.label.value) for point in curve.points], curve.error
    ([(1.0, 1.5), (2.0, 2.5)], 0.5)
    """
    given, wanted = np.asarray(scores, dtype=float), np.asarray(labels, dtype=float)
    known = ~np.isnan(given) & ~np.isnan(wanted)
    if not known.any():
        raise MedjuryError("no item has both a score and a label: there is no reliability curve.")
    names = np.array([str(case) for case in cases], dtype=object)[known]
    given, wanted = given[known], wanted[known]
    place = _bins(given, bins)
    points = []
    for number in range(int(place.max()) + 1):
        inside = place == number
        here = given[inside]
        label = Estimate(float(wanted[inside].mean()), None, None, int(inside.sum()), "no interval")
        if resamples:
            # Each bin by itself: fifty cases of all say nothing of a bin that holds three.
            label = bootstrap(
                wanted[inside],
                _mean,
                clusters=names[inside],
                resamples=resamples,
                seed=seed,
                confidence=confidence,
            )["label_mean"]
        points.append(ReliabilityPoint(float(here.min()), float(here.max()), float(here.mean()), label))
    error = sum(abs(point.score - (point.label.value or 0.0)) * point.label.n for point in points) / len(
        given
    )
    return Reliability(tuple(points), float(error), len(given))


def calibration_curve(fitted: CrossFitted, at: Sequence[float]) -> dict[str, tuple[float, ...]]:
    """Calibrated values at the scores `at`, by the final map and by every fold's: folds that lie together
    say that the calibration is stable."""
    maps: dict[str, Calibrator] = {"final": fitted.final}
    maps |= {f"without fold {number}": each for number, each in enumerate(fitted.calibrators, start=1)}
    return {name: tuple(each.predict(list(at)).tolist()) for name, each in maps.items()}


def _mean(rows: Floats) -> Callable[[Floats], dict[str, Floats]]:
    return lambda weights: {"label_mean": weights @ rows[:, 0] / weights.sum(axis=-1)}


def _bins(scores: Floats, bins: int) -> NDArray[np.int64]:
    levels, place = np.unique(scores, return_inverse=True)
    if len(levels) <= bins:
        return np.asarray(place)
    edges = np.unique(np.quantile(scores, np.linspace(0, 1, bins + 1)[1:-1]))
    coarse = np.searchsorted(edges, scores, side="right")
    return np.asarray(np.unique(coarse, return_inverse=True)[1])
