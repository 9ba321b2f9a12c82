"""What a judge said of pairs in both orders: whether the order decided, counted record by record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from medjury.records import dataclass
from medjury.statistics import Estimate, counted_share, undefined

if TYPE_CHECKING:
    from medjury.judging import RecordedOrder


@dataclass
class OrderTally:
    """What one judge said in both orders of its pairs; `lean` counts, by patient, the verdicts for the first place
    less those for the second."""

    items: list[str] = field(default_factory=list)
    changed: list[bool] = field(default_factory=list)
    lean: Counter[str] = field(default_factory=Counter)
    first: int = 0
    decided: int = 0
    both_first: int = 0
    both_second: int = 0
    failed: int = 0

    def note(self, item: str, patient: str, orders: Sequence[RecordedOrder]) -> None:
        """Count one pair; one of whose orders has no verdict tells nothing."""
        places = [order.place for order in orders]
        if len(places) < 2 or None in places:
            self.failed += 1
            return
        self.items.append(item)
        self.changed.append(len({order.prefers for order in orders}) > 1)
        first, second = places.count(1), places.count(2)
        self.lean[patient] += first - second
        self.first += first
        self.decided += first + second
        self.both_first += places == [1, 1]
        self.both_second += places == [2, 2]

    def bias(self, confidence: float = 0.95) -> Estimate:
        """Of the cases (a patient's together) whose verdicts lean to one place, the share that lean to the first:
        half, where the order does not matter. Where all lean to one place the interval is exact, so that two cases
        prove nothing."""
        leaning = [lean for lean in self.lean.values() if lean]
        if not leaning:
            return undefined("no case leans to a place", 0, "Wilson score")
        return counted_share([lean > 0 for lean in leaning], confidence=confidence)
