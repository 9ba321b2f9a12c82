"""The simplest calibration: add one number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from medjury.analysis.calibration._maps.calibrator import Floats, Method, labelled_pairs, on_scale


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
