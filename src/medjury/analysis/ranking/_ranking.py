"""What a ranking says: the systems from best to worst, every two of them compared, and what goes with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from medjury.analysis.ranking._agreement import RankingAgreement
from medjury.analysis.ranking._cost_point import CostPoint
from medjury.analysis.ranking._detectable import DetectableEffect
from medjury.analysis.ranking._drawn import Measure
from medjury.analysis.ranking._win_rate import Ties
from medjury.foundation.errors import MedjuryError
from medjury.statistics import FEWEST_CLUSTERS, Estimate, Printable, Result, ends, p_value, text_table


class Shown(Protocol):
    """A row that says what of it fits on a screen."""

    def as_dict(self) -> Mapping[str, Any]: ...

    def shown(self) -> Mapping[str, Printable]: ...


ShownRow = TypeVar("ShownRow", bound=Shown)
# What to give where a part was not made.
NEEDS = {
    "agreement": "--reference",
    "reference_ranks": "--reference, with labels of every system",
    "cost": "--cost",
    "detectable": f"a column `item`, or ratings, and {FEWEST_CLUSTERS} cases or more",
}


@dataclass(frozen=True, slots=True)
class Standing:
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
        return {
            "system": self.system,
            "rank": self.rank,
            "rank_low": self.rank_low,
            "rank_high": self.rank_high,
            **ends(self.win_rate, "win_rate"),
            "win_sd": self.win_sd,
            "win_sd_rivals": self.win_sd_rivals,
            **ends(self.macro_average, "macro_average"),
            "macro_sd": self.macro_sd,
            "tie_group": self.tie_group,
            "n": self.n,
            "n_unscored": self.n_unscored,
            "method": self.win_rate.method,
        }

    def shown(self) -> dict[str, Printable]:
        return {
            "system": self.system,
            "rank": self.rank,
            "rank_low": self.rank_low,
            "rank_high": self.rank_high,
            "macro_average": self.macro_average,
            "macro_sd": self.macro_sd,
            "win_rate": self.win_rate,
            "win_sd": self.win_sd,
            "tie_group": self.tie_group,
            "n": self.n,
            "n_unscored": self.n_unscored,
        }


@dataclass(frozen=True, slots=True)
class PairDifference:
    """The better of two systems less the other, with `p_adjusted` over all pairs; `separated` is the verdict."""

    better: str
    other: str
    difference: Estimate
    p_adjusted: float
    separated: bool

    def as_dict(self) -> dict[str, Any]:
        return {
            "better": self.better,
            "other": self.other,
            "difference": self.difference.value,
            "low": self.difference.low,
            "high": self.difference.high,
            "p_adjusted": self.p_adjusted,
            "separated": self.separated,
            "n": self.difference.n,
            "method": self.difference.method,
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


class _Titled(Result[ShownRow]):
    """Rows under a title."""

    __slots__ = ()

    title: str

    def text(self) -> str:
        return "\n".join(
            [*(f"! {warning}" for warning in self.warnings), self.title, *text_table(self.shown_rows())]
        )

    def shown_rows(self) -> Sequence[Mapping[str, Printable]]:
        return [row.shown() for row in self.rows]


@dataclass(frozen=True, slots=True)
class Part(_Titled[ShownRow]):
    """One table of a ranking."""

    title: str
    rows: tuple[ShownRow, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ranking(_Titled[Standing]):
    """The systems from best to worst by `by`: its `rows`. `raters` are those whose scores rank them, `scale` says
    what a mean score is in, and `unit` what was resampled. The other tables: `pairs`, every two systems;
    `reference_ranks`, as the reference would rank them; `agreement` with the order that the reference gives; the
    smallest `detectable` differences; `cost`. None where there is nothing to make one of. It is not `paired` where
    every case has the answer of one system."""

    title: str
    rows: tuple[Standing, ...]
    pairs: Part[PairDifference]
    agreement: Part[RankingAgreement] | None
    detectable: Part[DetectableEffect] | None
    cost: Part[CostPoint] | None
    reference_ranks: Part[Any] | None
    by: Measure
    ties: Ties
    scale: str
    unit: str
    benchmarks: tuple[str, ...]
    raters: tuple[str, ...]
    warnings: tuple[str, ...]
    paired: bool = True

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
