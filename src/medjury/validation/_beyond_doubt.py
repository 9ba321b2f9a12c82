"""When a difference is beyond doubt: one-sided tests on resampled values, and many of them together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from medjury import special
from medjury.statistics import Floats, Replicates


def below_zero(made: Replicates, first: str, second: str) -> tuple[float, float]:
    """first − second, and the one-sided p-value that it is not below zero: by the normal distribution with the
    standard deviation of the resampled differences."""
    apart = made.observed[first] - made.observed[second]
    return apart, p_below(apart, made.resampled[first] - made.resampled[second])


def p_below(value: float, resampled: Floats) -> float:
    """The one-sided p-value that the truth is not below zero; 1 where there is nothing to tell it by."""
    known = resampled[np.isfinite(resampled)]
    if not np.isfinite(value) or known.size < 20:
        return 1.0
    error = float(known.std(ddof=1))
    return float(special.ndtr(value / error)) if error > 1e-12 else float(value >= 0)


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted together, so that any false alarm stays as rare as a single one: p₍ᵢ₎·(m − i + 1), made
    monotone. Holm (1979) Scand J Stat 6:65-70.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    adjusted, running = [1.0] * len(p_values), 0.0
    for place, index in enumerate(order.tolist()):
        running = max(running, min(1.0, p_values[index] * (len(p_values) - place)))
        adjusted[index] = running
    return adjusted
