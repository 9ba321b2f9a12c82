"""Cross-fitting: every labelled case is calibrated by a map that never saw it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from medjury.analysis.calibration._maps import (
    CASES_PER_FOLD,
    FOLDS,
    Calibrator,
    Cases,
    Isotonic,
    Linear,
    Method,
    Offset,
    Ordinal,
    case_folds,
    count_outside,
    labelled_pairs,
    on_scale,
)
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Floats

FINAL = -1
Calibrators = type[Isotonic] | type[Offset] | type[Linear] | type[Ordinal]
METHODS: Mapping[str, Calibrators] = {
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
    if method not in METHODS:
        raise MedjuryError(f"there is no calibration method {method!r}; use {', '.join(METHODS)}.")
    return METHODS[method]
