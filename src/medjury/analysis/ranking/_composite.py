"""Composite scores: one number of several dimensions, with weights anyone can see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Composite
from medjury.tables import NOT_APPLICABLE, SCORED, UNSCORED

if TYPE_CHECKING:
    import polars


def composite_answers(answers: polars.DataFrame, composite: Composite) -> polars.DataFrame:
    """The composite of every answer of every rater, as a dimension with its name.

    The weighted mean of its parts, by the same rule as an instrument's own composites: a part that is not
    applicable drops out and the other weights are rescaled; a part without a score leaves the composite without
    one, for a mean of what happens to be there would compare different things.
    """
    import polars as pl

    weights = weighty(composite)
    scored, skipped = pl.col("state") == SCORED, pl.col("state") == NOT_APPLICABLE
    needed = len(weights) if composite.needs_every_part else 1
    return (
        answers.filter(pl.col("dimension").is_in(list(weights)))
        .with_columns(pl.col("dimension").replace_strict(weights, return_dtype=pl.Float64).alias("weight"))
        .group_by("item", "system", "rater", maintain_order=True)
        .agg(
            pl.col("cluster", "benchmark", "block").first(),
            (pl.col("score") * pl.col("weight")).filter(scored).sum().alias("total"),
            pl.col("weight").filter(scored).sum().alias("weight"),
            scored.sum().alias("scored"),
            skipped.sum().alias("skipped"),
        )
        .with_columns(
            pl.lit(composite.name).alias("dimension"),
            pl.when(pl.col("scored") + pl.col("skipped") < len(weights))
            .then(UNSCORED)
            .when(pl.col("scored") < needed)
            .then(NOT_APPLICABLE)
            .otherwise(SCORED)
            .cast(pl.UInt8)
            .alias("state"),
        )
        .with_columns(pl.when(scored).then(pl.col("total") / pl.col("weight")).alias("score"))
        .select(answers.columns)
    )


def weighty(composite: Composite) -> dict[str, float]:
    """The parts that count."""
    return {part: weight for part, weight in composite.weights.items() if weight > 0}


def composite_of(text: str) -> Composite:
    """A composite from `NAME=PART:WEIGHT,PART:WEIGHT`.

    >>> composite_of("quality=diagnosis:0.4,differential:0.2,safety:0.4").weights["differential"]
    0.2
    """
    name, equals, parts = text.partition("=")
    weights: dict[str, float] = {}
    for part in parts.split(",") if equals else ():
        dimension, _, weight = part.rpartition(":")
        try:
            weights[dimension.strip()] = float(weight)
        except ValueError:
            weights = {}
            break
    if (
        not name.strip()
        or not weights
        or "" in weights
        or min(weights.values()) < 0
        or sum(weights.values()) <= 0
    ):
        raise MedjuryError(f"{text!r} is no composite; write NAME=DIMENSION:WEIGHT,DIMENSION:WEIGHT.")
    total = sum(weights.values())
    return Composite(name.strip(), {part: weight / total for part, weight in weights.items()})
