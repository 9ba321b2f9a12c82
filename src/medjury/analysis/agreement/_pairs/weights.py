"""Agreement weights: how much credit a pair of levels gets, 1 on the diagonal and less with distance.

Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., table 2.11 and chapter 3, with the distances taken
between the levels' own values, so that a scale 0, 1, 3 is not treated as 0, 1, 2.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from medjury.foundation.errors import MedjuryError
from medjury.statistics import Floats, choose

WeightName = Literal["identity", "linear", "quadratic", "ordinal", "radical", "ratio", "circular", "bipolar"]


def agreement_weights(positions: Floats, name: WeightName) -> Floats:
    """The matrix of weights for a scale, by name.

    >>> agreement_weights(np.array([1.0, 2.0, 3.0]), "quadratic").tolist()
    [[1.0, 0.75, 0.0], [0.75, 1.0, 0.75], [0.0, 0.75, 1.0]]
    """
    choose(name, get_args(WeightName), "weighting")
    size = len(positions)
    first, second = positions[:, np.newaxis], positions[np.newaxis, :]
    low, high = float(positions.min()), float(positions.max())
    distance = np.abs(first - second)
    if name == "identity":
        return np.eye(size)
    if name == "linear":
        return np.asarray(1.0 - distance / (high - low))
    if name == "quadratic":
        return np.asarray(1.0 - (distance / (high - low)) ** 2)
    if name == "radical":
        return 1.0 - np.sqrt(distance / (high - low))
    if name == "ordinal":
        # The number of pairs of levels that lie between the two, both included.
        between = np.abs(np.subtract.outer(np.arange(size), np.arange(size))) + 1.0
        pairs = between * (between - 1.0) / 2.0
        return np.asarray(1.0 - pairs / pairs.max())
    if name == "ratio":
        if low < 0 or high + low == 0:
            raise MedjuryError("Ratio weights need a scale without negative levels.")
        total = first + second
        relative = np.divide(distance, total, out=np.zeros_like(distance), where=total > 0) ** 2
        return 1.0 - relative / ((high - low) / (high + low)) ** 2
    if name == "circular":
        sines = np.sin(np.pi * distance / (high - low + 1.0)) ** 2
        return np.asarray(1.0 - sines / sines.max())
    # Bipolar: the same distance weighs more towards the ends of the scale.
    total = first + second
    room = (total - 2.0 * low) * (2.0 * high - total)
    polar = np.divide(distance**2, room, out=np.zeros_like(distance), where=distance > 0)
    return np.asarray(1.0 - polar / polar.max())
