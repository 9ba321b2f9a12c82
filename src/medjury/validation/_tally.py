"""What became of the units of an adaptive jury, counted record by record: who was asked, who gave a vote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from medjury.statistics import Estimate, counted_share, undefined

if TYPE_CHECKING:
    from medjury.judging import AdaptiveBody, DeliberationBody, RecordedOrder


# What became of deliberations, counted record by record: how they ended, and what each persona did in them.

ENDINGS = {
    "agreed": "all agreed",
    "orchestrator": "the orchestrator had heard enough",
    "max_turns": "the turns were used up",
    "max_stalls": "the talk had stalled",
    "failed": "a step failed",
}


@dataclass
class PersonaTally:
    """What one persona did in all deliberations of a rater."""

    text: str = ""
    models: dict[str, None] = field(default_factory=dict)  # in the order they first spoke
    turns: int = 0
    changed: int = 0
    lost: int = 0
    held: int = 0  # final grades beside a decided one
    followed: int = 0
    gap: float = 0.0


@dataclass
class DeliberationTally:
    """What became of one rater's deliberations."""

    deliberations: int = 0
    at_once: int = 0
    turns: int = 0
    decided: int = 0
    undecided: int = 0  # grades, where the talk ended and the decision failed
    outside: int = 0
    ended: dict[str, int] = field(default_factory=lambda: dict.fromkeys(ENDINGS, 0))
    personas: dict[str, PersonaTally] = field(default_factory=dict)

    def note(self, body: DeliberationBody) -> None:
        """Count one record."""
        self.deliberations += 1
        self.at_once += body.agreed_at_once
        self.turns += body.turns
        self.decided += len(body.decided)
        if body.ended != "failed":
            self.undecided += len(body.undecided)
        self.outside += len(body.outside)
        self.ended[body.ended] += 1
        for each in body.personas:
            self.personas.setdefault(each.name, PersonaTally(each.text)).models[each.model] = None
        for step in body.steps:
            if step.act == "turn" and step.persona is not None:
                self.personas[step.persona].turns += 1
                self.personas[step.persona].changed += len(step.changed)
        for lost in body.failed:
            self.personas[lost.persona].lost += 1
        for name, grades in body.final.items():
            persona = self.personas[name]
            for dimension, grade in grades.items():
                decision = body.decided.get(dimension)
                if grade is not None and decision is not None:
                    persona.held += 1
                    persona.followed += grade == decision
                    persona.gap += grade - decision


# What a judge said of pairs in both orders: whether the order decided, counted record by record.


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
