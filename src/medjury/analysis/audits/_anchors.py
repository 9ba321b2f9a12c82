"""Anchors: the same answers in two tables of ratings, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from medjury.analysis.audits._audit import names
from medjury.foundation.errors import MedjuryError

if TYPE_CHECKING:
    import polars

KEY = ["item", "system"]


def split_by(
    ratings: polars.DataFrame, column: str, earlier: str, later: str
) -> tuple[polars.DataFrame, ...]:
    """One table with a column that tells two versions or dates apart, as two tables."""
    import polars as pl

    if column not in ratings.columns:
        raise MedjuryError(f"there is no column {column!r}; there are {names(ratings.columns, 20)}.")
    values = ratings.with_columns(pl.col(column).cast(pl.String))
    parts = []
    for name in (earlier, later):
        part = values.filter(pl.col(column) == name)
        if not part.height:
            there = names(sorted(values[column].drop_nulls().unique().to_list()), 8)
            raise MedjuryError(f"no rating has {column} = {name!r}; there are {there}.")
        parts.append(part)
    return tuple(parts)


def same_content(
    before: polars.DataFrame, after: polars.DataFrame
) -> tuple[polars.DataFrame, polars.DataFrame, list[str]]:
    """An id that means another text is another case: such answers are left out, and counted."""
    import polars as pl

    hashes = [
        each.filter(pl.col("content_hash").is_not_null()).select(*KEY, "content_hash").unique()
        for each in (before, after)
    ]
    different = (
        hashes[0]
        .join(hashes[1], on=KEY, suffix="_later")
        .filter(pl.col("content_hash") != pl.col("content_hash_later"))
        .select(KEY)
        .unique()
    )
    if not different.height:
        return before, after, []
    listed = names(sorted(different["item"].to_list()))
    warning = f"{different.height} answers have another text now than before and are left out: items {listed}"
    return before.join(different, on=KEY, how="anti"), after.join(different, on=KEY, how="anti"), [warning]


def pair_answers(
    before: polars.DataFrame, after: polars.DataFrame, old: str, rater: str, dimension: str
) -> polars.DataFrame | None:
    """One row per answer that was put to the rater both times, with what its scores say."""
    import polars as pl

    def side(frame: polars.DataFrame, name: str, suffix: str) -> polars.DataFrame:
        score = pl.col("score").drop_nulls()
        return (
            frame.filter((pl.col("rater") == name) & (pl.col("dimension") == dimension))
            .group_by(KEY)
            .agg(
                score.alias(f"scores_{suffix}"),
                score.len().alias(f"n_{suffix}"),
                score.mean().alias(f"mean_{suffix}"),
                score.var().alias(f"variance_{suffix}"),
                (pl.col("status") == "unscored").sum().alias(f"unscored_{suffix}"),
                pl.len().alias(f"rows_{suffix}"),
                pl.col("cluster").first().alias(f"cluster_{suffix}"),
            )
        )

    joined = side(before, old, "x").join(side(after, rater, "y"), on=KEY, how="inner").sort(KEY)
    if not joined.height:
        return None
    changed, noise = [], []
    for x, y in zip(joined["scores_x"].to_list(), joined["scores_y"].to_list(), strict=True):
        changed.append(_differ(x, y))
        own = [each for each in (_differ_within(x), _differ_within(y)) if each is not None]
        noise.append(sum(own) / len(own) if own else None)
    return joined.with_columns(
        pl.Series("changed", changed, dtype=pl.Float64), pl.Series("noise", noise, dtype=pl.Float64)
    )


def _differ(first: Sequence[float], second: Sequence[float]) -> float | None:
    """The probability that a score of one differs from a score of the other."""
    if not first or not second:
        return None
    return float(np.mean(~np.isclose(np.array(first)[:, np.newaxis], np.array(second))))


def _differ_within(scores: Sequence[float]) -> float | None:
    """The probability that two different repeats differ."""
    n = len(scores)
    return None if n < 2 else (_differ(scores, scores) or 0.0) * n / (n - 1)
