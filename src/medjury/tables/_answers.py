"""Answers: what raters said of each answer, their repeats made one, as rows to join and group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from medjury.tables._grid import ABSENT, Grid

if TYPE_CHECKING:
    import polars


def answers_of(grids: Iterable[Grid], raters: Sequence[str]) -> polars.DataFrame:
    """`item, system, cluster, rater, dimension, score, state`: a row for each answer that a rater was asked for;
    `score` is null where `state` is not SCORED."""
    import polars as pl

    schema = dict.fromkeys(("item", "system", "cluster", "rater", "dimension"), pl.String)
    frames = [pl.DataFrame(schema={**schema, "score": pl.Float64, "state": pl.UInt8})]
    names = pl.Series("rater", raters, dtype=pl.String)
    for grid in grids if raters else ():
        units = pl.DataFrame({"item": grid.items, "system": grid.systems, "cluster": grid.clusters})
        states, scores = (np.stack([kind[rater] for rater in raters]) for kind in (grid.states, grid.scores))
        who, unit = np.nonzero(states != ABSENT)
        frames.append(
            units[unit].with_columns(
                names[who],
                pl.lit(grid.dimension).alias("dimension"),
                pl.Series("score", scores[who, unit], nan_to_null=True),
                pl.Series("state", states[who, unit]),
            )
        )
    return pl.concat(frames)
