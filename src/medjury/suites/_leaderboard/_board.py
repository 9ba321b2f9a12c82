"""The leaderboard: cells, and standings overall, by category and by benchmark, all from the same results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from medjury.statistics import side_by_side
from medjury.suites._leaderboard._cells import Cell, cells_of
from medjury.suites._leaderboard._results import Results
from medjury.suites._leaderboard._spent import costs_of
from medjury.suites._leaderboard._standings import Ranked, Standings

OVERALL = "all benchmarks"


@dataclass(frozen=True, slots=True)
class Board:
    """`overall`, `categories` and `benchmarks` hold the standings."""

    results: Results
    cells: Mapping[tuple[str, str], Cell]
    overall: Standings
    categories: Mapping[str, Standings]
    benchmarks: Mapping[str, Standings]
    leave_out_decided: bool
    confidence: float

    @property
    def decided(self) -> int:
        return sum(each.decided for each in self.results.items)

    @property
    def incomplete(self) -> list[Cell]:
        return [each for each in self.cells.values() if not each.complete]

    @property
    def samples(self) -> list[str]:
        return [each.name for each in self.results.benchmarks if each.sample]

    def baseline_macro(self) -> tuple[float, int] | None:
        """The mean score of the best trivial answers, and over how many benchmarks there is one."""
        first = self.results.candidates[0].name if self.results.candidates else ""
        scores = [
            cell.baseline_score
            for each in self.results.benchmarks
            if (cell := self.cells.get((first, each.name))) is not None and cell.baseline_score is not None
        ]
        return (sum(scores) / len(scores), len(scores)) if scores else None


def board_of(
    results: Results,
    *,
    leave_out_decided: bool = False,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Board:
    """The leaderboard of some results. `leave_out_decided` leaves out every item on which a trivial answer is
    right: such an item cannot tell a good candidate from one that never read it."""
    how: dict[str, Any] = {"confidence": confidence, "resamples": resamples, "seed": seed}
    cells = cells_of(results, leave_out_decided=leave_out_decided, **how)
    ranked = Ranked(results, cells, leave_out_decided, how)
    names = [each.name for each in results.benchmarks]
    counting = ranked_on(results, cells)
    by_category: dict[str, list[str]] = {}
    for each in results.benchmarks:
        by_category.setdefault(each.category, [])
        by_category[each.category] += [each.name] if each.name in counting else []
    made = side_by_side(
        [
            lambda: ranked.over(OVERALL, counting, costs=costs_of(results)),
            *(_over(ranked, name, those) for name, those in by_category.items()),
            *(_alone(ranked, name) for name in names),
        ]
    )
    between = 1 + len(by_category)
    return Board(
        results,
        cells,
        made[0],
        dict(zip(by_category, made[1:between], strict=True)),
        dict(zip(names, made[between:], strict=True)),
        leave_out_decided,
        confidence,
    )


def ranked_on(results: Results, cells: Mapping[tuple[str, str], Cell]) -> list[str]:
    """The benchmarks that rank anybody: those on which no candidate has enough scores rank none."""
    return [
        each.name
        for each in results.benchmarks
        if any(cells[candidate.name, each.name].compared is not None for candidate in results.candidates)
    ]


def _over(ranked: Ranked, name: str, benchmarks: list[str]) -> Any:
    return lambda: ranked.over(name, benchmarks)


def _alone(ranked: Ranked, benchmark: str) -> Any:
    return lambda: ranked.over(benchmark, [benchmark], ("macro",))
