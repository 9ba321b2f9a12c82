"""The record of one draft: what was written, from what, its citations looked up; or why there is none."""

from __future__ import annotations

from typing import Any, Literal

from medjury.runs import Body, RunPart


class RecordedCitation(RunPart):
    """A note and words from it, as the draft claims: whether such a note was `given`, and holds the words."""

    note: str
    quote: str
    given: bool
    found: bool
    exact: bool = False


class DraftBody(Body):
    """`candidate` is the text that is judged; where the draft failed there is a `reason` instead."""

    kind: str = "draft"
    system: str = ""
    vendor: str = ""
    status: Literal["drafted", "failed"]
    reason: str | None = None
    message: str = ""
    candidate: str | None = None
    sections: dict[str, Any] = {}
    citations: tuple[RecordedCitation, ...] = ()
    citations_invented: int = 0
    notes_given: tuple[str, ...] = ()
    unreadable_dates: tuple[str, ...] = ()
    counts: dict[str, int] = {}
