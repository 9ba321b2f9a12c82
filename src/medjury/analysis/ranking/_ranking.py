"""What a ranking reports: the systems from best to worst, every two of them compared, and what goes with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from medjury.analysis.ranking._measures import SAME, Measure, Ties
from medjury.foundation.errors import MedjuryError
from medjury.statistics import (
    FEWEST_CLUSTERS,
    Estimate,
    Floats,
    Printable,
    Result,
    Row,
    flat,
    p_value,
    panels_figure,
    text_table,
    undefined,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# What to give where a part was not made.
NEEDS = {
    "agreement": "--reference",
    "reference_ranks": "--reference, with labels of every system",
    "cost": "--cost",
    "detectable": f"a column `item`, or ratings, and {FEWEST_CLUSTERS} cases or more",
}


class RankingRow(Row):
    """A row of one of the tables; what a reader sees of it may be less than what a program gets."""

    __slots__ = ()

    def shown(self) -> Mapping[str, Printable]:
        return self.as_dict()


RowType = TypeVar("RowType", bound=RankingRow)


@dataclass(frozen=True, slots=True)
class Standing(RankingRow):
    """One system. `win_sd` and `macro_sd` are standard deviations (n − 1) over benchmarks, None with a single
    one; `win_sd_rivals` is that of its win rates against each rival. `tie_group` holds letters: systems that
    share one are not separated. `rank_low` and `rank_high` are the best and worst rank left open."""

    system: str
    rank: int
    rank_low: int
    rank_high: int
    win_rate: Estimate
    win_sd: float | None
    win_sd_rivals: float | None
    macro_average: Estimate
    macro_sd: float | None
    tie_group: str
    n: int
    n_unscored: int

    def as_dict(self) -> dict[str, Any]:
        return {**flat(self), "method": self.win_rate.method}

    def shown(self) -> dict[str, Printable]:
        names = ("system", "rank", "rank_low", "rank_high", "macro_average", "macro_sd", "win_rate", "win_sd",
                 "tie_group", "n", "n_unscored")  # fmt: skip
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class ReferenceStanding(RankingRow):
    """One system as the reference would rank it: the best and worst rank left open, and its mean over
    dimensions."""

    system: str
    rank: int
    rank_low: int
    rank_high: int
    mean: Estimate
    tie_group: str
    labels: int

    def as_dict(self) -> dict[str, Any]:
        return {**flat(self), "method": self.mean.method}

    def shown(self) -> dict[str, Printable]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class PairDifference(RankingRow):
    """The better of two systems less the other, with `p_adjusted` over all pairs; `separated` is the verdict."""

    better: str
    other: str
    difference: Estimate
    p_adjusted: float
    separated: bool

    def as_dict(self) -> dict[str, Any]:
        found = self.difference
        return {
            **flat(self, "better", "other"),
            "difference": found.value,
            "low": found.low,
            "high": found.high,
            **flat(self, "p_adjusted", "separated"),
            "n": found.n,
            "method": found.method,
        }

    def shown(self) -> dict[str, Printable]:
        return {
            "better": self.better,
            "other": self.other,
            "difference": self.difference,
            "p_adjusted": p_value(self.p_adjusted),
            "separated": self.separated,
            "n": self.difference.n,
        }


@dataclass(frozen=True, slots=True)
class RankingAgreement(RankingRow):
    """Kendall's tau-b of two rankings, and how many pairs of systems they order alike, against each other, or
    tie in one of them. `rater` is whose ranking is compared, `calibration` "before" or "after" where there is
    one."""

    tau: Estimate
    systems: tuple[str, ...]
    concordant: int
    discordant: int
    tied: int
    rater: str = ""
    calibration: str = ""

    def as_dict(self) -> dict[str, Any]:
        found = self.tau
        return {
            **flat(self, "rater", "calibration"),
            "kendall_tau_b": found.value,
            "low": found.low,
            "high": found.high,
            "systems": len(self.systems),
            **flat(self, "concordant", "discordant", "tied"),
            **flat(found, "n", "method", "reason"),
        }

    def shown(self) -> dict[str, Printable]:
        left_out = ("low", "high", "method", "reason")
        kept = {name: value for name, value in self.as_dict().items() if name not in left_out}
        return kept | {"kendall_tau_b": self.tau}


_NO_SPREAD = "all systems tie in one of the rankings"
_NO_INTERVAL = (
    "no interval: systems that lie close change places by chance, and resampling does not show how often; the tie "
    "groups show which systems are separated"
)


def order_agreement(
    systems: tuple[str, ...], one: Floats, other: Floats, *, n: int, same: float = SAME, rater: str = ""
) -> RankingAgreement:
    """How two values of each system order the systems; values that differ by no more than `same` tie."""
    gaps = (each[:, np.newaxis] - each[np.newaxis, :] for each in (one, other))
    first, second = (np.where(np.abs(gap) <= same, 0.0, np.sign(gap)) for gap in gaps)
    both = np.triu(first * second, 1)
    alike, against = int((both > 0).sum()), int((both < 0).sum())
    untied = float(np.sqrt((first**2).sum()) * np.sqrt((second**2).sum()))
    tau = undefined(_NO_SPREAD, n, _NO_INTERVAL)
    if untied > 0:
        value = float(np.clip((first * second).sum() / untied, -1.0, 1.0))
        tau = Estimate(value, None, None, n, _NO_INTERVAL)
    pairs = len(systems) * (len(systems) - 1) // 2
    return RankingAgreement(tau, systems, alike, against, pairs - alike - against, rater)


@dataclass(frozen=True, slots=True)
class DetectableEffect(RankingRow):
    """Minimum detectable effect (MDE) of one benchmark: mean and standard deviation over pairs of systems, the
    largest and whose it is, and how many pairs differ by more than their own MDE. `n` is the smallest number of
    cases that a pair shares, or that one of it has where they share none."""

    benchmark: str
    mde: float
    mde_sd: float | None
    largest: float
    largest_pair: tuple[str, str]
    beyond: int
    pairs: int
    n: int
    method: str

    def as_dict(self) -> dict[str, Any]:
        found = {"pairs_beyond" if name == "beyond" else name: value for name, value in flat(self).items()}
        return found | {"largest_pair": list(self.largest_pair)}

    def shown(self) -> dict[str, Printable]:
        kept = {name: value for name, value in self.as_dict().items() if name != "method"}
        return kept | {"largest_pair": " − ".join(self.largest_pair)}


@dataclass(frozen=True, slots=True)
class CostPoint(RankingRow):
    """One system. `on_front` where no other is at least as good for at most the price, and better in one of the
    two; else `dominated_by` names the cheapest that is. `cheapest_of_best` marks the cheapest system that is not
    separated from the best one: what a careful buyer takes."""

    system: str
    cost: float
    performance: float
    on_front: bool
    dominated_by: str
    level_with_best: bool
    cheapest_of_best: bool


@dataclass(frozen=True, slots=True)
class Part(Result[RowType]):
    """One table of a ranking, under its title."""

    title: str
    rows: tuple[RowType, ...]
    warnings: tuple[str, ...] = ()

    def text(self) -> str:
        return "\n".join(
            [*(f"! {warning}" for warning in self.warnings), self.title, *text_table(self.shown_rows())]
        )

    def shown_rows(self) -> Sequence[Mapping[str, Printable]]:
        return [row.shown() for row in self.rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking(Part[Standing]):
    """The systems from best to worst by `by`: its `rows`. `raters` are those whose scores rank them, `scale` says
    what a mean score is in, and `unit` what was resampled. The other tables: `pairs`, every two systems;
    `reference_ranks`, as the reference would rank them; `agreement` with the order that the reference gives; the
    smallest `detectable` differences; `cost`. None where there is nothing to make one of. It is not `paired` where
    every case has the answer of one system."""

    pairs: Part[PairDifference]
    agreement: Part[RankingAgreement] | None
    detectable: Part[DetectableEffect] | None
    cost: Part[CostPoint] | None
    reference_ranks: Part[ReferenceStanding] | None
    by: Measure
    ties: Ties
    scale: str
    unit: str
    benchmarks: tuple[str, ...]
    raters: tuple[str, ...]
    paired: bool = True

    def plot(self) -> Figure:
        """The systems from best to worst, by what ranks them, with intervals; letters are tie groups."""
        drawn = [
            (f"{row.rank}. {row.system} ({row.tie_group})", getattr(row, self.by), ()) for row in self.rows
        ]
        return panels_figure([("", self.by.replace("_", " "), drawn)])

    @property
    def systems(self) -> Part[Standing]:
        """The systems alone."""
        return Part(self.title, self.rows, self.warnings)

    def part(self, name: str) -> Part[Any]:
        """One of the tables by its name."""
        found: Part[Any] | None = getattr(self, name)
        if found is None:
            raise MedjuryError(f"--show {name} needs {NEEDS[name]}")
        return found

    def text(self) -> str:
        """All tables but the pairs, which are many."""
        parts = (self.systems, self.reference_ranks, self.agreement, self.detectable, self.cost)
        return "\n\n".join(part.text() for part in parts if part is not None)
