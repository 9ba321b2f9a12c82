"""A straight line from the judge's scale to the clinicians'."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from medjury.analysis.calibration._maps.calibrator import Floats, Method, labelled_pairs, on_scale


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
