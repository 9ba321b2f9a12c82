"""Twenty rows and their mean, for tests of what an estimate says of itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from medjury.statistics import Estimate

ROWS = np.array([[float(place)] for place in range(1, 21)])


def mean(rows: Any) -> Callable[[Any], dict[str, Any]]:
    """The mean, and a value that never exists."""

    def read(weights: Any) -> dict[str, Any]:
        return {
            "mean": weights @ rows[:, 0] / weights.sum(axis=-1),
            "nothing": np.full(len(weights), np.nan),
        }

    return read


def said(each: Estimate) -> tuple[Any, ...]:
    """Everything in an estimate, its numbers rounded."""
    ends = (None if end is None else round(end, 3) for end in (each.value, each.low, each.high))
    return *ends, each.n, each.method, each.reason
