"""The record of one draft: what was written, from what, its citations looked up; or why there is none."""

from __future__ import annotations

from typing import Any, Literal

from medjury.store.runs import Body, RunPart


class Citation(RunPart):
    """A note and words from it, as the draft claims. `given` says that a note of this id was given, `found` that
    the words occur in it (`exact`: word for word)."""

    note: str
    quote: str
    given: bool
    found: bool
    exact: bool = False

    @property
    def invented(self) -> bool:
        return not (self.given and self.found)


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
    citations: tuple[Citation, ...] = ()
    citations_invented: int = 0
    notes_given: tuple[str, ...] = ()
    unreadable_dates: tuple[str, ...] = ()
    counts: dict[str, int] = {}
