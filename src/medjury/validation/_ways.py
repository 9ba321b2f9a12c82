"""Ways of judging compared: what each rater of a run agrees, overlooks and takes, on the same answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from medjury.analysis.agreement import SevereErrors
from medjury.statistics import Estimate, Result, ends, undefined
from medjury.tables import RatingTable, of_cases
from medjury.validation._same_answers import SameAnswers

if TYPE_CHECKING:
    import polars


# What judging took: calls, seconds and cost of each rater on each answer.

AMOUNTS = ("calls", "seconds", "cost")
_UNIT = ["item", "system"]


@dataclass(frozen=True, slots=True)
class Spending:
    """Means per answer, all dimensions and repeats together; None is not known, which is not 0. `unknown` counts
    the answers whose cost nobody knows, such as those whose calls all failed: no mean has them."""

    calls: float | None
    seconds: float | None
    cost: float | None
    answers: int
    unknown: int


def spent(table: RatingTable, aside: Sequence[str] = ()) -> polars.DataFrame:
    """One row per judge and held-out answer: rater, item, system, calls, seconds, cost. A sum over some of the
    rows would pass for the sum over all, so an amount is null where one of its rows does not know it. `aside` are
    cases that are left out besides."""
    import polars as pl

    rows = of_cases(table.rows).filter(
        pl.col("rater_kind") == "judge",
        # Rows that follow from others took nothing.
        pl.col("dimension").is_in([each.name for each in table.counted]),
        ~pl.col("item").is_in(list(aside)),
    )
    # A table that comes from no run may not say what it took.
    lacking = [pl.lit(None, dtype=pl.Int64).alias(name) for name in AMOUNTS if name not in rows.columns]
    return (
        rows.with_columns(lacking)
        .group_by("rater", "cluster", *_UNIT)
        .agg(
            pl.when(pl.col(name).null_count() == 0).then(pl.col(name).cast(pl.Float64).sum()).alias(name)
            for name in AMOUNTS
        )
        .sort("rater", *_UNIT)
    )


def together(rows: polars.DataFrame) -> polars.DataFrame:
    """What all judges took for each answer: item, system, its patient, calls, seconds, cost."""
    import polars as pl

    return (
        rows.group_by(*_UNIT, "cluster")
        .agg(pl.when(pl.col(name).null_count() == 0).then(pl.col(name).sum()).alias(name) for name in AMOUNTS)
        .sort(_UNIT)
    )


def sharing(rows: polars.DataFrame, yardstick: str) -> list[str]:
    """The judges that were asked about any of the yardstick's answers; the others judged other texts."""
    import polars as pl

    own = rows.filter(pl.col("rater") == yardstick).select(_UNIT)
    return sorted(rows.join(own, on=_UNIT, how="semi")["rater"].unique().to_list())


def spending(
    rows: polars.DataFrame,
    judges: Sequence[str],
    alike: Sequence[str],
    juries: Mapping[str, Sequence[str]],
) -> Mapping[str, Spending]:
    """What each judge took per answer, on the answers that all who judged `alike` ones were asked about, and what
    each of the `juries` of them took. A judge of other texts is on its own answers."""
    import polars as pl

    shared = (
        rows.filter(pl.col("rater").is_in(alike)).group_by(_UNIT).len().filter(pl.col("len") == len(alike))
    )
    same = rows.join(shared, on=_UNIT, how="semi")
    found = {}
    for judge in judges:
        mine = same.filter(pl.col("rater") == judge)
        found[judge] = _mean(mine if mine.height else rows.filter(pl.col("rater") == judge))
    for jury, members in juries.items():
        voted = (same if same.height else rows).filter(pl.col("rater").is_in(members))
        found[jury] = _mean(together(voted))
    return found


def _mean(rows: polars.DataFrame) -> Spending:
    found: dict[str, float | None] = {}
    for name in AMOUNTS:
        mean = rows[name].mean()
        found[name] = float(mean) if isinstance(mean, int | float) else None
    return Spending(**found, answers=rows.height, unknown=int(rows["cost"].null_count()))


