"""The rating: one row, whoever gave it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from medjury.instruments import NotApplicable, Outcome, Reason, Score, Unscored

RaterKind = Literal["clinician", "judge", "jury", "metric"]
Status = Literal["scored", "not_applicable", "unscored"]


@dataclass(frozen=True, slots=True)
class Rating:
    """One rater's word on one dimension of one case.

    A scored row has a finite score and no reason; an unscored row has a reason and no score; nothing else can
    be built. Calls, tokens, seconds and cost are this row's share of the calls that produced it, whoever paid
    for them, so that their sums over rows are what the work takes; None means not known, which is not 0. The models
    that were asked for and those that say they answered are two lists of names in the same order, with commas.
    `probability` is that with which the answer was drawn for this rater (see `medjury plan review`); None: every
    answer was given to the rater, or nobody drew.
    """

    item: str
    system: str
    rater: str
    rater_kind: RaterKind
    instrument: str
    dimension: str
    repeat: int
    score: float | None
    status: Status
    reason: Reason | None
    explanation: str
    seconds: float | None
    tokens_in: int | None
    tokens_out: int | None
    cost: float | None
    created_at: str
    key: str
    calls: int | None = None
    model_asked: str | None = None
    model_answered: str | None = None
    probability: float | None = None

    def __post_init__(self) -> None:
        scored = self.status == "scored"
        if scored != (self.score is not None) or (scored and not math.isfinite(self.score or 0.0)):
            raise ValueError(f"a {self.status} rating cannot have the score {self.score!r}")
        if (self.status == "unscored") != (self.reason is not None):
            raise ValueError(f"a {self.status} rating cannot have the reason {self.reason!r}")
        if self.probability is not None and not 0.0 < self.probability <= 1.0:
            raise ValueError(f"the probability {self.probability!r} is not above 0 and at most 1")

    @property
    def outcome(self) -> Outcome:
        return outcome_of(self.score, self.reason, self.explanation)


def outcome_of(score: float | None, reason: Reason | str | None, explanation: str) -> Outcome:
    """The columns of a rating as an outcome."""
    if score is not None:
        return Score(score, explanation)
    if reason is not None:
        return Unscored(Reason(reason), explanation)
    return NotApplicable(explanation)
