"""Ways of judging compared: what each rater of a run agrees, overlooks and takes, on the same answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from medjury.agreement import SevereErrors
from medjury.records import dataclass
from medjury.statistics import Estimate, Result, ends, undefined
from medjury.validation._ways.same_answers import SameAnswers
from medjury.validation._ways.spending import Spending

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
        return self.cases >= FEWEST_CASES

    def sure_of(self, way: Way) -> bool:
        """Whether the paired interval of the difference to the yardstick leaves zero out, with a chance of error of
        5 % over all comparisons together (Bonferroni: it is split among them)."""
        found = way.strict
        if found is None or found.low is None or found.high is None or not self.enough:
            return False
        return found.low > _SAME or found.high < -_SAME