Spent = Literal["cost", "calls"]
# With fewer cases no difference is called shown: bootstrap intervals of agreement are too narrow there (two raters
# of equal quality were told apart in 8 to 12 of 100 planted runs of 8 to 25 cases, in 3 to 5 of 30 or more).
FEWEST_CASES = 30
_SAME = 1e-12
_NONE = undefined("not compared", 0, "none")


@dataclass(frozen=True, eq=False)
class Way:
    """One rater of the run. `agreement` is the gate's statistic with the clinicians, averaged over dimensions;
    `difference` is that less the yardstick's, on the same resamples of cases, and `strict` the same with an
    interval that is as much wider as several comparisons ask for. `severe` counts answers: a severe error on any
    dimension, among those that clinicians called dangerous on any; `blind` are answers dangerous on a
    dimension on which it gave no score, of `dangerous` in all, whoever scored them. `severe_change` is its rate
    less the yardstick's, on the same dangerous answers. `on_front` where no other
    agrees at least as well for at most the price, and is better in one of the two; `covers` where it scored as much
    as the gate asks of a jury: one that fails on the hard answers is no bargain, so it beats nobody."""

    rater: str
    strategy: str
    settings: Mapping[str, Any]
    spending: Spending
    unscored: float | None
    agreement: Estimate | None = None
    difference: Estimate | None = None
    strict: Estimate | None = None
    errors: int = 0
    severe: Estimate | None = None
    severe_change: Estimate | None = None
    on_front: bool | None = None
    covers: bool = True
    blind: int = 0
    dangerous: int = 0

    def price(self, by: Spent) -> float | None:
        return self.spending.cost if by == "cost" else self.spending.calls

    def as_dict(self) -> dict[str, Any]:
        took = self.spending
        return {
            "rater": self.rater,
            "strategy": self.strategy,
            "unbeaten": self.on_front,
            **ends(self.agreement or _NONE, "agreement"),
            **ends(self.difference or _NONE, "difference"),
            "errors": None if self.severe is None else self.errors,
            **ends(self.severe or _NONE, "severe_error_rate"),
            "calls": took.calls,
            "seconds": took.seconds,
            "cost": took.cost,
            "unscored": self.unscored,
        }


@dataclass(frozen=True, eq=False)
class OnDimension:
    """One rater on one dimension."""

    part: SameAnswers
    rater: str
    agreement: Estimate
    difference: Estimate | None
    severe: SevereErrors | None


@dataclass(frozen=True, eq=False)
class Ways(Result[Way]):
    """All raters of a run. `answers` and `cases` (patients, where some have several: `by_patient`) are those on
    which agreement is compared on any dimension; `left_out` counts answers of clinicians that are left out on any,
    `uncounted` names the dimensions that are not in the means. `price` is what the front is by: cost, or calls
    where the costs are not all known or are nothing. `coverage` is what the gate asks of a jury."""

    rows: tuple[Way, ...]
    yardstick: str
    details: tuple[OnDimension, ...] = ()
    uncounted: tuple[str, ...] = ()
    cases: int = 0
    answers: int = 0
    left_out: int = 0
    price: Spent | None = None
    warnings: tuple[str, ...] = ()
    by_patient: bool = False
    coverage: float = 0.0
    confidence: float = 0.95
    fewest: ClassVar[int] = FEWEST_CASES

    @property
    def problem(self) -> str:
        """Why agreement cannot be compared; empty where it can."""
        return "; ".join(self.warnings)

    @property
    def comparisons(self) -> int:
        """How many raters are measured against the yardstick."""
        return sum(each.difference is not None for each in self.rows)

    @property
    def enough(self) -> bool:
        """Whether there are cases enough to call a difference shown."""
        return self.cases >= self.fewest

    def sure_of(self, way: Way) -> bool:
        """Whether the paired interval of the difference to the yardstick leaves zero out, with a chance of error of
        5 % over all comparisons together (Bonferroni: it is split among them)."""
        found = way.strict
        if found is None or found.low is None or found.high is None or not self.enough:
            return False
        return found.low > _SAME or found.high < -_SAME
