"""The grid: for one dimension, every rater's score of every unit, with what is missing and why.

The unit is one system's answer to one item. Whatever cannot be used is counted, never dropped in silence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from medjury.tables._dimensions import Grades

if TYPE_CHECKING:
    import polars


Numbers = NDArray[np.float64]
RepeatRule = Literal["mean", "median"]
ABSENT, SCORED, UNSCORED, NOT_APPLICABLE = 0, 1, 2, 3


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Units in rows. `scores[rater]` is NaN where `states[rater]` is not SCORED; `repeat_spread[rater]` is
    the standard deviation over the rater's own repeats, NaN where there are fewer than two. `drawn[rater]` is the
    probability with which the unit was drawn for the rater, 1 where everything was; only those have an entry for
    whom somebody drew."""

    dimension: str
    items: NDArray[np.str_]
    systems: NDArray[np.str_]
    clusters: NDArray[np.str_]
    scores: Mapping[str, Numbers]
    states: Mapping[str, NDArray[np.uint8]]
    repeat_spread: Mapping[str, Numbers]
    scale: Grades | None
    drawn: Mapping[str, Numbers] = field(default_factory=dict)

    def with_rater(
        self, name: str, scores: Numbers, states: NDArray[np.uint8], drawn: Numbers | None = None
    ) -> Grid:
        """The same grid with one more rater, such as a consensus or a jury."""
        nothing = np.full(len(self.items), np.nan)
        return replace(
            self,
            scores={**self.scores, name: scores},
            states={**self.states, name: states},
            repeat_spread={**self.repeat_spread, name: nothing},
            drawn=self.drawn if drawn is None else {**self.drawn, name: drawn},
        )

    def where(self, chosen: NDArray[np.bool_]) -> Grid:
        """The chosen units."""
        return replace(
            self,
            items=self.items[chosen],
            systems=self.systems[chosen],
            clusters=self.clusters[chosen],
            scores={name: values[chosen] for name, values in self.scores.items()},
            states={name: values[chosen] for name, values in self.states.items()},
            repeat_spread={name: values[chosen] for name, values in self.repeat_spread.items()},
            drawn={name: values[chosen] for name, values in self.drawn.items()},
        )


def joined(name: str, grids: Sequence[Grid], scale: Grades | None) -> Grid:
    """The units of several grids of the same raters, one after the other."""
    one = np.concatenate
    return Grid(
        name,
        one([grid.items for grid in grids]),
        one([grid.systems for grid in grids]),
        one([grid.clusters for grid in grids]),
        {rater: one([grid.scores[rater] for grid in grids]) for rater in grids[0].scores},
        {rater: one([grid.states[rater] for grid in grids]) for rater in grids[0].states},
        {rater: one([grid.repeat_spread[rater] for grid in grids]) for rater in grids[0].repeat_spread},
        scale,
        {
            rater: one([grid.drawn.get(rater, np.ones(len(grid.items))) for grid in grids])
            for rater in {name: None for grid in grids for name in grid.drawn}
        },
    )


def make_grids(
    rows: polars.DataFrame,
    scales: Mapping[str, Grades | None],
    raters: Sequence[str],
    *,
    repeats: RepeatRule = "mean",
) -> dict[str, Grid]:
    """One grid for each dimension that `scales` names, without units where the rows have none.

    Repeats of a rater on one unit become their mean or median. A rater without a row is absent everywhere.
    """
    import polars as pl

    score = pl.col("score")
    key = ["dimension", "item", "system"]
    units = (
        rows.group_by(key)
        .agg(pl.col("cluster").first())
        .sort(key)
        .with_columns(pl.int_range(pl.len()).over("dimension").alias("unit"))
    )
    middle = score.mean() if repeats == "mean" else score.median()
    cells = (
        rows.group_by(*key, "rater")
        .agg(
            middle.alias("score"),
            pl.when(score.count() > 1).then(score.std()).alias("spread"),
            pl.when(score.count() > 0)
            .then(SCORED)
            .when((pl.col("status") == "unscored").any())
            .then(UNSCORED)
            .otherwise(NOT_APPLICABLE)
            .cast(pl.UInt8)
            .alias("state"),
            pl.col("probability").min(),
        )
        .with_columns(pl.col("score", "spread").cast(pl.Float64))
        .join(units, on=key)
    )
    places = {str(name): part for (name,), part in units.group_by("dimension", maintain_order=True)}
    parts = {(str(name), str(rater)): part for (name, rater), part in cells.group_by("dimension", "rater")}
    return {
        name: _grid(
            name,
            places.get(name, units.clear()),
            {rater: parts[name, rater] for rater in raters if (name, rater) in parts},
            raters,
            scale,
        )
        for name, scale in scales.items()
    }


def _grid(
    name: str,
    units: polars.DataFrame,
    cells: Mapping[str, polars.DataFrame],
    raters: Sequence[str],
    scale: Grades | None,
) -> Grid:
    scores, states, spreads, drawn = {}, {}, {}, {}
    for rater in raters:
        score, spread = np.full(units.height, np.nan), np.full(units.height, np.nan)
        state = np.full(units.height, ABSENT, dtype=np.uint8)
        if rater in cells:
            place = cells[rater]["unit"].to_numpy()
            score[place], spread[place] = (cells[rater][kind].to_numpy() for kind in ("score", "spread"))
            state[place] = cells[rater]["state"].to_numpy()
            if cells[rater]["probability"].null_count() < cells[rater].height:
                drawn[rater] = np.ones(units.height)
                drawn[rater][place] = cells[rater]["probability"].fill_null(1.0).to_numpy()
        scores[rater], states[rater], spreads[rater] = score, state, spread
    items, systems, clusters = (
        np.asarray(units[column].to_list(), dtype=str) for column in ("item", "system", "cluster")
    )
    return Grid(name, items, systems, clusters, scores, states, spreads, scale, drawn)


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


# Answers: what raters said of each answer, their repeats made one, as rows to join and group.


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
