"""What an audit starts from: who is audited, against whom, on what, and how its intervals are made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import NDArray
from scipy import special

from medjury.analysis.audits._finding import Adjustment, Audit, Finding, Verdicts, adjusted, names
from medjury.foundation.errors import MedjuryError
from medjury.statistics import UNDEFINED_ALLOWED, Estimate, Floats, Read, Replicates, replicates
from medjury.tables import (
    MACHINES,
    SCORED,
    UNSCORED,
    Grid,
    Names,
    RatingTable,
    Roles,
    answers_of,
    rating_table,
)

if TYPE_CHECKING:
    import polars


# Around the bootstrap: cases as rows of sums before it, a p-value after it.

# With fewer resampled units the share of resamples beyond zero alone separates too often (measured).
FEW_UNITS = 20
# A probability is small, never nothing.
SMALLEST = 1e-300


def check_confidence(confidence: float) -> None:
    if not 0.5 < confidence < 1.0:
        raise MedjuryError(f"The confidence is a share between 0.5 and 1, such as 0.95, not {confidence:g}.")


def sums_by_cluster(features: Floats, clusters: Sequence[object] | NDArray[Any]) -> Floats:
    """One row per cluster (case): the sums of its rows.

    Where a statistic is made of sums alone, resampling these rows is resampling whole cases, at a fraction of
    the work.
    """
    names, codes = np.unique(np.asarray(list(clusters)), return_inverse=True)
    sums = np.zeros((len(names), features.shape[1]))
    np.add.at(sums, codes, features)
    return sums


def resampled_p(drawn: Replicates, name: str, estimate: Estimate, units: int | None = None) -> float | None:
    """The p-value of one of the resampled values; None where too many resamples do not have it. `units` are the
    cases that hold something of it, all of them by default."""
    lacking = np.count_nonzero(~np.isfinite(drawn.resampled[name]))
    if estimate.value is None or lacking > UNDEFINED_ALLOWED * drawn.resamples:
        return None
    return two_sided_p(drawn.observed[name], drawn.resampled[name], drawn.n if units is None else units)


def two_sided_p(value: float, resampled: Floats, units: int) -> float | None:
    """P-value of "the value is zero": twice the smaller share of resamples at or beyond zero.

    (1 + count) / (1 + resamples). Where fewer than ten resamples lie there, the share is too coarse to be
    corrected for many comparisons, and the tail is Student's, of value / standard error with `units` − 1 degrees
    of freedom (units: what was resampled; the standard error is the bootstrap's times √(n/(n − 1))). Of few units
    no resample goes beyond what they hold, so the share alone is too small: p is never below Student's there.
    Where no resample differs, all units agree exactly, and p is at least that of the sign test. None where
    nothing was resampled.

    >>> round(two_sided_p(1.7, np.array([1.0, 2.0, 3.0, -1.0, 2.0, 1.0, 4.0, 2.0, 1.0] * 20), 30), 3)
    0.232
    """
    kept = resampled[np.isfinite(resampled)]
    if not kept.size or not np.isfinite(value):
        return None
    count = int(min(np.count_nonzero(kept <= 0.0), np.count_nonzero(kept >= 0.0)))
    share = min(1.0, 2.0 * (1 + count) / (1 + kept.size))
    spread = float(kept.std(ddof=1)) if kept.size > 1 else 0.0
    if spread <= 1e-12 * abs(value) or units < 2:
        return min(1.0, max(share, 2.0 * 0.5**units))
    t = abs(value) / (spread * np.sqrt(units / (units - 1)))
    student = 2.0 * max(float(special.stdtr(units - 1, -t)), SMALLEST)
    if units < FEW_UNITS:
        return student if count < 10 else max(share, student)
    coarsest = min(1.0, 2.0 * 11 / (1 + kept.size))
    return share if count >= 10 else min(coarsest, student)


JUDGES = ("judge",)


@dataclass(frozen=True, eq=False)
class Audited:
    """The `raters` are audited; the `reference` tells a bias from a true difference."""

    table: RatingTable
    roles: Roles
    raters: tuple[str, ...]
    dimensions: tuple[str, ...]
    confidence: float
    resamples: int
    seed: int
    adjustment: Adjustment

    @property
    def reference(self) -> tuple[str, ...]:
        """Nobody is compared with himself."""
        return tuple(name for name in self.roles.reference if name not in self.raters)

    @cached_property
    def rows(self) -> polars.DataFrame:
        """Every rating of the audited raters on these dimensions."""
        import polars as pl

        return self.table.rows.filter(
            pl.col("rater").is_in(self.raters), pl.col("dimension").is_in(self.dimensions)
        )

    @cached_property
    def asked(self) -> polars.DataFrame:
        """One row per rater, answer and dimension; repeats have become one score."""
        return answers_of(self._grids, (*self.raters, *self.reference))

    @cached_property
    def answers(self) -> polars.DataFrame:
        """What was asked and has a score."""
        import polars as pl

        return self.asked.filter(pl.col("state") == SCORED)

    @property
    def units(self) -> int:
        """How many answers the largest dimension has."""
        return max((len(grid.items) for grid in self._grids), default=0)

    def of(self, rater: str, dimension: str) -> polars.DataFrame:
        import polars as pl

        return self.answers.filter(pl.col("rater") == rater, pl.col("dimension") == dimension)

    def beside_reference(self, rater: str, dimension: str) -> polars.DataFrame:
        """The rater's answers that the reference scored too, with the mean of the reference."""
        import polars as pl

        mean = (
            self.answers.filter(pl.col("rater").is_in(self.reference), pl.col("dimension") == dimension)
            .group_by("item", "system")
            .agg(pl.col("score").mean().alias("reference"))
        )
        return self.of(rater, dimension).join(mean, on=["item", "system"], how="inner", maintain_order="left")

    def drawn(self, sums: Floats, statistics: Callable[[Floats], Read]) -> Replicates:
        """The statistics on resamples of cases, each a row of `sums`."""
        return replicates(
            sums, statistics, clusters=range(len(sums)), resamples=self.resamples, seed=self.seed
        )

    def judged(
        self,
        findings: Sequence[Finding],
        verdicts: Mapping[str, Verdicts],
        family: Callable[[Finding], object] = lambda finding: finding.statistic,
    ) -> list[Finding]:
        """The findings with p-values adjusted as was asked for, and their verdicts; see `adjusted`."""
        return adjusted(
            findings, self.adjustment, confidence=self.confidence, verdicts=verdicts, family=family
        )

    def result(
        self,
        name: str,
        findings: Sequence[Finding],
        method: str,
        warnings: Sequence[str] = (),
        *,
        n: int | None = None,
    ) -> Audit:
        """The audit, each finding with the number of ratings without a score behind it."""
        lost = self._unscored
        return Audit(
            name,
            tuple(
                replace(each, audit=name, n_unscored=lost[each.rater, each.dimension]) for each in findings
            ),
            self._scored if n is None else n,
            lost["", ""],
            method,
            (*self.table.warnings, *warnings),
        )

    @cached_property
    def _scored(self) -> int:
        """How many answers of the audited raters have a score."""
        return sum(int((grid.states[rater] == SCORED).sum()) for grid in self._grids for rater in self.raters)

    @cached_property
    def _grids(self) -> list[Grid]:
        return [self.table.grid(dimension, self.roles) for dimension in self.dimensions]

    @cached_property
    def _unscored(self) -> Mapping[tuple[str, str], int]:
        """How many ratings have no score though one was asked for; "" is all raters, or all dimensions."""
        import polars as pl

        lost = self.rows.filter(pl.col("status") == "unscored").select("rater", "dimension")
        if (
            self.roles.jurors and self.roles.jury in self.raters
        ):  # formed here, so the table has no rows of it
            silent = (pl.col("rater") == self.roles.jury) & (pl.col("state") == UNSCORED)
            lost = pl.concat([lost, self.asked.filter(silent).select("rater", "dimension")])
        counts: Counter[tuple[str, str]] = Counter()
        for rater, dimension, count in lost.group_by("rater", "dimension").len().iter_rows():
            for key in ((rater, dimension), (rater, ""), ("", dimension), ("", "")):
                counts[key] += count
        return counts


class Asked(TypedDict, total=False):
    """What every audit takes, whatever else it takes: see `audited`."""

    raters: Names | None
    reference: Names | None
    dimensions: Names | None
    confidence: float
    resamples: int | None
    seed: int | None
    adjustment: Adjustment


def audited(
    table: object,
    *,
    raters: Names | None = None,
    reference: Names | None = None,
    dimensions: Names | None = None,
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
    adjustment: Adjustment = "holm",
    kinds: Sequence[str] = MACHINES,
    formed_jury: bool = True,
) -> Audited:
    """Without names: judges, juries and metrics (those of `kinds`) on the dimensions that raters gave themselves,
    for what follows from them is not further evidence. Without `formed_jury` only those who have rows of their
    own: a jury formed here has no repeats and no vendor."""
    import polars as pl

    check_confidence(confidence)
    table = rating_table(table)
    roles = table.roles(raters, reference, kinds=kinds, need_reference=False)
    chosen = tuple(name for name in roles.raters if formed_jury or not roles.jurors or name != roles.jury)
    listed = tuple(each.name for each in table.chosen(dimensions, derived=False))
    made = Audited(
        table, roles, chosen, listed, confidence, table.resamples(resamples), table.seed(seed), adjustment
    )
    if not made.rows.filter(pl.col("status") == "scored").height:
        raise MedjuryError(f"no rating of {names(chosen)} has a score, so there is nothing to audit.")
    return made


def attribute(frame: polars.DataFrame, column: str, of: str) -> dict[str, str]:
    """The one value of a column for each name in `of`, such as the vendor of each system; "" where none."""
    import polars as pl

    if column not in frame.columns:
        return {}
    text = pl.col(column).cast(pl.String).str.strip_chars()
    value = text.filter(text != "").drop_nulls().unique()
    found: dict[str, str] = {}
    for name, values in frame.group_by(of).agg(value.sort().alias("values")).sort(of).iter_rows():
        if len(values) > 1:
            raise MedjuryError(
                f"{of} {name!r} has {len(values)} values in the column {column!r}: {names(values, 3)}. "
                "Give it one."
            )
        found[name] = values[0] if values else ""
    return found
