"""One system of a ranking with its cost, and whether it is worth it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from medjury.statistics import Printable


@dataclass(frozen=True, slots=True)
class CostPoint:
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

    def as_dict(self) -> dict[str, Any]:
        return {
            "system": self.system,
            "cost": self.cost,
            "performance": self.performance,
            "on_front": self.on_front,
            "dominated_by": self.dominated_by,
            "level_with_best": self.level_with_best,
            "cheapest_of_best": self.cheapest_of_best,
        }

    def shown(self) -> dict[str, Printable]:
        return self.as_dict()
