"""What became of the units of an adaptive jury, counted record by record: who was asked, who gave a vote."""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from typing import TYPE_CHECKING

from medjury.records import dataclass

if TYPE_CHECKING:
    from medjury.judging import AdaptiveBody

# As the records say it, and as a reader does.
STOPPED = {
    "settled": "nothing open",
    "all calls made": "open after all",
    "not asked": "could not be asked",
    "failed for now": "broken off",
}


@dataclass
class JurorTally:
    """What one juror did. A vote is a score, or "not applicable", on one dimension."""

    asked: int = 0
    scores: int = 0
    not_applicable: int = 0
    lost: int = 0
    without_any: int = 0  # answers of which nothing could be used
    reasons: Counter[str] = field(default_factory=Counter)


@dataclass
class AdaptiveTally:
    """One adaptive jury. `asked[n]` counts the units that took n askings; those that were broken off, or could
    not be asked, are in `stopped` alone: what was not asked there was not saved."""

    stopped: Counter[str] = field(default_factory=Counter)
    asked: Counter[int] = field(default_factory=Counter)
    made: int = 0
    most: int = 0  # askings, had every juror been asked about every finished unit
    jurors: dict[str, JurorTally] = field(default_factory=dict)

    @property
    def finished(self) -> int:
        return sum(self.asked.values())

    @property
    def saved(self) -> float | None:
        return 1 - self.made / self.most if self.most else None

    def note(self, body: AdaptiveBody) -> None:
        """Count one record."""
        self.stopped[body.stopped] += 1
        for name in body.jurors:
            self.jurors.setdefault(name, JurorTally())
        if body.stopped == "not asked":
            return
        if body.stopped != "failed for now":
            self.asked[len(body.calls)] += 1
            self.made += len(body.calls)
            self.most += body.rule.maximum
        for call in body.calls:
            juror, votes = self.jurors[call.juror], call.outcomes.values()
            juror.asked += 1
            juror.scores += sum(vote.status == "scored" for vote in votes)
            juror.not_applicable += sum(vote.status == "not_applicable" for vote in votes)
            reasons = [vote.reason or "" for vote in votes if vote.status == "unscored"]
            juror.lost += len(reasons)
            juror.without_any += bool(reasons) and len(reasons) == len(votes)
            juror.reasons.update(reasons)
