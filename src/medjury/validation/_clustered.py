"""Shares of a run's cases, where the cases of one patient go together."""

from __future__ import annotations

from collections.abc import Sequence

from medjury.statistics import Estimate, clustered_proportion
from medjury.tables import RatingTable


def patients(table: RatingTable) -> dict[str, str]:
    """Whose each held-out item is: the patient where one is named, else the item itself."""
    return dict(table.rows.select("item", "cluster").unique().iter_rows())


def clustered_share(
    table: RatingTable, hits: Sequence[bool], items: Sequence[str], *, confidence: float = 0.95
) -> Estimate:
    """A share with an exact interval; where a patient stands more than once (cases, systems, repeats), for as many
    rows as these are worth, as rows of one patient are not independent. An item without a patient stands for
    itself."""
    whose = patients(table)
    return clustered_proportion(hits, [whose.get(item, item) for item in items], confidence=confidence)
