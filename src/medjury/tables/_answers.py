"""Answers: what raters said of each answer, their repeats made one, as rows to join and group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from medjury.tables._grid import ABSENT, Grid

if TYPE_CHECKING:
    import polars


def answers_of(grids: Iterable[Grid], raters: Sequence[str]) -> polars.DataFrame:
    """`item, system, cluster, rater, dimension, score, state`: a row for each answer that a rater was asked for;
    `score` is null where `state` is not SCORED."""
    import polars as pl

    schema = dict.fromkeys(("item", "system", "cluster", "rater", "dimension"), pl.String)
    frames = [pl.DataFrame(schema={**schema, "score": pl.Float64, "state": pl.UInt8})]
    for grid in grids:
        units = pl.DataFrame({"item": grid.items, "system": grid.systems, "cluster": grid.clusters})
        for rater in raters:
            states = pl.Series("state", grid.states[rater])
            frame = units.with_columns(
                pl.lit(rater).alias("rater"),
                pl.lit(grid.dimension).alias("dimension"),
                pl.Series("score", grid.scores[rater]).fill_nan(None),
                states,
            )
            frames.append(frame.filter(states != ABSENT))
    return pl.concat(frames)
