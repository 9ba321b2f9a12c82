"""What a metric says of one answer: a score from 0 to 1, or none and why."""

from __future__ import annotations

from dataclasses import dataclass

from medjury.instruments import Reason


@dataclass(frozen=True, slots=True)
class Mark:
    """`read` is what was read out of the answer, so that a person can check the reading. An answer in which nothing
    could be read has a reason and no score: how it counts is decided, and told, by the leaderboard."""

    score: float | None
    reason: Reason | None = None
    read: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        if (self.score is None) == (self.reason is None):
            raise ValueError("a mark has either a score or the reason why there is none")
        if self.score is not None and not 0 <= self.score <= 1:
            raise ValueError(f"a mark lies between 0 and 1, not {self.score}")
