"""Cross-fitting: every labelled case is calibrated by a map that never saw it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from medjury.analysis.calibration._maps.calibrator import (
    Calibrator,
    Floats,
    Method,
    count_outside,
    labelled_pairs,
    on_scale,
)
from medjury.analysis.calibration._maps.folds import CASES_PER_FOLD, FOLDS, Cases, case_folds
from medjury.analysis.calibration._maps.ordinal import Ordinal
from medjury.foundation.errors import MedjuryError

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


FINAL = -1
Calibrators = type[Isotonic] | type[Offset] | type[Linear] | type[Ordinal]
METHODS: Mapping[Method, Calibrators] = {
    "isotonic": Isotonic,
    "offset": Offset,
    "linear": Linear,
    "ordinal": Ordinal,
}


@dataclass(frozen=True, slots=True, eq=False)
class OutOfFold:
    """Scores before and after calibration beside the labels, item by item; NaN is missing.

    `fold` tells which map calibrated the item (−1: one that no label of this table taught). `in_sample`
    marks items whose own case taught the map that calibrated them. A labelled item among them is refused
    here, so that no table can be made of it.
    """

    scores: Floats
    calibrated: Floats
    labels: Floats
    cases: NDArray[np.object_]
    fold: NDArray[np.int64]
    in_sample: NDArray[np.bool_]
    how: str

    def __post_init__(self) -> None:
        leaked = int(np.count_nonzero(self.in_sample & ~np.isnan(self.labels) & ~np.isnan(self.calibrated)))
        if leaked:
            raise MedjuryError(
                f"{leaked} labelled items were calibrated by a map fitted on their own cases. Reporting on "
                "the cases that taught the calibration is an error: cross-fit them, or report on other cases."
            )

    @property
    def known(self) -> NDArray[np.bool_]:
        """Items with a label and both scores: what a before/after table rests on."""
        return ~np.isnan(self.labels) & ~np.isnan(self.scores) & ~np.isnan(self.calibrated)

    @property
    def n(self) -> int:
        return int(self.known.sum())

    @property
    def n_cases(self) -> int:
        return len(set(self.cases[self.known].tolist()))

    @property
    def n_unscored(self) -> int:
        """Labelled items that the judge left without a score."""
        return int((~np.isnan(self.labels) & np.isnan(self.scores)).sum())


@dataclass(frozen=True, slots=True, eq=False)
class CrossFitted:
    """`calibrators[k]` was fitted without fold k; `final` on all labels, for new cases alone. `fold_of`
    tells the fold of every case that taught anything; `n_outside` counts scores beyond the fitted range."""

    out_of_fold: OutOfFold
    calibrators: tuple[Calibrator, ...]
    final: Calibrator
    fold_of: Mapping[str, int]
    method: Method
    seed: int
    n_outside: int


def cross_fit(
    scores: ArrayLike,
    labels: ArrayLike,
    *,
    cases: Cases,
    scale: tuple[float, float],
    method: Method = "isotonic",
    folds: int = FOLDS,
    seed: int = 0,
    minimum: int = CASES_PER_FOLD,
    fold_of: Mapping[str, int] | None = None,
    judge: str = "the judge",
) -> CrossFitted:
    """Calibrate every item with a map fitted on other cases; items of unlabelled cases get the final map.

    `cases` names each item's case (the patient where there is one): folds are made of whole cases, never of
    rows. NaN is a missing score or label. Too few labels and single-valued scores are refused. `fold_of`
    gives the folds where several judges or dimensions are to share them.
    """
    given, wanted = on_scale(scores, scale, f"{judge}'s"), on_scale(labels, scale, "the reference's")
    names = np.array([str(case) for case in cases], dtype=object)
    if not given.shape == wanted.shape == names.shape:
        raise MedjuryError(
            f"{given.size} scores, {wanted.size} labels and {names.size} cases: give one of each per item."
        )
    taught = ~np.isnan(given) & ~np.isnan(wanted)
    labelled_pairs(given, wanted, scale, judge)
    if fold_of is None:
        number_of = case_folds(names[taught], folds=folds, seed=seed, minimum=minimum)
        fold_of = dict(zip(names[taught].tolist(), number_of.tolist(), strict=True))
    fold = np.array([fold_of.get(name, FINAL) for name in names.tolist()], dtype=np.int64)
    _check(fold, names, taught, folds, minimum)
    kind = calibrator_kind(method)
    final = kind.fit(given[taught], wanted[taught], scale=scale)
    made: list[Calibrator] = []
    for number in range(folds):
        others = taught & (fold != number)
        what = f"{judge} (outside fold {number + 1} of {folds})"
        labelled_pairs(given[others], wanted[others], scale, what)
        made.append(kind.fit(given[others], wanted[others], scale=scale))
    calibrated, far = apply_folds(given, fold, made, final)
    out_of_fold = OutOfFold(
        given,
        calibrated,
        wanted,
        names,
        fold,
        np.zeros(len(given), dtype=bool),
        f"{method}, {folds} folds by case, seed {seed}",
    )
    return CrossFitted(out_of_fold, tuple(made), final, fold_of, method, seed, far)


def apply_folds(
    scores: Floats, fold: NDArray[np.int64], calibrators: list[Calibrator], final: Calibrator
) -> tuple[Floats, int]:
    """Each item by the map of its fold (−1: the final one), and how many scores lay beyond the fitted range."""
    calibrated, far = np.full(len(scores), np.nan), 0
    for number in np.unique(fold):
        here = fold == number
        chosen = final if number == FINAL else calibrators[number]
        calibrated[here] = chosen.predict(scores[here])
        far += count_outside(chosen, scores[here])
    return calibrated, far


def _check(
    fold: NDArray[np.int64], names: NDArray[np.object_], taught: NDArray[np.bool_], folds: int, minimum: int
) -> None:
    counts = [len(set(names[taught & (fold == number)].tolist())) for number in range(folds)]
    if min(counts) < minimum or (taught & (fold == FINAL)).any():
        raise MedjuryError(
            f"too few labels: fold {counts.index(min(counts)) + 1} of {folds} holds {min(counts)} labelled "
            f"cases with a score, and each needs {minimum}. Label more cases, or use fewer folds."
        )


def calibrator_kind(method: str) -> Calibrators:
    """The class of a method's name."""
    for name, kind in METHODS.items():
        if name == method:
            return kind
    raise MedjuryError(f"there is no calibration method {method!r}; use {', '.join(METHODS)}.")
