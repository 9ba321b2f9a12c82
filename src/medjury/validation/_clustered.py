"""Shares of a run's cases, where the cases of one patient go together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from medjury.statistics import Estimate, bootstrap, proportion
from medjury.tables import RatingTable


def patients(table: RatingTable) -> dict[str, str]:
    """Whose each held-out item is: the patient where one is named, else the item itself."""
    return dict(table.rows.select("item", "cluster").unique().iter_rows())


def clustered_share(
    table: RatingTable, hits: Sequence[bool], items: Sequence[str], *, confidence: float = 0.95
) -> Estimate:
    """A share with Wilson's interval; where a patient stands more than once (cases, systems, repeats), with one
    that resamples patients, as rows of one patient are not independent. Where all rows agree there is nothing to
    resample, and each patient counts once. An item without a patient stands for itself."""
    whose = patients(table)
    clusters = [whose.get(item, item) for item in items]
    distinct = len(set(clusters))
    if distinct == len(hits):
        return proportion(sum(hits), len(hits), interval="wilson", confidence=confidence)
    if len(set(hits)) == 1:
        return proportion(distinct if hits[0] else 0, distinct, interval="wilson", confidence=confidence)

    def statistics(rows: Any) -> Callable[[Any], dict[str, Any]]:
        return lambda weights: {"share": (weights @ rows[:, 0]) / weights.sum(axis=-1)}

    return bootstrap(
        np.asarray(hits, dtype=np.float64),
        statistics,
        clusters=clusters,
        resamples=table.resamples(None),
        confidence=confidence,
        seed=table.seed(None),
    )["share"]
