"""The record of a closed loop: every draft, what was said of it, and what changed from one to the next."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import AliasChoices, Field, model_validator

from medjury.store.runs import Body, RecordedFailure, RecordedOutcome, RunPart

Stopped = Literal["passed", "rounds", "stalled", "failed"]
Scores = dict[str, RecordedOutcome]


class Changes(RunPart):
    """The sentences that a revision took out and those it put in, in their order."""

    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()


class LoopRound(RunPart):
    """One draft and the loop judge's word on it. Round 0 is the draft as it came."""

    round: int = 0
    draft: str
    changes: Changes | None = None
    scores: Scores
    failing: tuple[str, ...] = ()
    passed: bool | None  # None where a score is missing


class FinalScores(RunPart):
    """The final juror's word on the first and on the last draft; None where it was not asked."""

    first: Scores | None = None
    last: Scores | None = None


class LoopFailure(RecordedFailure):
    step: str = ""


class ClosedLoopBody(Body):
    """`passing` (in the file `pass`) is the grade that each dimension must reach, `separate` whether the final
    juror is a model that was not in the loop."""

    kind: str = "closed_loop"
    first_system: str = ""
    passing: dict[str, int] = Field(
        default={}, validation_alias=AliasChoices("pass", "passing"), serialization_alias="pass"
    )
    separate: bool = False
    stopped: Stopped
    rounds: tuple[LoopRound, ...] = ()
    final: FinalScores = FinalScores()
    failure: LoopFailure | None = None

    @model_validator(mode="after")
    def _a_loop_that_ended_has_a_draft(self) -> Self:
        if self.stopped != "failed" and not self.rounds:
            raise ValueError("it has no rounds")
        return self
