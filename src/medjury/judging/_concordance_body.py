"""The record of concordance: the verdict, what was said in each order of the answers, and what it comes to."""

from __future__ import annotations

from pydantic import Field

from medjury.store.runs import Body, RecordedOutcome, RunPart


class RecordedOrder(RunPart):
    """One order: whose answer came `first` and `second`, which `place` won (0: neither) and so whom the judge
    `prefers`; or why it has no usable answer."""

    first: str
    second: str
    place: int | None = Field(default=None, ge=0, le=2)
    prefers: str | None = None
    reason: str = ""
    failure: str | None = None
    message: str = ""


class ConcordanceBody(Body):
    """The record: the verdict on concordance, what was said in each order, and the preference it comes to."""

    kind: str = "concordance"
    concordance: dict[str, RecordedOutcome]
    orders: tuple[RecordedOrder, ...] = ()
    preference: RecordedOutcome
