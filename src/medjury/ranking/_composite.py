"""Composite scores: one number of several dimensions, with weights anyone can see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medjury.errors import MedjuryError
from medjury.instruments import Composite

if TYPE_CHECKING:
    import polars


def add_composite(frame: polars.DataFrame, composite: Composite) -> polars.DataFrame:
    """The composite of every rater, answer and repeat, as ratings of a dimension with its name.

    The weighted mean of its parts, by the same rule as an instrument's own composites: a part that is not
    applicable drops out and the other weights are rescaled; a part without a score leaves the composite without
    one, for a mean of what happens to be there would compare different things.
    """
    import polars as pl

    weights = {part: weight for part, weight in composite.weights.items() if weight > 0}
    present = set(frame["dimension"].to_list())
    absent = [part for part in weights if part not in present]
    if absent:
        raise MedjuryError(
            f"the composite {composite.name!r} needs the dimension {absent[0]!r}; the ratings have "
            f"{', '.join(sorted(present))}."
        )
    parts = frame.filter(pl.col("dimension").is_in(list(weights))).with_columns(
        pl.col("dimension").replace_strict(weights, return_dtype=pl.Float64).alias("weight")
    )
    carried = [name for name in ("cluster", "benchmark", "rater_kind", "instrument") if name in frame.columns]
    scored, skipped = pl.col("status") == "scored", pl.col("status") == "not_applicable"
    needed = len(weights) if composite.needs_every_part else 1
    return (
        parts.group_by("item", "system", "rater", "repeat", maintain_order=True)
        .agg(
            *(pl.col(name).first() for name in carried),
            (pl.col("score") * pl.col("weight")).filter(scored).sum().alias("total"),
            pl.col("weight").filter(scored).sum().alias("weight"),
            scored.sum().alias("scored"),
            skipped.sum().alias("skipped"),
        )
        .with_columns(
            pl.when(pl.col("scored") + pl.col("skipped") < len(weights))
            .then(pl.lit("unscored"))
            .when(pl.col("scored") < needed)
            .then(pl.lit("not_applicable"))
            .otherwise(pl.lit("scored"))
            .alias("status")
        )
        .with_columns(
            pl.when(pl.col("status") == "scored").then(pl.col("total") / pl.col("weight")).alias("score"),
            pl.lit(composite.name).alias("dimension"),
        )
        .drop("total", "weight", "scored", "skipped")
    )
