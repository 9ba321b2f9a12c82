"""Rating tables for tests: clinicians and judges on planted cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

OFFSETS = {"strict": -0.9, "lenient": 0.7}


def planted_ratings(
    *,
    cases: int = 60,
    systems: Sequence[str] = ("a", "b"),
    dimensions: Sequence[str] = ("accuracy",),
    judges: Mapping[str, float] = OFFSETS,
    labelled: int | None = None,
    instrument: str | None = None,
    seed: int = 0,
) -> pl.DataFrame:
    """One clinician, `panel`, who labels the first `labelled` cases, and judges with known offsets."""
    generator = np.random.default_rng(seed)
    rows: list[tuple[str, str, str, str, str, float]] = []
    for case in range(cases):
        for system in systems:
            shared = generator.normal()
            for dimension in dimensions:
                truth = 3 + shared + 0.4 * generator.normal()
                if labelled is None or case < labelled:
                    label = float(np.clip(np.round(truth), 1, 5))
                    rows.append((f"c{case}", system, "panel", "clinician", dimension, label))
                for judge, shift in judges.items():
                    score = float(np.clip(np.round(truth + shift + 0.5 * generator.normal()), 1, 5))
                    rows.append((f"c{case}", system, judge, "judge", dimension, score))
    frame = pl.DataFrame(
        rows, schema=["item", "system", "rater", "rater_kind", "dimension", "score"], orient="row"
    )
    return frame if instrument is None else frame.with_columns(pl.lit(instrument).alias("instrument"))
