"""Verdicts on pairs of answers as a tournament of systems: who met whom, who won, and who runs in a circle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from medjury.analysis.ranking._bradley_terry import (
    FIRST,
    SECOND,
    TIE,
    Comparisons,
    chances,
    fit_strengths,
    has_order,
)
from medjury.intake.cases import PREFERENCE, pair_of
from medjury.statistics import Floats, Read, Replicates, replicates
from medjury.tables import SHOWN_FIRST, Grades, RatingTable

if TYPE_CHECKING:
    import polars

_ONE_ORDER = (
    "every pair was shown in one order only, so what the place is worth cannot be told from the strengths; they "
    "are estimated as if it were worth nothing"
)


@dataclass(frozen=True, slots=True, eq=False)
class Tournament:
    """Verdicts of some raters: for each its cell of `compared`, its outcome, weight, and cluster."""

    compared: Comparisons
    cell: NDArray[np.int64]
    outcome: NDArray[np.int64]
    weight: Floats
    clusters: tuple[str, ...]
    items: int
    warnings: tuple[str, ...] = ()

    @property
    def counts(self) -> Floats:
        """`(cells, 3)`: weighted verdicts."""
        made = np.zeros((len(self.compared.first), 3))
        np.add.at(made, (self.cell, self.outcome), self.weight)
        return made

    def replicates(self, resamples: int, seed: int) -> Replicates:
        compared, cells = self.compared, len(self.compared.first)
        rows = np.column_stack([self.cell, self.outcome, self.weight])

        def statistics(rows: Floats) -> Read:
            votes = np.zeros((len(rows), cells * 3))
            votes[np.arange(len(rows)), (rows[:, 0] * 3 + rows[:, 1]).astype(np.int64)] = rows[:, 2]

            def read(weights: Floats) -> Mapping[str, Floats]:
                fit = fit_strengths(compared, (weights @ votes).reshape(-1, cells, 3))
                share = (chances(compared, fit).sum(axis=2) - 0.5) / (len(compared.systems) - 1)
                return {
                    **{f"strength\0{name}": fit.finite[:, at] for at, name in enumerate(compared.systems)},
                    **{f"share\0{name}": share[:, at] for at, name in enumerate(compared.systems)},
                    "first_place": fit.first_place,
                }

            return read

        return replicates(
            rows, statistics, clusters=self.clusters, resamples=resamples, seed=seed, n=len(rows)
        )


def tournament(rows: polars.DataFrame, systems: Sequence[str], raters: Sequence[str]) -> Tournament:
    """The verdicts of these raters, among rows of `verdicts`."""
    import polars as pl

    rows = rows.filter(pl.col("rater").is_in(raters))
    place = {name: at for at, name in enumerate(systems)}
    one, other = (
        np.asarray([place[name] for name in rows[side]], dtype=np.int64) for side in ("first", "second")
    )
    outcome = rows["outcome"].to_numpy().astype(np.int64)
    codes, cell = np.unique(one * len(place) + other, return_inverse=True)
    first, second = codes // len(place), codes % len(place)
    with_order = has_order(systems, first, second)
    compared = Comparisons(tuple(systems), first, second, bool((outcome == TIE).any()), with_order)
    return Tournament(
        compared,
        cell.astype(np.int64),
        outcome,
        rows["weight"].to_numpy().astype(np.float64),
        tuple(rows["cluster"].to_list()),
        rows["item"].n_unique(),
        () if with_order or not len(first) else (_ONE_ORDER,),
    )


def verdicts(table: RatingTable) -> tuple[polars.DataFrame, list[str]]:
    """Every verdict on a pair that was given, `item, rater, cluster, first, second, outcome, weight` (the systems
    in the order shown), and the systems of all pairs. One of several repeats in the same order counts its part."""
    import polars as pl

    rows = table.rows.filter(pl.col(SHOWN_FIRST).is_not_null(), pl.col("dimension") == PREFERENCE)
    names = {name: pair for name in rows["system"].unique().to_list() if (pair := pair_of(name))}
    grades = table.dimension(PREFERENCE).grades or Grades((-1.0, 0.0, 1.0))
    scored = rows.drop_nulls("score")
    sign = np.sign(grades.grade(scored["score"].to_numpy()))
    low, high = (
        pl.col("system").replace_strict(
            {name: pair[side] for name, pair in names.items()}, return_dtype=pl.String
        )
        for side in (0, 1)
    )
    unit = ["rater", "item", "system", SHOWN_FIRST]
    made = scored.with_columns(
        pl.col(SHOWN_FIRST).alias("first"),
        pl.when(pl.col(SHOWN_FIRST) == low).then(high).otherwise(low).alias("second"),
        # In the table -1 is for the name that comes first in the alphabet; here for the place.
        (pl.Series("sign", sign) * pl.when(pl.col(SHOWN_FIRST) == low).then(1).otherwise(-1) + 1).alias(
            "outcome"
        ),
        (1.0 / pl.col("probability").fill_null(1.0) / pl.len().over(unit)).alias("weight"),
    )
    return made, sorted({system for pair in names.values() for system in pair})


def won_tied_lost(found: Tournament) -> list[tuple[int, int, int]]:
    """By system: verdicts won, tied and lost."""
    compared = found.compared
    one, other = compared.first[found.cell], compared.second[found.cell]
    made = []
    for at in range(len(compared.systems)):
        won = ((one == at) & (found.outcome == FIRST)) | ((other == at) & (found.outcome == SECOND))
        lost = ((one == at) & (found.outcome == SECOND)) | ((other == at) & (found.outcome == FIRST))
        tied = ((one == at) | (other == at)) & (found.outcome == TIE)
        made.append((int(won.sum()), int(tied.sum()), int(lost.sum())))
    return made


def groups_that_met(found: Tournament) -> NDArray[np.int64]:
    """Systems that were compared, directly or through others, share a number."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    compared = found.compared
    size = len(compared.systems)
    met = coo_array((np.ones(len(compared.first)), (compared.first, compared.second)), shape=(size, size))
    return np.asarray(connected_components(met, directed=False)[1], dtype=np.int64)


def circular_triples(rows: polars.DataFrame) -> tuple[int, int]:
    """Of one rater's verdicts: the triples of systems on one case in which every pair has a winner (over both
    orders and all repeats), and how many of them run in a circle."""
    import polars as pl

    if not rows.height:
        return 0, 0
    settled = (
        rows.with_columns((pl.col("outcome") - 1).alias("for_second"))
        .with_columns(
            pl.when(pl.col("first") < pl.col("second"))
            .then("for_second")
            .otherwise(-pl.col("for_second"))
            .alias("v")
        )
        .group_by("item", "system")
        .agg(pl.col("v").sum())
        .filter(pl.col("v") != 0)
    )
    triples = circular = 0
    for _, part in settled.group_by("item"):
        better: dict[tuple[str, str], bool] = {}
        for system, value in part.select("system", "v").iter_rows():
            one, other = pair_of(system) or ("", "")
            better[one, other], better[other, one] = value < 0, value > 0
        systems = sorted({name for pair in better for name in pair})
        for a, b, c in combinations(systems, 3):
            if not {(a, b), (b, c), (a, c)} <= set(better):
                continue
            triples += 1
            circular += better[a, b] == better[b, c] == better[c, a]
    return triples, circular
