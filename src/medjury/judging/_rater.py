"""What the engine runs: anything that turns a case into ratings, one unit of work at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from medjury.cases import Case
from medjury.models import ChatModel, Gate
from medjury.ratings import Rating


@dataclass(frozen=True, slots=True)
class Unit:
    """One piece of work: these dimensions of this case, asked for the `repeat`-th time. Its key is the hash
    of everything that determines the answer, so that work whose key is in the store is not done again."""

    rater: Rater
    case: Case
    dimensions: tuple[str, ...]
    repeat: int
    key: str


class Rater(Protocol):
    """A way of judging. A single judge is one; a panel that deliberates is another."""

    @property
    def name(self) -> str:
        """The rater's name in the ratings."""

    @property
    def models(self) -> Sequence[ChatModel]:
        """Every model it may call: the gate checks hosts and prices before the first call."""

    def units(self, case: Case, repeat: int) -> Sequence[Unit]:
        """The work one repeat of one case needs."""

    async def rate(self, unit: Unit, gate: Gate) -> Sequence[Rating]:
        """One row per dimension of the unit, scored or not. Only a fatal `ModelError` is raised."""
