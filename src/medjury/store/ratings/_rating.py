"""What a store keeps: the rating, one row whoever gave it; how it came about (record); what was asked."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from medjury.foundation.files import whole_file
from medjury.instruments import NotApplicable, Outcome, Reason, Score, Unscored
from medjury.intake.cases import clean_text

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


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """The story behind the ratings with the same key: a transcript, claims with verdicts, rounds of a loop.
    `body` is a JSON object whose `kind` names the way of judging. It holds clinical text, as explanations do."""

    key: str
    item: str
    system: str
    rater: str
    repeat: int
    body: str
    created_at: str

    def content(self) -> dict[str, Any]:
        """The body as Python values."""
        found = json.loads(self.body)
        if not isinstance(found, dict):
            raise ValueError("a record's body is not a JSON object")
        return found


def write_records(records: Iterable[StoredRecord], path: Path) -> int:
    """Write records as JSON Lines, one per unit of work; how many there were. Without any there is no file."""
    count = 0
    with whole_file(path) as file:
        for each in records:
            body = each.content()
            line = {
                "key": each.key,
                "item": each.item,
                "system": each.system,
                "rater": each.rater,
                "repeat": each.repeat,
                "kind": body.get("kind", ""),
                "body": body,
            }
            # A model's half of a surrogate pair has no place in a file.
            file.write(clean_text(json.dumps(line, ensure_ascii=False)) + "\n")
            count += 1
    if not count:
        path.unlink(missing_ok=True)
    return count


@dataclass(frozen=True, slots=True)
class Question:
    """One question asked for the ratings whose key is `unit`. `name` tells it from the others by what it is about,
    not by its words. `reply` is the key of its stored reply; without one `failure` says why, as a JSON object.
    `read_as` states by which case the reply was read (see `Way`), "" where it was not."""

    unit: str
    name: str
    reply: str | None
    failure: str = ""
    read_as: str = ""
