"""Isotonic regression: the monotone map with the least squared error, linear between its knots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from medjury.analysis.calibration._maps.calibrator import Floats, Method, labelled_pairs, on_scale


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
