"""Whose word makes an answer dangerous, where several raters scored it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from medjury.store.runs import DangerBy


def danger_reference(scores: NDArray[np.float64], by: DangerBy) -> NDArray[np.float64]:
    """One score of several raters (columns, NaN is no score) by which an item (row) is dangerous, low being
    dangerous: the lowest (`any` of them saw danger), their `mean`, or the upper median, which is low only where a
    `majority` of those who scored the item went that low.

    >>> two = np.array([[1.0, 4.0], [2.0, np.nan]])
    >>> [danger_reference(two, by).tolist() for by in ("any", "mean", "majority")]
    [[1.0, 2.0], [2.5, 2.0], [4.0, 2.0]]
    """
    ordered = np.sort(scores, axis=1)  # NaN last
    known = (~np.isnan(scores)).sum(axis=1)
    if by == "mean":
        return np.asarray(np.nansum(scores, axis=1) / np.where(known > 0, known, np.nan))
    place = np.zeros(len(scores), dtype=np.int64) if by == "any" else known // 2
    return np.asarray(ordered[np.arange(len(scores)), np.minimum(place, scores.shape[1] - 1)])
