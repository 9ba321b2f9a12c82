"""Shares and means of a run's cases, where the cases of one patient go together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from medjury.statistics import Estimate, Floats, counted_share, effective_n, proportion, undefined
from medjury.tables import RatingTable


def patients(table: RatingTable) -> dict[str, str]:
    """Whose each held-out item is: the patient where one is named, else the item itself."""
    return dict(table.rows.select("item", "cluster").unique().iter_rows())


def clustered_share(
    table: RatingTable, hits: Sequence[bool], items: Sequence[str], *, confidence: float = 0.95
) -> Estimate:
    """A share with its interval; where a patient occurs more than once (cases, systems, repeats), for as many
    rows as these are worth, as rows of one patient are not independent. Its `n` counts patients, not rows. An item
    without a patient stands for itself."""
    whose = patients(table)
    clusters = [whose.get(item, item) for item in items]
    return replace(counted_share(hits, clusters, confidence=confidence), n=len(set(clusters)))


def clustered_contrast(
    values: Floats,
    groups: NDArray[np.int64] | None,
    clusters: NDArray[Any],
    *,
    confidence: float = 0.95,
    span: float | None = None,
    weights: Floats | None = None,
) -> tuple[Estimate, float]:
    """The mean of the values in group 1 less that in group 0 (or the mean itself, without groups), with a
    t interval and the one-sided p-value of "not below zero"; other groups do not count.

    Where no case differs from the mean, t would be certain of it. Where a value cannot be farther from it than
    `span`, the interval is then that of the cases that could differ, 1 − tail^(1/K) of them, all by so much.

    The variance is that of sums over clusters of what each value adds to the difference, ±(x − x̄_g)/n_g, times
    K/(K − 1) for K clusters, with K − 1 degrees of freedom: a cluster may have values on both sides. With
    `weights`, one over the probability of each value, means and sums are weighted, and the degrees of freedom are
    those of as many equal clusters as the weights are worth.

    >>> found, p = clustered_contrast(np.array([1.0, 2, 3, 2]), None, np.arange(4))
    >>> found.value, round(found.low, 2), round(found.high, 2), round(p, 3)
    (2.0, 0.7, 3.3, 0.992)
    """
    groups = np.ones(len(values), dtype=np.int64) if groups is None else groups
    pull, difference = np.zeros(len(values)), 0.0
    for group, sign in ((1, 1.0), (0, -1.0)):
        inside = groups == group
        if inside.any():
            own = np.ones(int(inside.sum())) if weights is None else weights[inside]
            mean = float(np.average(values[inside], weights=own))
            difference += sign * mean
            pull[inside] = sign * own * (values[inside] - mean) / own.sum()
    used = (groups == 0) | (groups == 1)
    _, codes = np.unique(clusters[used], return_inverse=True)
    count = int(codes.max()) + 1 if codes.size else 0
    n = int(used.sum())
    if count < 2 or not (groups == 1).any():
        return undefined("fewer than two cases", n, "t of clustered means"), 1.0
    error = math.sqrt(count / (count - 1) * float((np.bincount(codes, pull[used]) ** 2).sum()))
    worth = count if weights is None else max(effective_n(np.bincount(codes, weights[used])), 2.0)
    half = float(special.stdtrit(worth - 1, 0.5 + confidence / 2.0)) * error
    method = f"{100 * confidence:g} % t interval, {count} cases"
    method += "" if weights is None else f", weighted by 1/probability, worth {worth:.1f}"
    if error <= 1e-12 and span is not None:
        half = span * (proportion(0, int(worth), confidence=confidence).high or 1.0)
        method = f"{100 * confidence:g} % exact: none of {count} cases differs"
    below = float(special.stdtr(worth - 1, difference / error)) if error > 0 else float(difference >= 0)
    return Estimate(difference, difference - half, difference + half, n, method), below
