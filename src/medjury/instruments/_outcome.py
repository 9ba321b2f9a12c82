"""What a rater finds on one dimension: a score, "not applicable", or nothing usable and why.

A failure is missing data. No code turns an `Unscored` into a number.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Why there is no score."""

    PARSE = "parse"  # the answer is not the JSON that was asked for
    MISSING = "missing"  # the answer leaves this dimension out, or a composite lacks a part
    OUT_OF_RANGE = "out_of_range"  # a number that is not on the scale
    REFUSAL = "refusal"  # the model declined to answer
    EMPTY = "empty"  # the model answered with nothing
    TRUNCATED = "truncated"  # the answer stopped at the token limit
    CONTEXT = "context"  # the prompt does not fit the model
    TIMEOUT = "timeout"
    RATE_LIMIT = "rate_limit"
    PROVIDER = "provider"  # the endpoint failed
    OVER_BUDGET = "over_budget"
    INPUT = "input"  # the case lacks an input that the instrument needs
    NO_QUORUM = "no_quorum"  # too few jurors gave a score
    TIE = "tie"  # a majority vote without a majority
    UNFOUNDED = "unfounded"  # the evidence that the answer quotes does not occur in the text
    NOT_STORED = "not_stored"  # a run that reads stored replies again has none to this question
    OTHER_MODEL = "other_model"  # not the model that was asked for answered
    CANNOT_JUDGE = "cannot_judge"  # a clinician who looked cannot say, and says why
    AVERAGED = "averaged"  # a decision that averages grades where it had to weigh arguments


# Asking again later may give an answer; everything else would be paid for twice to fail twice.
TRANSIENT = frozenset(
    {Reason.TIMEOUT, Reason.RATE_LIMIT, Reason.PROVIDER, Reason.OVER_BUDGET, Reason.NOT_STORED}
)


@dataclass(frozen=True, slots=True)
class Score:
    """A number on the scale, with the rater's explanation."""

    value: float
    explanation: str = ""


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """The rater judged, rightly, that this dimension does not apply to the case."""

    explanation: str = ""


@dataclass(frozen=True, slots=True)
class Unscored:
    """There is no score; `message` tells the reader what happened."""

    reason: Reason
    message: str = ""


Outcome = Score | NotApplicable | Unscored
