"""What became of the units of an adaptive jury, counted record by record: who was asked, who gave a vote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

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

    def note(self, body: Mapping[str, Any]) -> None:
        """Count one record; KeyError, TypeError, ValueError or AttributeError, and nothing counted, where it is
        not of this form."""
        stopped, calls, most = body["stopped"], list(body["calls"]), int(body["rule"]["maximum"])
        names = [str(name) for name in body["jurors"]]
        if stopped not in STOPPED or len(calls) > most:
            raise ValueError("this is no record of an adaptive jury")
        told = [(str(call["juror"]), [_vote(each) for each in call["outcomes"].values()]) for call in calls]
        if any(name not in names for name, _ in told) or (not told and stopped != "not asked"):
            raise ValueError("this is no record of an adaptive jury")
        self.stopped[stopped] += 1
        for name in names:
            self.jurors.setdefault(name, JurorTally())
        if stopped == "not asked":
            return
        if stopped != "failed for now":
            self.asked[len(calls)] += 1
            self.made += len(calls)
            self.most += most
        for name, votes in told:
            juror = self.jurors[name]
            juror.asked += 1
            juror.scores += sum(status == "scored" for status, _ in votes)
            juror.not_applicable += sum(status == "not_applicable" for status, _ in votes)
            reasons = [reason for status, reason in votes if status == "unscored"]
            juror.lost += len(reasons)
            juror.without_any += bool(reasons) and len(reasons) == len(votes)
            juror.reasons.update(reasons)


def _vote(outcome: Mapping[str, Any]) -> tuple[str, str]:
    status = outcome["status"]
    if status not in ("scored", "not_applicable", "unscored"):
        raise ValueError("this is no outcome")
    return status, str(outcome["reason"]) if status == "unscored" else ""
