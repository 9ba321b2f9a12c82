"""The grid: for one dimension, every rater's score of every unit, with what is missing and why.

The unit is one system's answer to one item. Whatever cannot be used is counted, never dropped in silence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from medjury.tables._grades import Grades

if TYPE_CHECKING:
    import polars

Numbers = NDArray[np.float64]
RepeatRule = Literal["mean", "median"]
ABSENT, SCORED, UNSCORED, NOT_APPLICABLE = 0, 1, 2, 3


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Units in rows. `scores[rater]` is NaN where `states[rater]` is not SCORED; `repeat_spread[rater]` is
    the standard deviation over the rater's own repeats, NaN where there are fewer than two."""

    dimension: str
    items: NDArray[np.str_]
    systems: NDArray[np.str_]
    clusters: NDArray[np.str_]
    scores: Mapping[str, Numbers]
    states: Mapping[str, NDArray[np.uint8]]
    repeat_spread: Mapping[str, Numbers]
    scale: Grades | None

    def with_rater(self, name: str, scores: Numbers, states: NDArray[np.uint8]) -> Grid:
        """The same grid with one more rater, such as a consensus or a jury."""
        nothing = np.full(len(self.items), np.nan)
        return Grid(
            self.dimension,
            self.items,
            self.systems,
            self.clusters,
            {**self.scores, name: scores},
            {**self.states, name: states},
            {**self.repeat_spread, name: nothing},
            self.scale,
        )

    def where(self, chosen: NDArray[np.bool_]) -> Grid:
        """The chosen units."""
        return Grid(
            self.dimension,
            self.items[chosen],
            self.systems[chosen],
            self.clusters[chosen],
            {name: values[chosen] for name, values in self.scores.items()},
            {name: values[chosen] for name, values in self.states.items()},
            {name: values[chosen] for name, values in self.repeat_spread.items()},
            self.scale,
        )


def make_grids(
    rows: polars.DataFrame,
    scales: Mapping[str, Grades | None],
    raters: Sequence[str],
    *,
    repeats: RepeatRule = "mean",
    pooled: str = "",
) -> dict[str, Grid]:
    """One grid for each dimension, or, under the name `pooled`, one for all of them.

    Repeats of a rater on one unit become their mean or median. A rater without a row is absent everywhere.
    """
    import polars as pl

    score = pl.col("score")
    key = ["dimension", "item", "system"]
    middle = score.mean() if repeats == "mean" else score.median()
    cells = rows.group_by(*key, "rater").agg(
        middle.alias("score"),
        pl.when(score.count() > 1).then(score.std()).alias("spread"),
        pl.when(score.count() > 0)
        .then(SCORED)
        .when((pl.col("status") == "unscored").any())
        .then(UNSCORED)
        .otherwise(NOT_APPLICABLE)
        .cast(pl.UInt8)
        .alias("state"),
    )
    units = rows.group_by(key).agg(pl.col("cluster").first()).sort(key)
    parts = {pooled: units} if pooled else {str(name): part for (name,), part in units.group_by("dimension")}
    made = {}
    for name in sorted(parts):
        indexed = parts[name].with_row_index("unit")
        placed = cells.join(indexed.select("unit", *key), on=key, how="inner")
        made[name] = _grid(name, indexed, placed, raters, scales.get(name))
    return made


def _grid(
    name: str, units: polars.DataFrame, cells: polars.DataFrame, raters: Sequence[str], scale: Grades | None
) -> Grid:
    scores, states, spreads = {}, {}, {}
    parts = {rater: part for (rater,), part in cells.group_by("rater")}
    for rater in raters:
        score, spread = np.full(units.height, np.nan), np.full(units.height, np.nan)
        state = np.zeros(units.height, dtype=np.uint8)
        if rater in parts:
            place = parts[rater]["unit"].to_numpy()
            score[place] = parts[rater]["score"].cast(float).fill_null(float("nan")).to_numpy()
            spread[place] = parts[rater]["spread"].cast(float).fill_null(float("nan")).to_numpy()
            state[place] = parts[rater]["state"].to_numpy()
        scores[rater], states[rater], spreads[rater] = score, state, spread
    items, systems, clusters = (
        np.asarray(units[column].to_list(), dtype=str) for column in ("item", "system", "cluster")
    )
    return Grid(name, items, systems, clusters, scores, states, spreads, scale)


def count_unscored(rows: polars.DataFrame) -> dict[str, dict[str, int]]:
    """How many ratings of each rater have no score, by reason."""
    import polars as pl

    counted = (
        rows.filter(pl.col("status") == "unscored")
        .group_by("rater", pl.col("reason").fill_null("unknown"))
        .len()
        .sort("rater", "reason")
    )
    found: dict[str, dict[str, int]] = {}
    for rater, reason, count in counted.iter_rows():
        found.setdefault(rater, {})[reason] = count
    return found
