"""Ranking systems: win rate, macro average, ranks with intervals, and who cannot be told apart."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from medjury.errors import MedjuryError
from medjury.ranking._drawn import MACRO, WIN, draw_measures
from medjury.ranking._scores import Scores
from medjury.ranking._ties import Kind, rank_limits, separate, tie_groups
from medjury.ranking._win_rate import SAME, Ties, rival_win_rates, win_shares
from medjury.statistics import Estimate

if TYPE_CHECKING:
    import polars

Measure = Literal["win_rate", "macro_average"]
# Below this many resampled units tie groups rest on little, and the reader is told so.
FEW_UNITS = 10
# Benchmarks whose largest scores differ by more than this factor are hardly on one scale.
SCALES_APART = 10.0


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

    def row(self) -> dict[str, Any]:
        """The standing as flat names and values."""
        return {
            "system": self.system,
            "rank": self.rank,
            "rank_low": self.rank_low,
            "rank_high": self.rank_high,
            "win_rate": self.win_rate.value,
            "win_rate_low": self.win_rate.low,
            "win_rate_high": self.win_rate.high,
            "win_sd": self.win_sd,
            "win_sd_rivals": self.win_sd_rivals,
            "macro_average": self.macro_average.value,
            "macro_average_low": self.macro_average.low,
            "macro_average_high": self.macro_average.high,
            "macro_sd": self.macro_sd,
            "tie_group": self.tie_group,
            "n": self.n,
            "n_unscored": self.n_unscored,
            "method": self.win_rate.method,
        }


@dataclass(frozen=True, slots=True)
class PairDifference:
    """The better of two systems less the other, with `p_adjusted` over all pairs; `separated` is the verdict."""

    better: str
    other: str
    difference: Estimate
    p_adjusted: float
    separated: bool

    def row(self) -> dict[str, Any]:
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


@dataclass(frozen=True, slots=True)
class Ranking:
    """The systems from best to worst by `by`, every two of them compared, and what was resampled."""

    standings: tuple[Standing, ...]
    pairs: tuple[PairDifference, ...]
    by: Measure
    ties: Ties
    unit: str
    benchmarks: tuple[str, ...]
    warnings: tuple[str, ...]

    def standing(self, system: str) -> Standing:
        return next(each for each in self.standings if each.system == system)

    def rows(self) -> list[dict[str, Any]]:
        """One flat row per system, best first."""
        return [each.row() for each in self.standings]

    def frame(self) -> polars.DataFrame:
        import polars as pl

        return pl.DataFrame(self.rows(), infer_schema_length=None)

    def to_json(self) -> str:
        """The rows as a JSON list."""
        return json.dumps(self.rows(), ensure_ascii=False, allow_nan=False)


def rank(
    scores: Scores,
    *,
    by: Measure = "macro_average",
    ties: Ties = "half",
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Ranking:
    """Rank the systems of `scores` (see `read_scores`).

    `by` is what orders and separates them: the macro average (the mean over benchmarks, each weighing the same)
    or the win rate, which needs no common scale but sees only who is ahead, not by how much. Intervals resample
    whole cases, or benchmarks where there is nothing else: `unit` says which. Resampling benchmarks answers
    "would another set of benchmarks rank them so?", resampling cases "would other cases of these benchmarks?".
    """
    if by not in (WIN, MACRO):
        raise MedjuryError(f"Systems are ranked by {MACRO} or {WIN}, not by {by!r}.")
    if not 0.0 < confidence < 1.0:
        raise MedjuryError(f"The confidence is a share between 0 and 1, such as 0.95, not {confidence}.")
    drawn = draw_measures(scores, ties=ties, resamples=resamples, seed=seed)
    values = drawn.observed(by)
    kind: Kind = "scores" if by == MACRO else "steps" if scores.blocks else "wins"
    apart = separate(values, drawn.resampled(by), freedom=drawn.freedom, kind=kind, confidence=confidence)
    order = sorted(range(len(values)), key=lambda place: (-values[place], scores.systems[place]))
    letters = tie_groups(order, apart.separated)
    low, high = rank_limits(values, apart.separated)
    wins, rivals = win_shares(scores.means, ties), rival_win_rates(scores.means, ties)

    unit = "benchmarks" if not scores.blocks else "cases"

    def named(made: Estimate) -> Estimate:
        return replace(made, method=made.method.replace(" clusters", f" {unit}"))

    def estimate(name: str, place: int) -> Estimate:
        return named(drawn.replicates.estimate(f"{name} {scores.systems[place]}", confidence=confidence))

    standings = tuple(
        Standing(
            system=scores.systems[place],
            rank=1 + int(np.count_nonzero(values > values[place] + SAME)),
            rank_low=low[place],
            rank_high=high[place],
            win_rate=estimate(WIN, place),
            win_sd=_sd(wins[place]),
            win_sd_rivals=_sd(np.delete(rivals[place], place)),
            macro_average=estimate(MACRO, place),
            macro_sd=_sd(scores.means[place]),
            tie_group=letters[place],
            n=scores.counts[place],
            n_unscored=scores.unscored[place],
        )
        for place in order
    )
    pairs = tuple(
        PairDifference(
            scores.systems[one],
            scores.systems[other],
            named(
                drawn.replicates.difference(
                    f"{by} {scores.systems[one]}", f"{by} {scores.systems[other]}", confidence=confidence
                )
            ),
            float(apart.p_adjusted[one, other]),
            bool(apart.separated[one, other]),
        )
        for number, one in enumerate(order)
        for other in order[number + 1 :]
    )
    warnings = [*scores.warnings, *_cautions(scores, drawn.freedom, resamples, by)]
    return Ranking(standings, pairs, by, ties, scores.unit, scores.benchmarks, tuple(warnings))


def _sd(values: Sequence[float] | np.ndarray[Any, Any]) -> float | None:
    # Rounded where equal numbers leave a trace of rounding.
    return round(float(np.std(values, ddof=1)), 14) if len(values) > 1 else None


def _cautions(scores: Scores, freedom: int, resamples: int, by: Measure) -> list[str]:
    found = []
    if not resamples or not freedom:
        found.append("nothing was resampled, so nothing is separated: every system shares the letter a")
    elif freedom + 1 < FEW_UNITS:
        found.append(f"only {freedom + 1} {scores.unit} to resample: intervals are rough and ties are likely")
    if by == WIN and scores.blocks and len(scores.benchmarks) < 5:
        found.append(
            f"a win rate over {len(scores.benchmarks)} benchmarks moves in large steps: rank by macro_average "
            "to compare scores"
        )
    pairs = len(scores.systems) * (len(scores.systems) - 1) / 2
    if by == WIN and scores.blocks and 0 < resamples < 40 * pairs:
        found.append(
            f"{resamples} resamples are too few to separate {pairs:g} pairs by win rate: ask for more"
        )
    if single := [name for block in scores.blocks if len(block.clusters) == 1 for name in block.benchmarks]:
        found.append(f"{single[0]!r} has one case, which cannot be resampled: intervals leave its noise out")
    largest = np.abs(scores.means).max(axis=0)
    if by == MACRO and largest.max() > SCALES_APART * max(float(largest.min()), 1e-12):
        low, high = scores.benchmarks[int(largest.argmin())], scores.benchmarks[int(largest.argmax())]
        found.append(
            f"{high!r} reaches {largest.max():g} and {low!r} only {largest.min():g}: if their scales differ, "
            "an average of them means little; rank by win_rate, or bring them to one scale"
        )
    return found
