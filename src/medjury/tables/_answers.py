"""Answers: what a rater said of each answer, its repeats made one, as rows to join and group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from medjury.tables._grid import ABSENT
from medjury.tables._rating_table import RatingTable
from medjury.tables._roles import Roles

if TYPE_CHECKING:
    import polars


def answers_of(
    table: RatingTable, raters: Sequence[str], dimensions: Sequence[str], roles: Roles | None = None
) -> polars.DataFrame:
    """`item, system, cluster, rater, dimension, score, state`: a row for each answer that a rater (the jury that
    `roles` forms among them) was asked for; `score` is null where `state` is not SCORED."""
    import polars as pl

    frames = []
    for dimension in dimensions:
        grid = table.grid(dimension, roles)
        units = pl.DataFrame({"item": grid.items, "system": grid.systems, "cluster": grid.clusters})
        for rater in raters:
            states = pl.Series("state", grid.states[rater])
            frame = units.with_columns(
                pl.lit(rater).alias("rater"),
                pl.lit(dimension).alias("dimension"),
                pl.Series("score", grid.scores[rater]).fill_nan(None),
                states,
            )
            frames.append(frame.filter(states != ABSENT))
    return pl.concat(frames)
