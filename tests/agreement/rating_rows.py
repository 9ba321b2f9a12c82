"""Small rating tables for the tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from medjury.analysis.agreement import AgreementTable, agreement
from medjury.tables import rating_table


def long_table(
    scores: Mapping[str, Sequence[float | None]],
    *,
    dimension: str = "quality",
    systems: Sequence[str] | None = None,
    items: Sequence[str] | None = None,
    **columns: Sequence[object],
) -> pl.DataFrame:
    """One row per rater and item; `columns` hold one value per item for every rater."""
    rows = []
    for rater, values in scores.items():
        for place, score in enumerate(values):
            row = {
                "item": items[place] if items else f"item {place}",
                "rater": rater,
                "dimension": dimension,
                "score": score,
            }
            if systems:
                row["system"] = systems[place]
            row |= {name: each[place] for name, each in columns.items()}
            rows.append(row)
    return pl.DataFrame(rows, schema_overrides={"score": pl.Float64})


def compared(
    scores: Mapping[str, Sequence[float | None]] | pl.DataFrame,
    *,
    scale: object = (1, 5),
    reference: str | Sequence[str] = "human",
    resamples: int = 0,
    **settings: Any,
) -> AgreementTable:
    """The agreement of these raters with a human, on a scale of 1 to 5 unless another is given."""
    frame = long_table(scores) if isinstance(scores, Mapping) else scores
    ready = rating_table(frame, scale=scale)  # type: ignore[arg-type]
    return agreement(ready, reference=reference, resamples=resamples, **settings)


def likert(seed: int, n: int, **spreads: float) -> dict[str, list[float]]:
    """Raters of the same n items on a scale of 1 to 5; each has its own error and, by `name_offset`, none."""
    generator = np.random.default_rng(seed)
    truth = generator.normal(3, 1.1, n)
    return {
        name: np.clip(np.rint(truth + spread * generator.normal(0, 1, n)), 1, 5).tolist()
        for name, spread in spreads.items()
    }
