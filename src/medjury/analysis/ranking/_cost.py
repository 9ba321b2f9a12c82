"""Cost against performance: which systems give the most for their price?"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence

from medjury.analysis.ranking._cost_point import CostPoint
from medjury.analysis.ranking._drawn import WIN, Measure
from medjury.analysis.ranking._ranking import PairDifference, Standing
from medjury.analysis.ranking._win_rate import SAME
from medjury.foundation.errors import MedjuryError
from medjury.tables import read_plain_table


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
