"""The record of an adaptive jury: who was asked in which order, what was open after each, and why it stopped."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from medjury.store.runs import Body, RecordedOutcome, RunPart

Stopped = Literal["settled", "all calls made", "not asked", "failed for now"]


class RecordedRule(RunPart):
    """The rule as it stood: `maximum` calls at most; of fitted widths the hash."""

    signal: str = ""
    tolerance: float | None = None
    minimum: int = 1
    maximum: int
    threshold: float | None = None
    widths: str | None = None


class AdaptiveCall(RunPart):
    """One juror asked about the whole unit; `doubt` is None where there was nothing to go by."""

    juror: str
    round: int = 1
    outcomes: dict[str, RecordedOutcome]
    doubt: dict[str, float | None] = {}
    open: tuple[str, ...] = ()


class AdaptiveBody(Body):
    kind: str = "adaptive"
    jurors: tuple[str, ...]
    rule: RecordedRule
    stopped: Stopped
    calls: tuple[AdaptiveCall, ...]

    @model_validator(mode="after")
    def _its_own_jurors_were_asked_no_more_often_than_the_rule_allows(self) -> Self:
        if len(self.calls) > self.rule.maximum or any(each.juror not in self.jurors for each in self.calls):
            raise ValueError("more calls than its rule allows, or a juror that is none of its own")
        if not self.calls and self.stopped != "not asked":
            raise ValueError("it has no calls")
        return self
