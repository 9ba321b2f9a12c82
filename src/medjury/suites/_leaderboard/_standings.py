"""The order of the candidates over a set of benchmarks: win rates by both rules, macro average, ranks left open.

Two questions have two kinds of interval. The macro average resamples items: would other items of these benchmarks
give the same scores? A win rate resamples benchmarks: would other benchmarks of this kind give as many wins? Items
cannot be resampled for it: a win is a step, and resampled noise breaks ties and turns close wins around, always
towards one half, so that the interval would miss the very win rate it belongs to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from medjury.analysis.ranking import Ranking, Standing, rank
from medjury.statistics import FEWEST_CLUSTERS, Estimate, counted, ends, side_by_side, undefined
from medjury.suites._leaderboard._cells import Cell, cells_of, counted_score, shared_items
from medjury.suites._leaderboard._costs import costs_of
from medjury.suites._leaderboard._results import AnswerResult, Results

if TYPE_CHECKING:
    import polars


Measure = Literal["win_half", "win_or_tie", "macro"]
# What may order the candidates: by `rank`'s own words, what is measured and what a tie counts.
MEASURES: Mapping[Measure, tuple[Any, Any]] = {
    "win_half": ("win_rate", "half"),
    "win_or_tie": ("win_rate", "win"),
    "macro": ("macro_average", "half"),
}

_OF_FEW = ("only ", "nothing was resampled")
NOTHING_SCORED = "no rank: too few answers have a score"


@dataclass(frozen=True, slots=True)
class CandidateStanding:
    """One candidate. `win_half` counts a tie half, `win_or_tie` (score ≥ rival's) as a win for both. `places`
    has by each measure the rank, the ranks that the data leave open, and the letters of those who are not told
    apart."""

    candidate: str
    win_half: Estimate | None
    win_or_tie: Estimate | None
    win_sd: float | None
    macro: Estimate
    macro_sd: float | None
    places: Mapping[Measure, Standing] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        nothing = undefined("there is nobody to be compared with", 0, "")
        return {
            "candidate": self.candidate,
            **ends(self.win_half or nothing, "win_half"),
            **ends(self.win_or_tie or nothing, "win_or_tie"),
            "win_sd": self.win_sd,
            **ends(self.macro, "macro"),
            "macro_sd": self.macro_sd,
            "places": {
                name: {
                    "rank": each.rank,
                    "low": each.rank_low,
                    "high": each.rank_high,
                    "tie_group": each.tie_group,
                }
                for name, each in self.places.items()
            },
            "method": self.macro.method,
        }


@dataclass(frozen=True, slots=True)
class Standings:
    """Candidates from best to worst by the win rate that counts ties half, over these benchmarks. `unranked` says
    of each of the others why it has no rank: a mean over other items or benchmarks would compare different
    things."""

    name: str
    benchmarks: tuple[str, ...]
    rows: tuple[CandidateStanding, ...]
    unranked: Mapping[str, str]
    warnings: tuple[str, ...] = ()
    detectable: Any = None  # of a single benchmark
    cost: Any = None

    def find(self, candidate: str) -> CandidateStanding | None:
        return next((each for each in self.rows if each.candidate == candidate), None)

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "benchmarks": list(self.benchmarks),
            "rows": [each.as_dict() for each in self.rows],
            "unranked": dict(self.unranked),
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True, slots=True)
class Ranked:
    """What standings are made from: the results, their cells, and how intervals are made."""

    results: Results
    cells: Mapping[tuple[str, str], Cell]
    leave_out_decided: bool
    how: Mapping[str, Any]
    given: Mapping[tuple[str, str], Mapping[str, AnswerResult]]

    def over(
        self,
        name: str,
        benchmarks: Sequence[str],
        measures: Sequence[Measure] = tuple(MEASURES),
        costs: Mapping[str, float] | None = None,
    ) -> Standings:
        """The standings over these benchmarks."""
        unranked = self._unranked(benchmarks)
        if not benchmarks:
            return Standings(name, (), (), {each.name: NOTHING_SCORED for each in self.results.candidates})
        those = [each.name for each in self.results.candidates if each.name not in unranked]
        if len(those) < 2:
            alone = tuple(self._alone(candidate, benchmarks) for candidate in those)
            return Standings(name, tuple(benchmarks), alone, unranked)
        items, means = self._table(those, benchmarks), self._means(those, benchmarks)
        costs = None if costs is None else {name: costs[name] for name in those}
        made = {
            each: rank(
                items if each == "macro" else means, by=by, ties=ties, costs=costs, scale=(0, 1), **self.how
            )
            for each, (by, ties) in MEASURES.items()
            if each in measures
        }
        first = next(iter(made.values()))
        few = _few(items, benchmarks)
        rows = tuple(
            _standing(row.system, made, self._compared(row.system, benchmarks), few) for row in first.rows
        )
        # What few units mean is said by `few`, and in fewer words.
        warnings = [warning for warning in made["macro"].warnings if not warning.startswith(_OF_FEW)]
        return Standings(
            name,
            tuple(benchmarks),
            rows,
            unranked,
            (*warnings, *few.values()),
            made["macro"].detectable,
            first.cost,
        )

    def _unranked(self, benchmarks: Sequence[str]) -> dict[str, str]:
        found = {}
        for candidate in self.results.candidates:
            lacking = [each for each in benchmarks if self.cells[candidate.name, each].compared is None]
            if lacking:
                more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
                found[candidate.name] = f"no rank: {lacking[0]}{more} INCOMPLETE"
        return found

    def _means(self, candidates: Sequence[str], benchmarks: Sequence[str]) -> polars.DataFrame:
        import polars as pl

        rows = [
            (candidate, benchmark, self.cells[candidate, benchmark].compared)
            for candidate in candidates
            for benchmark in benchmarks
        ]
        schema = {"system": pl.String, "benchmark": pl.String, "score": pl.Float64}
        return pl.DataFrame(rows, schema=schema, orient="row")

    def _compared(self, candidate: str, benchmarks: Sequence[str]) -> list[float]:
        scores = [self.cells[candidate, each].compared for each in benchmarks]
        return [each for each in scores if each is not None]

    def _alone(self, candidate: str, benchmarks: Sequence[str]) -> CandidateStanding:
        scores = self._compared(candidate, benchmarks)
        if len(benchmarks) == 1:
            macro = self.cells[candidate, benchmarks[0]].score
        else:
            macro = Estimate(
                float(np.mean(scores)), None, None, len(scores), "no interval: a single candidate"
            )
        return CandidateStanding(candidate, None, None, None, macro, _sd(scores))

    def _table(self, candidates: Sequence[str], benchmarks: Sequence[str]) -> polars.DataFrame:
        """One row for every candidate and item that all comparable candidates of the benchmark have."""
        import polars as pl

        rows = []
        for benchmark in benchmarks:
            items = self.results.items_of(benchmark, leave_out_decided=self.leave_out_decided)
            cells = [self.cells[each.name, benchmark] for each in self.results.candidates]
            patients = {each.item: each.patient or None for each in items}
            for item in shared_items(cells, items, self.given):
                for candidate in candidates:
                    answer = self.given[candidate, benchmark][item]
                    rows.append(
                        (candidate, benchmark, item, patients[item], counted_score(answer), answer.weight)
                    )
        schema = {
            "system": pl.String, "benchmark": pl.String, "item": pl.String, "patient": pl.String,
            "score": pl.Float64, "weight": pl.Float64,
        }  # fmt: skip
        return pl.DataFrame(rows, schema=schema, orient="row")


def _few(items: polars.DataFrame, benchmarks: Sequence[str]) -> dict[str, str]:
    """Where too few units are resampled for an interval to hold: of win rates, and of the macro average."""
    import polars as pl

    found = {}
    if len(benchmarks) < FEWEST_CLUSTERS:
        found["wins"] = f"fewer than {FEWEST_CLUSTERS} benchmarks: no interval of a win rate"
    units = items.with_columns(pl.coalesce("patient", "item").alias("unit")).group_by("benchmark")
    fewest = units.agg(pl.col("unit").n_unique()).filter(pl.col("unit") < FEWEST_CLUSTERS)
    if fewest.height:
        found["items"] = (
            f"{counted(fewest.height, 'benchmark')} with fewer than {FEWEST_CLUSTERS} items: no interval of the "
            "macro average, and it separates no candidates"
        )
    return found


def _standing(
    candidate: str, made: Mapping[Measure, Ranking], scores: Sequence[float], few: Mapping[str, str]
) -> CandidateStanding:
    rows: dict[Measure, Standing] = {name: found.find(system=candidate) for name, found in made.items()}
    half, either = rows.get("win_half"), rows.get("win_or_tie")
    places = dict(rows)
    if "items" in few:
        last = len(made["macro"].rows)
        places["macro"] = replace(rows["macro"], rank_low=1, rank_high=last, tie_group="a")
    return CandidateStanding(
        candidate,
        None if half is None else _without(half.win_rate, few.get("wins")),
        None if either is None else _without(either.win_rate, few.get("wins")),
        None if half is None else half.win_sd,
        _without(rows["macro"].macro_average, few.get("items")),
        _sd(scores),
        places,
    )


def _without(estimate: Estimate, why: str | None) -> Estimate:
    """The estimate alone, where its interval would not hold: too few units, or all of them alike, which leaves an
    interval without width that promises too much."""
    if why is None and estimate.low is not None and estimate.low == estimate.high:
        why = "the same in all resamples"
    return estimate if why is None else estimate.without_interval(why)


def _sd(values: Sequence[float]) -> float | None:
    return float(np.std(values, ddof=1)) if len(values) > 1 else None


# The leaderboard: cells, and standings overall, by category and by benchmark, all from the same results.


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
    ranked = Ranked(results, cells, leave_out_decided, how, results.by_item())
    names = [each.name for each in results.benchmarks]
    counting = ranked_on(results, cells)
    by_category: dict[str, list[str]] = {}
    for each in results.benchmarks:
        by_category.setdefault(each.category, [])
        by_category[each.category] += [each.name] if each.name in counting else []
    made = side_by_side(
        [
            partial(ranked.over, OVERALL, counting, costs=costs_of(results)),
            *(partial(ranked.over, name, those) for name, those in by_category.items()),
            *(partial(ranked.over, name, [name], ("macro",)) for name in names),
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
