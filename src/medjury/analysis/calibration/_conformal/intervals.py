"""Conformal intervals for scores that are no grades: composites, means of several clinicians."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from medjury.analysis.calibration._conformal.strangeness import (
    Strangeness,
    check_level,
    first_share,
    strangeness,
)
from medjury.analysis.calibration._maps.calibrator import Calibrator, Floats, Method, on_scale
from medjury.analysis.calibration._maps.cross_fit import calibrator_kind
from medjury.analysis.calibration._maps.folds import CASES_PER_FOLD, Cases
from medjury.foundation.errors import MedjuryError


@dataclass(frozen=True, slots=True, eq=False)
class ConformalIntervals:
    """Calibrated score ± a width that held for the share `level` of other cases.

    Guaranteed for a random item of a new case drawn like the labelled cases: the clinicians' score lies
    inside with probability at least `level`. Split conformal prediction (Papadopoulos 2002; Lei et al.
    2018, J Am Stat Assoc 113:1094-1111): half of the labelled cases teach the calibrator, the other half
    the width.
    """

    calibrator: Calibrator
    labelled: Strangeness
    level: float
    n_cases: int
    scaled: bool

    @classmethod
    def fit(
        cls,
        scores: ArrayLike,
        labels: ArrayLike,
        *,
        cases: Cases,
        scale: tuple[float, float],
        level: float = 0.9,
        method: Method = "isotonic",
        spread: ArrayLike | None = None,
        seed: int = 0,
    ) -> ConformalIntervals:
        """`spread` (a positive number per item, such as the judges' standard deviation plus 0.5) makes
        intervals wider where it is larger; the guarantee stays the same."""
        check_level(level)
        given, wanted = on_scale(scores, scale, "the judge's"), on_scale(labels, scale, "the reference's")
        width = _positive(spread, len(given))
        taught = ~np.isnan(given) & ~np.isnan(wanted) & ~np.isnan(width)
        names = np.array([str(case) for case in cases], dtype=object)
        training = first_share(names[taught], 0.5, seed)
        x, y, by = given[taught], wanted[taught], width[taught]
        held = names[taught][~training]
        if min(len(set(names[taught][training])), len(set(held))) < CASES_PER_FOLD:
            raise MedjuryError(
                f"too few labels: {len(set(names[taught]))} labelled cases; a split needs 10 or more."
            )
        calibrator = calibrator_kind(method).fit(x[training], y[training], scale=scale)
        misses = np.abs(y[~training] - calibrator.predict(x[~training])) / by[~training]
        return cls(calibrator, strangeness(misses, held), level, len(set(held)), spread is not None)

    def predict(self, scores: ArrayLike, *, spread: ArrayLike | None = None) -> tuple[Floats, Floats, Floats]:
        """Low ends, calibrated scores and high ends; the whole scale where too few cases were labelled."""
        if self.scaled != (spread is not None):
            raise MedjuryError("give `spread` to both fit and predict, or to neither.")
        middle = self.calibrator.predict(scores)
        reach = self.labelled.quantile(self.level) * _positive(spread, len(middle))
        low, high = self.calibrator.scale
        return np.clip(middle - reach, low, high), middle, np.clip(middle + reach, low, high)


def _positive(spread: ArrayLike | None, size: int) -> Floats:
    if spread is None:
        return np.ones(size)
    values = np.asarray(spread, dtype=float)
    if values.shape != (size,) or (values[~np.isnan(values)] <= 0).any():
        raise MedjuryError("`spread` holds one positive number per item; add a constant where judges agree.")
    return values
