"""What the first page and the gate both show of a verdict: read from the evidence once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from medjury.validation import STATISTICS, Evidence, Rule, Verdict


@dataclass(frozen=True, slots=True)
class Facts:
    """A verdict, and the numbers that a reader wants to see beside it: the jury's and a colleague's agreement
    with a clinician, what each misses of what a clinician calls dangerous, and how much was scored; None where it
    is not known."""

    verdict: Verdict
    statistic: str
    agreed: float | None
    colleague: float | None
    missed: float | None
    missed_by_colleague: float | None
    share: float | None
    scored: int
    asked: int

    @property
    def title(self) -> str:
        return STATISTICS.get(self.statistic, self.statistic)


def dangers_first(rules: Sequence[Rule]) -> list[Rule]:
    """What is in the way: what forbids any use first, and danger to patients before the rest of its weight."""
    return sorted(rules, key=lambda rule: (not rule.essential, not rule.danger))


def facts_of(evidence: Evidence, verdict: Verdict) -> Facts:
    dimension = evidence.table.dimension(verdict.dimension)
    tested = evidence.tested(dimension)
    names = ("agreement jury", "agreement colleague", "missed_danger jury", "missed_danger colleague")
    found = [tested.values.get(name, math.nan) for name in names]
    agreed, colleague, missed, also = (each if math.isfinite(each) else None for each in found)
    statistic = tested.beside.statistic
    return Facts(verdict, statistic, agreed, colleague, missed, also, *evidence.covered(verdict.dimension))
