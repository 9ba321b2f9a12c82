"""The body of a record: how ratings of several steps came about. Each way of judging has a body of its own."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AliasChoices, Field, Strict

from medjury.instruments import Outcome, Score, Unscored
from medjury.store.runs._part import RunPart

Grade = Annotated[float, Strict()]  # text that looks like a number is none


class RecordedOutcome(RunPart):
    """What became of one dimension: a score, "not applicable", or a `reason` why there is none; and in words."""

    status: Literal["scored", "not_applicable", "unscored"]
    score: Grade | None = None
    reason: str | None = None
    # Earlier versions called the words of a failure its message.
    explanation: str = Field(default="", validation_alias=AliasChoices("explanation", "message"))

    @classmethod
    def of(cls, outcome: Outcome) -> Self:
        if isinstance(outcome, Unscored):
            reason = outcome.reason.value
            return cls(status="unscored", score=None, reason=reason, explanation=outcome.message)
        score = outcome.value if isinstance(outcome, Score) else None
        status: Literal["scored", "not_applicable"] = "not_applicable" if score is None else "scored"
        return cls(status=status, score=score, reason=None, explanation=outcome.explanation)


class RecordedFailure(RunPart):
    """Why a step has no usable answer."""

    reason: str
    message: str

    @classmethod
    def of(cls, failure: Unscored | None) -> Self | None:
        return None if failure is None else cls(reason=failure.reason.value, message=failure.message)


class RecordedCut(RunPart):
    """What was left out of a record that was too long for the model: whole notes by their ids, part of one more."""

    truncate: str
    keep: str = ""
    order: str = ""  # what newest and oldest were told by: date or position
    notes_left_out: tuple[str, ...]
    shortened: str | None = None
    characters_left_out: int
    characters: int  # that there were


class Body(RunPart):
    """What every body has: the `kind` of judging, and what was left out of the case, if anything was. It holds
    clinical text, as explanations do."""

    kind: str = ""
    context: RecordedCut | None = None

    def content(self) -> dict[str, Any]:
        return {"kind": self.kind, **super().content()}
