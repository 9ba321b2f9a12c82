"""Juries whose votes are planted: hard cases on which jurors scatter, easy ones on which all see the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

JURORS = ("cheap", "fair", "good", "dear")


def planted_votes(
    *,
    cases: int = 120,
    systems: Sequence[str] = ("a", "b"),
    dimensions: Sequence[str] = ("accuracy",),
    hard: float = 0.3,
    anywhere: bool = False,
    noise: float = 1.1,
    seed: int = 0,
) -> pl.DataFrame:
    """A clinician, `panel`, and four jurors on a scale of 1 to 5. Easy cases are at an end of the scale and every
    juror sees so (or `anywhere`, so that only a second vote can tell); hard ones lie in between, and jurors
    scatter about the truth by `noise`."""
    generator = np.random.default_rng(seed)
    rows: list[tuple[str, str, str, str, str, float]] = []
    for case in range(cases):
        for system in systems:
            difficult = generator.random() < hard
            for dimension in dimensions:
                truth = generator.uniform(1.5, 4.5) if difficult or anywhere else generator.choice([1.0, 5.0])
                spread = noise if difficult else 0.0
                label = truth + generator.normal(scale=0.3)
                rows.append((f"c{case}", system, "panel", "clinician", dimension, label))
                for juror in JURORS:
                    vote = truth + spread * generator.normal()
                    rows.append((f"c{case}", system, juror, "judge", dimension, vote))
    frame = pl.DataFrame(
        rows, schema=["item", "system", "rater", "rater_kind", "dimension", "score"], orient="row"
    )
    return frame.with_columns(pl.col("score").round().clip(1, 5))
