"""The two-way table of items by raters as mean squares: what every ICC is read from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from medjury.statistics import Floats, complete_rows

# A sum of squares this small beside the numbers it was made from is rounding, not spread.
NEGLIGIBLE = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class MeanSquares:
    """Mean squares between items, between raters, of error, and within items, with any batch axis; `n` items,
    `k` raters."""

    items: Floats
    raters: Floats
    error: Floats
    within: Floats
    n: Floats
    k: int


def mean_squares(rows: Floats) -> Callable[[Floats], MeanSquares]:
    """Prepare the complete rows of a table of items by raters; the result reads mean squares from weights."""
    complete = complete_rows(rows)
    # Mean squares do not change with a shift, and near zero their sums do not cancel.
    shift = rows[complete].mean() if complete.any() else 0.0
    scores = np.where(complete[:, np.newaxis], rows - shift, 0.0)
    features = np.vstack(
        [complete.astype(np.float64), scores.sum(axis=1) ** 2, (scores**2).sum(axis=1), scores.T]
    )

    def read(weights: Floats) -> MeanSquares:
        sums = features @ weights.T
        return from_sums(sums[0], sums[1], sums[2], sums[3:])

    return read


def from_sums(n: Floats, totals: Floats, squares: Floats, by_rater: Floats) -> MeanSquares:
    """Mean squares from Σ 1, Σ (item total)², Σ x² and each rater's Σ x, a row for each rater."""
    k = len(by_rater)
    n = np.where(n > 1, n, np.nan)
    correction = by_rater.sum(axis=0) ** 2 / (n * k)
    between_items = totals / k - correction
    between_raters = (by_rater**2).sum(axis=0) / n - correction
    error = squares - correction - between_items - between_raters

    def mean(sum_of_squares: Floats, freedom: Floats | float) -> Floats:
        return np.where(sum_of_squares > NEGLIGIBLE * squares, sum_of_squares, 0.0) / freedom

    missing = np.full_like(n, np.nan)
    if k < 2:
        return MeanSquares(missing, missing, missing, missing, n, k)
    return MeanSquares(
        items=mean(between_items, n - 1.0),
        raters=mean(between_raters, k - 1.0),
        error=mean(error, (n - 1.0) * (k - 1.0)),
        within=mean(between_raters + error, n * (k - 1.0)),
        n=n,
        k=k,
    )
