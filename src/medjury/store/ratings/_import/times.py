"""How long clinicians took: what was measured, and whether its unit can be right."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field

# Nobody reads a record and grades an answer in less; whole numbers below it are minutes more often than seconds.
_SHORTEST_SECONDS = 20
_FEWEST = 5

Answer = tuple[str, str, str]  # item, system, rater


@dataclass(slots=True)
class Times:
    """Gathers the seconds of each rater's answer. A time of 0 was not measured."""

    seconds: dict[Answer, float] = field(default_factory=dict)
    zeros: set[Answer] = field(default_factory=set)
    whole: bool = True

    def add(self, answer: Answer, measured: float | None, share: int, as_seconds: bool) -> None:
        """`share` is how many ratings the time was measured for; only times that are said to be seconds can be
        minutes by mistake."""
        if measured == 0:
            self.zeros.add(answer)
        if not measured or not as_seconds:
            return
        self.whole = self.whole and measured == int(measured)
        self.seconds[answer] = self.seconds.get(answer, 0.0) + measured / share

    def warnings(self) -> list[str]:
        """What a reader should look at."""
        found = []
        if self.zeros:
            found.append(f"the time of {len(self.zeros):,} answers is 0: it counts as not measured")
        middle = statistics.median(self.seconds.values()) if len(self.seconds) >= _FEWEST else None
        if middle is not None and self.whole and middle < _SHORTEST_SECONDS:
            found.append(
                f"the times are whole numbers with a median of {middle:g} seconds for an answer: are they minutes? "
                "Then say `minutes: COLUMN` in the mapping file instead of `seconds: COLUMN`, or call the column "
                "`minutes`"
            )
        return found
