"""Benchmark scores: a table `system, benchmark, score`, one row each, or one per `item`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from medjury.analysis.ranking._scores import WHOLE, Missing, SystemScores, from_benchmark_scores, from_items
from medjury.foundation.errors import MedjuryError
from medjury.tables import read_plain_table

if TYPE_CHECKING:
    import polars

RATING, BENCHMARK = ("item", "rater", "dimension", "score"), ("system", "benchmark", "score")


def score_table(source: object) -> polars.DataFrame | None:
    """The table where `source`, a frame or a file, holds benchmark scores; None where it holds ratings."""
    import polars as pl

    frame = read_plain_table(source) if isinstance(source, str | os.PathLike) else source
    if not isinstance(frame, pl.DataFrame) or "rater" in frame.columns:
        return None
    return frame if set(BENCHMARK) <= set(frame.columns) else None


def benchmark_scores(
    table: polars.DataFrame,
    *,
    lower_is_better: Sequence[str] = (),
    scale: Sequence[float] | None = None,
    missing: Missing = "refuse",
) -> SystemScores:
    """The scores of every system on every benchmark; `lower_is_better` benchmarks are turned around on the
    `scale`. A column `weight` says how much an item's score counts in the mean of its system, as in a micro
    average, which sums the parts of all items first."""
    import polars as pl

    absent = [name for name in BENCHMARK if name not in table.columns]
    if absent:
        raise MedjuryError(
            f"the table has the columns {', '.join(table.columns)}; a ranking needs {', '.join(BENCHMARK)}, or "
            f"ratings with {', '.join(RATING)} and system."
        )
    columns = ("system", "benchmark", *(name for name in ("item", "patient") if name in table.columns))
    weight = pl.col("weight").cast(pl.Float64) if "weight" in table.columns else pl.lit(1.0)
    rows = table.select(*columns, "score", weight.alias("weight")).with_row_index("row", offset=1)
    rows = rows.with_columns(*(pl.col(name).cast(pl.String).str.strip_chars() for name in columns))
    if "item" in columns:
        _refuse_weights(rows)
    for name in ("system", "benchmark", *(["item"] if "item" in columns else [])):
        empty = rows.filter(pl.col(name).is_null() | (pl.col(name) == ""))
        if empty.height:
            raise MedjuryError(f"row {empty['row'][0]}: there is no {name}.")
    rows = _turn(rows.with_columns(_numbers(rows).alias("score")), lower_is_better, scale)
    words = "" if scale is None else f"scores from {min(scale):g} to {max(scale):g}"
    if "item" not in columns:
        return replace(from_benchmark_scores(rows, missing=missing), scale=words)
    # A prefix keeps a patient called 7 apart from an item called 7.
    cluster = pl.lit("item ") + pl.col("item")
    if "patient" in columns:
        cluster = pl.coalesce(pl.lit("patient ") + pl.col("patient"), cluster)
    rows = rows.with_columns(
        pl.col("benchmark").alias("block"), pl.lit(WHOLE).alias("rater"), cluster.alias("cluster")
    )
    scored = pl.col("score").is_not_null()
    return replace(from_items(rows.filter(scored), rows.filter(~scored), missing=missing), scale=words)


def _refuse_weights(rows: polars.DataFrame) -> None:
    import polars as pl

    odd = rows.filter(pl.col("weight").is_null() | ~pl.col("weight").is_finite() | (pl.col("weight") <= 0))
    if odd.height:
        raise MedjuryError(
            f"row {odd['row'][0]}: the weight must be a number above 0, not {odd['weight'][0]}."
        )


def _numbers(rows: polars.DataFrame) -> polars.Series:
    import polars as pl

    raw = rows["score"]
    numbers = raw.cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
    words = raw.cast(pl.String).str.strip_chars()
    odd = rows.filter(numbers.is_null() & words.is_not_null() & (words != ""))
    if odd.height:
        raise MedjuryError(f"row {odd['row'][0]}: the score {odd['score'][0]!r} is not a number.")
    wrong = rows.filter(numbers.is_nan() | numbers.is_infinite())
    if wrong.height:
        raise MedjuryError(
            f"row {wrong['row'][0]}: the score is not finite; leave it empty where there is none."
        )
    return numbers


def _turn(frame: polars.DataFrame, names: Sequence[str], scale: Sequence[float] | None) -> polars.DataFrame:
    import polars as pl

    if not names:
        return frame
    unknown = [name for name in names if name not in set(frame["benchmark"].to_list())]
    if unknown:
        raise MedjuryError(f"there is no benchmark {unknown[0]!r} to turn around.")
    if scale is None:
        raise MedjuryError(
            f"to turn {names[0]!r} around (lower is better) give the scale, such as --scale 1 5."
        )
    ends = min(scale) + max(scale)
    turned = pl.when(pl.col("benchmark").is_in(list(names))).then(ends - pl.col("score"))
    return frame.with_columns(turned.otherwise(pl.col("score")).alias("score"))
