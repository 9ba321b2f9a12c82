"""Small tables of scores and ratings with planted differences, seeded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from medjury import tables
from medjury.analysis.ranking._ranked import ranked_by
from medjury.analysis.ranking._scores import SystemScores, benchmark_scores


def scores_of(
    source: pl.DataFrame,
    *,
    raters: Sequence[str] | None = None,
    each: Sequence[str] | None = None,
    reference: Sequence[str] | None = None,
    scale: tuple[float, float] | None = None,
    **options: Any,
) -> SystemScores:
    """What a ranking rests on: the jury of `raters`, or `each` of some raters, averaged."""
    if "rater" not in source.columns:
        return benchmark_scores(source, scale=scale, **options)
    table = tables.rating_table(source, scale=scale)
    rest = {"dimensions": None, "composites": (), "lower_is_better": (), "missing": "refuse"} | options
    ranked = ranked_by(table, raters, reference, **rest)
    return ranked.scores(ranked.raters if each is None else each)


def benchmark_table(
    quality: Mapping[str, float], *, benchmarks: int = 30, noise: float = 0.03, seed: int = 0
) -> pl.DataFrame:
    """`system, benchmark, score`: every benchmark has its own difficulty."""
    generator = np.random.default_rng(seed)
    rows = []
    for number in range(benchmarks):
        hard = generator.uniform(0.3, 0.6)
        for system, worth in quality.items():
            rows.append((system, f"b{number}", float(hard + worth + generator.normal(0, noise))))
    return pl.DataFrame(rows, schema=["system", "benchmark", "score"], orient="row")


def rating_table(
    quality: Mapping[str, float], *, cases: int = 100, raters: tuple[str, ...] = ("ada", "bob"), seed: int = 0
) -> pl.DataFrame:
    """Whole grades 1 to 5 of two dimensions by every rater for every system's answer to every case."""
    generator = np.random.default_rng(seed)
    rows = []
    for case in range(cases):
        hard = generator.normal(0, 0.6)
        for system, worth in quality.items():
            for dimension in ("accuracy", "clarity"):
                for rater in raters:
                    score = np.clip(np.rint(3 + hard + worth + generator.normal(0, 0.6)), 1, 5)
                    rows.append((f"c{case}", system, rater, "judge", dimension, float(score)))
    columns = ["item", "system", "rater", "rater_kind", "dimension", "score"]
    return pl.DataFrame(rows, schema=columns, orient="row")
