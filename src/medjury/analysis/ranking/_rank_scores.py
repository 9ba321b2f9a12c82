"""Ranking systems by their scores: win rate, macro average, ranks with intervals, and who cannot be told apart."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from scipy import special

from medjury.analysis.ranking._measures import (
    MACRO,
    SAME,
    WIN,
    Measure,
    Ties,
    draw_measures,
    rival_win_rates,
    value_name,
    win_shares,
)
from medjury.analysis.ranking._ranking import (
    CostPoint,
    DetectableEffect,
    PairDifference,
    Part,
    Ranking,
    RankingAgreement,
    Standing,
)
from medjury.analysis.ranking._scores import Block, SystemScores, cases_of_systems
from medjury.analysis.ranking._ties import Kind, in_order, separate
from medjury.foundation.errors import MedjuryError
from medjury.statistics import FEWEST_CLUSTERS, Estimate, Floats, Replicates
from medjury.tables import read_plain_table

# Cost against performance: which systems give the most for their price?


def cost_performance(
    standings: Sequence[Standing], pairs: Sequence[PairDifference], by: Measure, costs: Mapping[str, float]
) -> tuple[CostPoint, ...]:
    """Every system of a ranking with its cost, cheapest first; performance is what the ranking is by."""
    points: dict[str, tuple[float, float]] = {}
    for standing in standings:
        cost = costs.get(standing.system)
        if cost is None:
            raise MedjuryError(
                f"there is no cost of the system {standing.system!r}; a cost unknown is not 0."
            )
        if not math.isfinite(cost) or cost < 0:
            raise MedjuryError(f"the cost of {standing.system!r} is {cost}; it must be a number, 0 or more.")
        measured = standing.win_rate if by == WIN else standing.macro_average
        points[standing.system] = float(cost), float(measured.value or 0.0)
    unknown = [system for system in costs if system not in points]
    if unknown:
        raise MedjuryError(f"there is a cost of {unknown[0]!r}, which is not among the ranked systems.")
    best = standings[0].system
    apart = {frozenset((pair.better, pair.other)) for pair in pairs if pair.separated}
    level = [system for system in points if frozenset((best, system)) not in apart]
    cheapest = min(level, key=lambda system: (points[system][0], -points[system][1]))
    order = sorted(points, key=lambda system: (points[system][0], -points[system][1], system))
    made = []
    for system in order:
        better = [other for other in order if other != system and _dominates(points[other], points[system])]
        made.append(
            CostPoint(
                system=system,
                cost=points[system][0],
                performance=points[system][1],
                on_front=not better,
                dominated_by=better[0] if better else "",
                level_with_best=system in level,
                cheapest_of_best=system == cheapest,
            )
        )
    return tuple(made)


def _dominates(one: tuple[float, float], other: tuple[float, float]) -> bool:
    no_worse = one[0] <= other[0] and one[1] >= other[1] - SAME
    return no_worse and (one[0] < other[0] or one[1] > other[1] + SAME)


def read_costs(path: str | os.PathLike[str]) -> dict[str, float]:
    """The cost of each system from a table with the columns system and cost."""
    frame = read_plain_table(path)
    if frame is None or not {"system", "cost"} <= set(frame.columns):
        raise MedjuryError(f"{path}: a table with the columns system and cost is needed")
    costs: dict[str, float] = {}
    for row, (system, cost) in enumerate(frame.select("system", "cost").iter_rows(), start=2):
        try:
            costs[str(system).strip()] = float(cost)
        except (TypeError, ValueError):
            raise MedjuryError(f"{path}, row {row}: the cost {cost!r} is not a number") from None
    return costs


# The smallest difference a benchmark can show: is it large enough for what is claimed of it?


def detectable_effects(
    scores: SystemScores, *, alpha: float = 0.05, power: float = 0.8
) -> tuple[DetectableEffect, ...]:
    """The MDE of every benchmark, from the paired differences of every two systems on the same cases.

    MDE = (z₁₋α/₂ + z_power) · σ_d / √n, with σ_d the standard deviation of the difference over cases; averaged
    over pairs, with the standard deviation over pairs beside it. (MedHELM, appendix E; its sum over pairs is
    divided by the number of pairs here.) Systems that answered different cases have √(s₁²/n₁ + s₂²/n₂) in the
    place of σ_d / √n. It looks at one pair at a time: comparing all pairs needs more.
    """
    if not scores.blocks:
        raise MedjuryError("a detectable effect needs the scores of single items: add a column `item`.")
    if not 0.0 < alpha < 1.0 or not 0.0 < power < 1.0:
        raise MedjuryError(f"alpha and power are shares between 0 and 1, not {alpha} and {power}.")
    factor = float(special.ndtri(1.0 - alpha / 2.0) + special.ndtri(power))
    found = []
    for block in scores.blocks:
        for place, benchmark in enumerate(block.benchmarks):
            found.append(_one(scores, _case_scores(scores, block, place), benchmark, factor, alpha, power))
    return tuple(found)


def _case_scores(scores: SystemScores, block: Block, place: int) -> Floats:
    """Cases by systems: the mean over raters of each rater's mean; NaN where one of them has none."""
    shape = (len(block.clusters), len(scores.raters), len(scores.systems), len(block.benchmarks))
    sums, counts = block.sums.reshape(shape)[..., place], block.counts.reshape(shape)[..., place]
    takes_part = counts.any(axis=(0, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((sums / counts)[:, takes_part].mean(axis=1))


def _one(
    scores: SystemScores, table: Floats, benchmark: str, factor: float, alpha: float, power: float
) -> DetectableEffect:
    effects: list[tuple[float, float, int, tuple[str, str]]] = []
    for one in range(len(scores.systems)):
        for other in range(one + 1, len(scores.systems)):
            pair = scores.systems[one], scores.systems[other]
            made = _of_pair if scores.paired else _of_two_samples
            error, seen, cases = made(table[:, one], table[:, other])
            if cases < 2:
                held = f"share {cases} scored cases" if scores.paired else "have fewer than two scored cases"
                raise MedjuryError(
                    f"{pair[0]!r} and {pair[1]!r} {held} on {benchmark!r}; a detectable effect needs two or more."
                )
            effects.append((factor * error, abs(seen), cases, pair))
    sizes = np.array([effect for effect, *_ in effects])
    largest = effects[int(sizes.argmax())]
    return DetectableEffect(
        benchmark=benchmark,
        mde=float(sizes.mean()),
        mde_sd=float(sizes.std(ddof=1)) if len(sizes) > 1 else None,
        largest=largest[0],
        largest_pair=largest[3],
        beyond=sum(seen > effect for effect, seen, *_ in effects),
        pairs=len(effects),
        n=min(count for _, _, count, _ in effects),
        method=f"(z + z)·{'SD of the paired difference/√n' if scores.paired else '√(SD₁²/n₁ + SD₂²/n₂)'}, "
        f"alpha {alpha:g}, power {power:g}",
    )


def _of_pair(first: Floats, second: Floats) -> tuple[float, float, int]:
    """Standard error of the mean difference on the cases that both have, the difference, and their number."""
    difference = first - second
    difference = difference[np.isfinite(difference)]
    if len(difference) < 2:
        return 0.0, 0.0, len(difference)
    error = float(difference.std(ddof=1)) / float(np.sqrt(len(difference)))
    return error, float(difference.mean()), len(difference)


def _of_two_samples(first: Floats, second: Floats) -> tuple[float, float, int]:
    """The same of systems that answered different cases: √(s₁²/n₁ + s₂²/n₂), and the smaller number of cases."""
    sides = [side[np.isfinite(side)] for side in (first, second)]
    least = min(len(side) for side in sides)
    if least < 2:
        return 0.0, 0.0, least
    error = float(np.sqrt(sum(side.var(ddof=1) / len(side) for side in sides)))
    return error, float(sides[0].mean() - sides[1].mean()), least


# Benchmarks whose largest scores differ by more than this factor are hardly on one scale.
SCALES_APART = 10.0
RESAMPLES = 2000


def rank_scores(
    scores: SystemScores,
    *,
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
    by: Measure = MACRO,
    ties: Ties = "half",
    costs: Mapping[str, float] | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
    agreement: Part[RankingAgreement] | None = None,
    reference_ranks: Part[Any] | None = None,
    seen_by: str = "",
) -> Ranking:
    """Rank systems by scores that are read already; see `rank`."""
    if by not in (WIN, MACRO):
        raise MedjuryError(f"Systems are ranked by {MACRO} or {WIN}, not by {by!r}.")
    if not 0.0 < confidence < 1.0:
        raise MedjuryError(f"The confidence is a share between 0 and 1, such as 0.95, not {confidence}.")
    times = RESAMPLES if resamples is None else resamples
    drawn, units = draw_measures(scores, ties=ties, resamples=times, seed=seed or 0)
    names = [value_name(by, system) for system in scores.systems]
    values = np.array([drawn.observed[name] for name in names])
    table = np.column_stack([drawn.resampled[name] for name in names])
    resampled = table[np.isfinite(table).all(axis=1)]  # where every system has a value
    kind: Kind = "scores" if by == MACRO else "steps" if scores.blocks else "wins"
    freedom = units if scores.paired else cases_of_systems(scores) - 1.0
    p, apart = separate(values, resampled, freedom=freedom, kind=kind, confidence=confidence)
    ranks = in_order(values, scores.systems, apart, same=SAME)
    standings = _standings(scores, drawn, ranks, ties, confidence)

    def difference(one: int, other: int) -> Estimate:
        return _as_shown(drawn.difference(names[one], names[other], confidence=confidence), by, scores)

    pairs = tuple(
        PairDifference(
            scores.systems[one],
            scores.systems[other],
            difference(one, other),
            float(p[one, other]),
            bool(apart[one, other]),
        )
        for one, other in combinations([place for place, *_ in ranks], 2)
    )
    detectable, reason = _detectable(scores, alpha, power)
    warnings = [*scores.warnings, *_cautions(scores, units, times, by), *reason]
    in_words = f" ({scores.scale})" if scores.scale else ""
    whose = f" of {', '.join(scores.raters)}" if any(scores.raters) else ""
    return Ranking(
        title=f"ranked by {by}{whose}{in_words}{seen_by}; resampled: {scores.unit}"
        + ("" if scores.paired else "; unpaired, every case has one system's answer"),
        rows=standings,
        pairs=Part(f"differences in {by}", pairs),
        agreement=agreement,
        reference_ranks=reference_ranks,
        detectable=detectable,
        cost=None if costs is None else Part("cost", cost_performance(standings, pairs, by, costs)),
        by=by,
        ties=ties,
        scale=scores.scale,
        unit=scores.unit,
        benchmarks=scores.benchmarks,
        raters=scores.raters,
        warnings=tuple(warnings),
        paired=scores.paired,
    )


def _standings(
    scores: SystemScores,
    drawn: Replicates,
    ranks: Sequence[tuple[int, int, int, int, str]],
    ties: Ties,
    confidence: float,
) -> tuple[Standing, ...]:
    wins, rivals = win_shares(scores.means, ties), rival_win_rates(scores.means, ties)

    def estimate(name: Measure, place: int) -> Estimate:
        made = drawn.estimate(value_name(name, scores.systems[place]), confidence=confidence)
        return _as_shown(made, name, scores)

    return tuple(
        Standing(
            system=scores.systems[place],
            rank=rank,
            rank_low=low,
            rank_high=high,
            win_rate=estimate(WIN, place),
            win_sd=_sd(wins[place]),
            win_sd_rivals=_sd(np.delete(rivals[place], place)),
            macro_average=estimate(MACRO, place),
            macro_sd=_sd(scores.means[place]),
            tie_group=letters,
            n=scores.counts[place],
            n_unscored=scores.unscored[place],
        )
        for place, rank, low, high, letters in ranks
    )


def _as_shown(made: Estimate, by: Measure, scores: SystemScores) -> Estimate:
    """The estimate with its method naming what was resampled.

    A win over resampled cases is a step: close systems win and lose by chance, always towards one half. The
    quantiles of resampled win rates held the true one in 99 to 100 % of simulated studies of three systems, and in
    64 to 76 % for the first and the last of nine that lie close. The limits of the rank are valid instead."""
    if by == WIN and scores.blocks and made.low is not None:
        why = "a win turns on the smallest difference, and resampling does not show it; see the open ranks"
        made = made.without_interval(why)
    unit = scores.resampled if scores.blocks else "benchmarks"
    return replace(made, method=made.method.replace(" clusters", f" {unit}"))


def _detectable(
    scores: SystemScores, alpha: float, power: float
) -> tuple[Part[DetectableEffect] | None, list[str]]:
    """The smallest detectable differences; where there are cases but too few to tell, the reason instead."""
    of = f", {scores.scale}" if scores.scale else ""
    title = f"smallest detectable difference (mde) of two systems{of} (alpha {alpha:g}, power {power:g})"
    if not scores.blocks:
        return None, []
    if any(len(block.clusters) < 2 for block in scores.blocks):
        return None, ["a benchmark with one case has no smallest detectable difference"]
    found = detectable_effects(scores, alpha=alpha, power=power)
    reasons = {each.benchmark: _not_told(each) for each in found}
    shown = tuple(each for each in found if not reasons[each.benchmark])
    return Part(title, shown) if shown else None, [
        f"the smallest detectable difference is not stated for {', '.join(names)}: {reason}"
        for reason in dict.fromkeys(filter(None, reasons.values()))
        if (names := [name for name, why in reasons.items() if why == reason])
    ]


def _not_told(effect: DetectableEffect) -> str:
    """Why nobody can say from these cases what they could detect; nothing where they can."""
    if effect.n < FEWEST_CLUSTERS:
        return f"{effect.n} cases are too few to tell, {FEWEST_CLUSTERS} are needed"
    return "" if effect.largest else "two systems differ by the same amount on every case"


def _sd(values: Sequence[float] | np.ndarray[Any, Any]) -> float | None:
    # Rounded where equal numbers leave a trace of rounding.
    return round(float(np.std(values, ddof=1)), 14) if len(values) > 1 else None


def _cautions(scores: SystemScores, freedom: int, resamples: int, by: Measure) -> list[str]:
    found = []
    if not resamples or not freedom:
        found.append("nothing was resampled, so nothing is separated: every system shares the letter a")
    elif freedom + 1 < FEWEST_CLUSTERS:
        found.append(
            f"only {freedom + 1} {scores.unit} to resample: too few for intervals, and ties are likely"
        )
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
    if by == MACRO and not scores.scale and largest.max() > SCALES_APART * max(float(largest.min()), 1e-12):
        low, high = scores.benchmarks[int(largest.argmin())], scores.benchmarks[int(largest.argmax())]
        found.append(
            f"{high!r} reaches {largest.max():g} and {low!r} only {largest.min():g}: if their scales differ, "
            "an average of them means little; rank by win_rate, or bring them to one scale"
        )
    return found
