"""The grid: for one dimension, every rater's score of every unit, with what is missing and why.

The unit is one system's answer to one item. Whatever cannot be used is counted, never dropped in silence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from medjury.errors import MedjuryError
from medjury.instruments import list_instruments, load_instrument
from medjury.tables._clean import MISALIGNED
from medjury.tables._grades import Grades, GradesArgument, grades_from_instrument, grades_of

if TYPE_CHECKING:
    import polars

Numbers = NDArray[np.float64]
RepeatRule = Literal["mean", "median"]
ABSENT, SCORED, UNSCORED, NOT_APPLICABLE = 0, 1, 2, 3
POOLED = "all"


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


@dataclass(frozen=True, slots=True, eq=False)
class Grids:
    """One grid per dimension, and what the reader must know about the data behind them."""

    grids: tuple[Grid, ...]
    unscored: Mapping[str, Mapping[str, int]]
    warnings: tuple[str, ...]


def grids(
    frame: polars.DataFrame,
    *,
    scale: GradesArgument = None,
    pooled: bool = False,
    repeats: RepeatRule = "mean",
) -> Grids:
    """From clean rows (see `clean_rows`) to grids; `pooled` puts all dimensions into one grid.

    Repeats of a rater on one unit become their mean or median; unscored repeats are counted by reason.
    """
    import polars as pl

    frame, scales, warnings = _off_scale(frame, scale)
    unscored = _count_unscored(frame)
    score = pl.col("score")
    key = ["dimension", "item", "system"]
    middle = score.mean() if repeats == "mean" else score.median()
    cells = frame.group_by(*key, "rater").agg(
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
    units = frame.group_by(key).agg(pl.col("cluster").first()).sort(key)
    raters = tuple(frame["rater"].unique().sort().to_list())
    parts = (
        [(POOLED, units)] if pooled else [(str(name), part) for (name,), part in units.group_by("dimension")]
    )
    made = []
    for name, part in sorted(parts, key=lambda each: each[0]):
        indexed = part.with_row_index("unit")
        placed = cells.join(indexed.select("unit", *key), on=key, how="inner")
        made.append(_grid(name, indexed, placed, raters, _one_scale(scales, pooled, name)))
    return Grids(tuple(made), unscored, (*warnings, *_misaligned_warning(frame)))


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


def _off_scale(
    frame: polars.DataFrame, scale: GradesArgument
) -> tuple[polars.DataFrame, dict[str, Grades | None], list[str]]:
    """Scores off the scale become unscored rows with that reason; most of them off means a wrong scale."""
    import polars as pl

    scales: dict[str, Grades | None] = {}
    warnings = []
    names = frame["dimension"].unique().sort().to_list()
    off = pl.lit(value=False)
    for name in names:
        here = frame.filter(pl.col("dimension") == name)
        found = _scale_for(name, here, scale)
        scales[name] = found
        if found is None:
            continue
        # A text metric's numbers are on a scale of their own.
        score = here.filter(pl.col("rater_kind").ne_missing("metric"))["score"].drop_nulls().to_numpy()
        outside = int((~found.holds(score)).sum())
        if outside and 2 * outside > len(score):
            raise MedjuryError(
                f"dimension {name!r}: {outside} of {len(score)} scores lie off the scale {found.lowest:g} to "
                f"{found.highest:g} ({found.source}); the scale is probably wrong. "
                f"Scores run from {score.min():g} to {score.max():g}."
            )
        if outside:
            warnings.append(
                f"dimension {name!r}: {outside} scores lie off the scale {found.lowest:g} to "
                f"{found.highest:g} and count as unscored (out_of_range)"
            )
            far = ~pl.col("score").is_between(found.lowest - 1e-9, found.highest + 1e-9)
            off = off | ((pl.col("dimension") == name) & pl.col("rater_kind").ne_missing("metric") & far)
    off = off.fill_null(value=False)
    changed = frame.with_columns(
        pl.when(off).then(None).otherwise(pl.col("score")).alias("score"),
        pl.when(off).then(pl.lit("unscored")).otherwise(pl.col("status")).alias("status"),
        pl.when(off).then(pl.lit("out_of_range")).otherwise(pl.col("reason")).alias("reason"),
    )
    return changed, scales, warnings


def _scale_for(dimension: str, rows: polars.DataFrame, scale: GradesArgument) -> Grades | None:
    if isinstance(scale, Mapping):
        return grades_of(scale[dimension]) if dimension in scale else _scale_by_instrument(dimension, rows)
    if scale is not None:
        return grades_of(scale)
    return _scale_by_instrument(dimension, rows)


def _scale_by_instrument(dimension: str, rows: polars.DataFrame) -> Grades | None:
    """The scale of the built-in instrument that all rows name, as NAME or NAME@VERSION."""
    named = [name for name in rows["instrument"].unique().to_list() if name]
    if len(named) != 1:
        return None
    name, _, version = named[0].partition("@")
    if name not in list_instruments():
        return None
    instrument = load_instrument(name)
    return grades_from_instrument(instrument, dimension) if version in ("", instrument.version) else None


def _one_scale(scales: Mapping[str, Grades | None], pooled: bool, name: str) -> Grades | None:
    if not pooled:
        return scales[name]
    different = {None if each is None else each.values for each in scales.values()}
    return next(iter(scales.values())) if len(different) == 1 else None


def _misaligned_warning(frame: polars.DataFrame) -> list[str]:
    import polars as pl

    odd = frame.filter(pl.col("reason") == MISALIGNED).select("item", "system").unique(maintain_order=True)
    if not odd.height:
        return []
    shown = ", ".join(f"{item} {system}".strip() for item, system in odd.head(5).iter_rows())
    return [
        f"{odd.height} ids stand for different contents in different rows (first: {shown}); "
        "their scores count as unscored (misaligned)"
    ]


def _count_unscored(frame: polars.DataFrame) -> dict[str, dict[str, int]]:
    import polars as pl

    counted = (
        frame.filter(pl.col("status") == "unscored")
        .group_by("rater", pl.col("reason").fill_null("unknown"))
        .len()
        .sort("rater", "reason")
    )
    found: dict[str, dict[str, int]] = {}
    for rater, reason, count in counted.iter_rows():
        found.setdefault(rater, {})[reason] = count
    return found
