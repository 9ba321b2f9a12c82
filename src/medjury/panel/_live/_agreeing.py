"""How far the raters agree so far, and whether one of them drifts: for the coordinator alone.

Agreement: ordinal Krippendorff alpha, which allows that not everybody rated everything, with an interval that
resamples whole cases (patients where they are known). Drift: the rater's distance from the others' mean on the same
answers, later half minus earlier half of the rater's own work (Welch's interval).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from medjury.analysis.agreement import krippendorff_alpha
from medjury.instruments import Instrument
from medjury.panel._access import RECONCILED
from medjury.panel._exchange import Collected, ratings_frame
from medjury.statistics import Estimate, Floats, counted, undefined
from medjury.tables import Grid, RatingTable, mean_of_raters, rating_table

FEWEST = 10  # answers that two raters share, before anything is said of their agreement
_FEWEST_IN_HALF = 5
_RESAMPLES = 1000


@dataclass(frozen=True)
class Agreed:
    """One dimension: alpha, and how many answers at least two raters scored."""

    dimension: str
    alpha: Estimate
    shared: int


@dataclass(frozen=True)
class Drift:
    """How one rater's distance from the others changed, on one dimension."""

    rater: str
    dimension: str
    change: Estimate

    @property
    def is_told(self) -> bool:
        """Whether the interval leaves out no change at all."""
        low, high = self.change.low, self.change.high
        return low is not None and high is not None and (low > 0 or high < 0)


def agreement_so_far(table: RatingTable) -> list[Agreed]:
    """Every dimension with its alpha; undefined, with the reason, where too little is shared."""
    return [_agreed(table.grid(each.name)) for each in table.dimensions if not each.derived]


def _agreed(grid: Grid) -> Agreed:
    scores = np.column_stack(list(grid.scores.values()))
    shared = int((np.sum(~np.isnan(scores), axis=1) >= 2).sum())
    if shared < FEWEST:
        told = f"two raters share {counted(shared, 'answer')}; from {FEWEST} on it is computed"
        return Agreed(grid.dimension, undefined(told, shared, "none"), shared)
    alpha = krippendorff_alpha(scores, "ordinal", clusters=grid.clusters, resamples=_RESAMPLES)
    return Agreed(grid.dimension, alpha, shared)


def drifts(table: RatingTable, ratings: Sequence[Collected]) -> list[Drift]:
    """Every rater and dimension with enough work on both sides of its middle."""
    when = {(each.item, each.system, each.rater, each.dimension): each.given_at for each in ratings}
    return [
        Drift(rater, grid.dimension, change)
        for grid in (table.grid(each.name) for each in table.dimensions if not each.derived)
        for rater in grid.scores
        if (change := _drift(grid, rater, when)) is not None
    ]


def _drift(grid: Grid, rater: str, when: Mapping[tuple[str, str, str, str], str]) -> Estimate | None:
    own = grid.scores[rater]
    others = [scores for other, scores in grid.scores.items() if other != rater]
    if not others:
        return None
    beside = mean_of_raters(np.column_stack(others))
    places = np.flatnonzero(~np.isnan(own) & ~np.isnan(beside))
    if len(places) < 2 * _FEWEST_IN_HALF:
        return None
    times = [when.get((grid.items[at], grid.systems[at], rater, grid.dimension), "") for at in places]
    apart = (own - beside)[places[np.argsort(times, kind="stable")]]
    half = len(apart) // 2
    return _change(apart[:half], apart[half:])


def table_of(
    ratings: Sequence[Collected], instrument: Instrument, patients: Mapping[str, str]
) -> RatingTable:
    """The ratings as every analysis takes them. What raters settled together is no rater of its own: it would agree
    with those whose word it is."""
    import polars

    frame = ratings_frame([each for each in ratings if each.rater != RECONCILED]).with_columns(
        polars.lit("clinician").alias("rater_kind"),
        polars.col("item")
        .replace_strict(patients, default=polars.col("item"), return_dtype=polars.String)
        .alias("patient"),
    )
    kept = ("item", "system", "rater", "dimension", "score", "status", "reason", "rater_kind", "patient")
    return rating_table(frame.select(kept), instrument=instrument)


def _change(before: Floats, after: Floats) -> Estimate:
    from scipy.stats import ttest_ind

    value, n = float(after.mean() - before.mean()), len(before) + len(after)
    if before.std() == 0 and after.std() == 0:
        return undefined("the distance from the others never changes within a half", n, "none")
    interval = ttest_ind(after, before, equal_var=False).confidence_interval(0.95)
    return Estimate(value, float(interval.low), float(interval.high), n, "Welch")
