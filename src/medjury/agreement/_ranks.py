"""Ranks, concordance and quantiles under weights: rows are sorted once, every resample re-weights them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medjury.agreement._resample import Floats

# Concordance of all pairs of distinct rows is built in slices of this many rows.
SLICE = 512


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """The distinct values of one column in ascending order, each row's place among them, and the indicator
    matrix (rows by levels) that turns row weights into level weights."""

    values: Floats
    codes: NDArray[np.int64]
    indicator: Any

    def weights(self, weights: Floats) -> Floats:
        """How often each level occurs: (resamples, levels)."""
        return np.asarray(weights @ self.indicator)


def levels_of(column: Floats) -> Levels:
    """Prepare a column (no NaN) for ranks and quantiles."""
    values, codes = np.unique(column, return_inverse=True)
    if len(values) <= 64:
        indicator: Any = np.eye(len(values))[codes]
    else:
        from scipy.sparse import csr_array

        shape = (len(codes), len(values))
        indicator = csr_array((np.ones(len(codes)), codes, np.arange(len(codes) + 1)), shape=shape)
    return Levels(values, np.asarray(codes, dtype=np.int64), indicator)


def centred_midranks(level_weights: Floats) -> Floats:
    """Mid-rank of each level within its resample, less the mean rank (n + 1)/2; ties share their mean."""
    total = level_weights.sum(axis=-1, keepdims=True)
    return np.asarray(np.cumsum(level_weights, axis=-1) - level_weights / 2.0 - total / 2.0)


def concordance(first: Floats, second: Floats, weights: Floats) -> Floats:
    """Σ over pairs of items of sign(Δfirst)·sign(Δsecond), each pair once, for every resample.

    A matrix product over pairs of distinct rows: exact, and quick while there are at most a few thousand
    of them; the numbers are whole, so single precision loses nothing below 16 million items.
    """
    single = weights.astype(np.float32)
    total = np.zeros(len(weights))
    for start in range(0, len(first), SLICE):
        stop = start + SLICE
        signs = np.sign(first[:, np.newaxis] - first[start:stop]) * np.sign(
            second[:, np.newaxis] - second[start:stop]
        )
        total += np.einsum("bq,bq->b", single @ signs.astype(np.float32), weights[:, start:stop])
    return total / 2.0


def quantiles(levels: Levels, weights: Floats, share: float) -> Floats:
    """The quantile of each resample, interpolating order statistics (R's type 7, numpy's default)."""
    cumulated = np.cumsum(levels.weights(weights), axis=-1)
    n = cumulated[..., -1]
    position = (n - 1.0) * share
    below = np.floor(position)

    def order_statistic(place: Floats) -> Floats:
        found = (cumulated <= place[..., np.newaxis]).sum(axis=-1)
        return np.asarray(levels.values[np.minimum(found, len(levels.values) - 1)])

    low, high = order_statistic(below), order_statistic(np.minimum(below + 1.0, n - 1.0))
    return np.where(n > 0, low + (high - low) * (position - below), np.nan)
