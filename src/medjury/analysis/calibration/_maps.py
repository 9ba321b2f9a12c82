"""What every calibrator is: a frozen fitted map from a judge's scores to the clinicians' scale."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from medjury.foundation.errors import MedjuryError
from medjury.statistics import Floats, fit_ordinal

Method = Literal["isotonic", "offset", "linear", "ordinal"]
_SAME = 1e-9


class Calibrator(Protocol):
    """`predict` never reverses the judge's order, never leaves the scale, and keeps a missing score missing.

    `seen` is the range of scores the fit saw. A score off the scale is refused; one on the scale but beyond
    `seen` gets a prediction, and `count_outside` counts it so that nobody overlooks it.
    """

    method: ClassVar[Method]

    @property
    def scale(self) -> tuple[float, float]: ...

    @property
    def seen(self) -> tuple[float, float]: ...

    def predict(self, scores: ArrayLike) -> Floats: ...


def check_confidence(confidence: float) -> None:
    """A confidence is a share between 0 and 1; 95 is refused, not taken for 0.95."""
    if not 0 < confidence < 1:
        raise MedjuryError(f"the confidence is a share between 0 and 1, such as 0.95, not {confidence:g}.")


def count_outside(calibrator: Calibrator, scores: ArrayLike) -> int:
    """How many scores lie beyond the range the calibrator was fitted on."""
    values = np.asarray(scores, dtype=float)
    low, high = calibrator.seen
    return int(np.count_nonzero((values < low - _SAME) | (values > high + _SAME)))


def on_scale(scores: ArrayLike, scale: tuple[float, float], whose: str) -> Floats:
    """The scores as numbers, NaN where missing; a score off the scale is refused with its value."""
    values = np.array(scores, dtype=float)
    if values.ndim != 1:
        raise MedjuryError(f"{whose} scores form one list, one score per item, not {values.ndim} axes.")
    low, high = scale
    if not low < high:
        raise MedjuryError(f"a scale runs from a lowest to a highest grade, not from {low:g} to {high:g}.")
    wrong = values[~np.isnan(values) & ~((values >= low - _SAME) & (values <= high + _SAME))]
    if wrong.size:
        shown = ", ".join(f"{value:g}" for value in np.unique(wrong)[:5])
        raise MedjuryError(
            f"{wrong.size} of {whose} scores lie off the scale {low:g} to {high:g}: {shown}. "
            "Give the scale they were made on, or leave them out as unscored."
        )
    return values


def labelled_pairs(
    scores: ArrayLike, labels: ArrayLike, scale: tuple[float, float], what: str = "the judge"
) -> tuple[Floats, Floats]:
    """The pairs that can teach something: both numbers there, and neither side constant."""
    given, wanted = on_scale(scores, scale, f"{what}'s"), on_scale(labels, scale, "the reference's")
    if given.shape != wanted.shape:
        raise MedjuryError(
            f"{given.size} scores and {wanted.size} labels: give one label (or NaN) per score."
        )
    both = ~np.isnan(given) & ~np.isnan(wanted)
    given, wanted = given[both], wanted[both]
    if given.size < 2:
        raise MedjuryError(f"{given.size} items have both a score and a label; a calibration needs more.")
    if np.ptp(given) <= _SAME:
        raise MedjuryError(
            f"{what} gave the score {given[0]:g} to all {given.size} labelled items: a single-valued score "
            "holds nothing that could be calibrated. Judge more varied cases, or leave this judge out."
        )
    if np.ptp(wanted) <= _SAME:
        raise MedjuryError(
            f"the reference gave {wanted[0]:g} to all {wanted.size} labelled items: every calibration "
            f"would map every score to {wanted[0]:g}. Label more varied cases."
        )
    return given, wanted


# Folds of whole cases: what teaches a calibration never shares a case with what it is reported on.

FOLDS = 5
# A fold with fewer labelled cases says next to nothing, and what is fitted without it hangs on single cases.
CASES_PER_FOLD = 5

Cases = Sequence[object] | NDArray[Any]


def case_folds(
    cases: Cases, *, folds: int = FOLDS, seed: int = 0, minimum: int = CASES_PER_FOLD
) -> NDArray[np.int64]:
    """A fold number for every item, the same for all items of a case, sizes differing by one case at most.

    It depends on the names of the cases and the seed alone, not on the order of the rows. Fewer than
    `minimum` cases in a fold are refused.

    >>> case_folds(["a", "b", "a", "c"], folds=2, minimum=1).tolist()
    [1, 0, 1, 0]
    """
    if folds < 2:
        raise MedjuryError(f"cross-fitting needs 2 folds or more, not {folds}.")
    names = [str(case) for case in cases]
    known = sorted(set(names), key=lambda name: hashlib.sha256(f"{seed}\0{name}".encode()).digest())
    smallest = len(known) // folds
    if smallest < max(minimum, 1):
        fewer = len(known) // max(minimum, 1)
        advice = f", or use {fewer} folds" if 2 <= fewer < folds else ""
        raise MedjuryError(
            f"too few labels: of {len(known)} labelled cases a fold would hold {smallest}, and each of {folds} "
            f"folds needs {minimum}. Label {minimum * folds} cases or more{advice}."
        )
    place = {name: index % folds for index, name in enumerate(known)}
    return np.array([place[name] for name in names], dtype=np.int64)


# Maps from a judge's scale to the clinicians': isotonic, linear, one offset.

# Isotonic regression: the monotone map with the least squared error, linear between its knots.


@dataclass(frozen=True, slots=True)
class Isotonic:
    """A rising step table (`knots`, `values`), read with linear interpolation, flat beyond its ends, inside
    the scale.

    It assumes nothing but order, and it shrinks towards the mean: offset and RMSE fall while the kappa of a
    single judge may fall too. Barlow et al. (1972), Statistical Inference under Order Restrictions.

    >>> calibrator = Isotonic.fit([1, 2, 2, 3, 4], [2, 2, 4, 3, 5], scale=(1, 5))
    >>> calibrator.predict([1, 2.5, 4]).tolist()
    [2.0, 3.0, 5.0]
    """

    knots: tuple[float, ...]
    values: tuple[float, ...]
    scale: tuple[float, float]
    method: ClassVar[Method] = "isotonic"

    @classmethod
    def fit(cls, scores: ArrayLike, labels: ArrayLike, *, scale: tuple[float, float]) -> Isotonic:
        """Pool adjacent violators over the mean label of each distinct score."""
        given, wanted = labelled_pairs(scores, labels, scale)
        knots, place, counts = np.unique(given, return_inverse=True, return_counts=True)
        means = np.bincount(place, weights=wanted) / counts
        values = pool_adjacent_violators(means, counts.astype(float))
        return cls(tuple(knots.tolist()), tuple(values.tolist()), scale)

    @property
    def seen(self) -> tuple[float, float]:
        return self.knots[0], self.knots[-1]

    def predict(self, scores: ArrayLike) -> Floats:
        values = on_scale(scores, self.scale, "the judge's")
        return np.asarray(np.clip(np.interp(values, self.knots, self.values), *self.scale))


def pool_adjacent_violators(values: Floats, weights: Floats) -> Floats:
    """The rising sequence nearest to `values` in weighted squares: neighbours that fall are pooled to their
    mean.

    >>> pool_adjacent_violators(np.array([1.0, 3.0, 2.0, 4.0]), np.ones(4)).tolist()
    [1.0, 2.5, 2.5, 4.0]
    """
    means: list[float] = []
    sizes: list[float] = []
    lengths: list[int] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        mean, size, length = value, weight, 1
        while means and means[-1] >= mean:
            before, before_size = means.pop(), sizes.pop()
            mean = (before * before_size + mean * size) / (before_size + size)
            size += before_size
            length += lengths.pop()
        means.append(mean)
        sizes.append(size)
        lengths.append(length)
    return np.repeat(means, lengths)


# A straight line from the judge's scale to the clinicians'.


@dataclass(frozen=True, slots=True)
class Linear:
    """`intercept + slope · score`, clipped to the scale. The slope is never negative: a judge that orders
    cases the wrong way round is flattened to the mean label, not turned over.

    >>> Linear.fit([1, 2, 3], [2, 2.5, 3], scale=(1, 5)).predict([2, 5]).tolist()
    [2.5, 4.0]
    """

    intercept: float
    slope: float
    seen: tuple[float, float]
    scale: tuple[float, float]
    method: ClassVar[Method] = "linear"

    @classmethod
    def fit(cls, scores: ArrayLike, labels: ArrayLike, *, scale: tuple[float, float]) -> Linear:
        """Least squares."""
        given, wanted = labelled_pairs(scores, labels, scale)
        centred = given - given.mean()
        slope = max(0.0, float(centred @ wanted / (centred @ centred)))
        intercept = float(wanted.mean() - slope * given.mean())
        return cls(intercept, slope, (float(given.min()), float(given.max())), scale)

    def predict(self, scores: ArrayLike) -> Floats:
        values = on_scale(scores, self.scale, "the judge's")
        return np.clip(self.intercept + self.slope * values, *self.scale)


# The simplest calibration: add one number.


@dataclass(frozen=True, slots=True)
class Offset:
    """Score + `shift`, clipped to the scale. For few labels: one number is learnt.

    >>> Offset.fit([1, 2, 3], [2, 3, 4], scale=(1, 5)).predict([2, 5]).tolist()
    [3.0, 5.0]
    """

    shift: float
    seen: tuple[float, float]
    scale: tuple[float, float]
    method: ClassVar[Method] = "offset"

    @classmethod
    def fit(cls, scores: ArrayLike, labels: ArrayLike, *, scale: tuple[float, float]) -> Offset:
        """The mean of label − score."""
        given, wanted = labelled_pairs(scores, labels, scale)
        return cls(float((wanted - given).mean()), (float(given.min()), float(given.max())), scale)

    def predict(self, scores: ArrayLike) -> Floats:
        values = on_scale(scores, self.scale, "the judge's")
        return np.clip(values + self.shift, *self.scale)


# Cumulative logit: the probability of every grade, given the judge's score.


# So many numbers of levels, grades and fits are worked on at once.
_CELLS = 1 << 18


@dataclass(frozen=True, slots=True)
class Ordinal:
    """P(label ≤ grade k | score) = 1 / (1 + exp(−(threshold_k − slope · score))); `predict` is the expected
    grade.

    Proportional odds (McCullagh 1980, J R Stat Soc B 42:109-142), by maximum likelihood; the slope is never
    negative. `grades` are the labels that occurred: a grade that nobody gave has probability 0.

    >>> calibrator = Ordinal.fit([1, 1, 2, 2, 3, 3, 4, 4], [1, 2, 1, 2, 2, 3, 3, 2], scale=(1, 5))
    >>> calibrator.probabilities([1.0]).shape
    (1, 3)
    """

    grades: tuple[float, ...]
    thresholds: tuple[float, ...]
    slope: float
    seen: tuple[float, float]
    scale: tuple[float, float]
    method: ClassVar[Method] = "ordinal"

    @classmethod
    def fit(cls, scores: ArrayLike, labels: ArrayLike, *, scale: tuple[float, float]) -> Ordinal:
        """Maximum likelihood over the distinct pairs of score and label."""
        return cls.fit_each([(scores, labels)], scale=scale)[0]

    @classmethod
    def fit_each(
        cls, several: Sequence[tuple[ArrayLike, ArrayLike]], *, scale: tuple[float, float]
    ) -> list[Ordinal]:
        """A fit for each pair of scores and labels: as if one came after the other, to the last digit, in a
        fraction of the time."""
        taught = [labelled_pairs(scores, labels, scale) for scores, labels in several]
        levels = np.unique(np.concatenate([given for given, _ in taught])) if taught else np.empty(0)
        alike: dict[tuple[float, ...], list[int]] = {}
        for place, (_, wanted) in enumerate(taught):
            alike.setdefault(tuple(np.unique(wanted).tolist()), []).append(place)
        found: dict[int, Ordinal] = {}
        for grades, places in alike.items():
            at_once = max(1, _CELLS // (len(levels) * len(grades)))
            for start in range(0, len(places), at_once):
                some = places[start : start + at_once]
                fitted = _fitted([taught[place] for place in some], levels, grades, scale)
                found |= dict(zip(some, fitted, strict=True))
        return [found[place] for place in range(len(taught))]

    def probabilities(self, scores: ArrayLike) -> Floats:
        """One row per score, one column per grade; rows sum to one, NaN where the score is missing."""
        values = on_scale(scores, self.scale, "the judge's")
        below = special.expit(np.asarray(self.thresholds) - self.slope * values[:, np.newaxis])
        edges = np.column_stack([np.zeros(len(values)), below, np.ones(len(values))])
        return np.where(np.isnan(values)[:, np.newaxis], np.nan, np.diff(edges, axis=1))

    def predict(self, scores: ArrayLike) -> Floats:
        return self.expected(self.probabilities(scores))

    def expected(self, probabilities: Floats) -> Floats:
        """The expected grade of each row of probabilities."""
        return np.asarray(np.clip(probabilities @ np.asarray(self.grades), *self.scale))


def _fitted(
    taught: Sequence[tuple[Floats, Floats]],
    levels: Floats,
    grades: tuple[float, ...],
    scale: tuple[float, float],
) -> list[Ordinal]:
    """Fits whose labels are the same grades, each over how often every level of the score goes with every grade."""
    size = len(levels) * len(grades)
    cells = [
        np.searchsorted(levels, given) * len(grades) + np.searchsorted(grades, wanted)
        for given, wanted in taught
    ]
    often = np.column_stack([np.bincount(each, minlength=size) for each in cells]).astype(float)
    centre = np.array([given.mean() for given, _ in taught])
    spread = np.array([given.std() for given, _ in taught])
    # Few distinct pairs stand for many items; a level that a fit never saw counts for nothing in it.
    standard = (levels[:, np.newaxis] - centre) / spread
    thresholds, slopes = fit_ordinal(standard[np.newaxis], often.reshape(len(levels), len(grades), -1))
    slopes = slopes[0] / spread
    thresholds = thresholds + slopes * centre
    return [
        Ordinal(
            grades,
            tuple(thresholds[:, place].tolist()),
            float(slopes[place]),
            (float(given.min()), float(given.max())),
            scale,
        )
        for place, (given, _) in enumerate(taught)
    ]
