"""The record of a rating by claims: every claim, its place, its verdict and its evidence."""

from __future__ import annotations

from typing import Literal

from medjury.judging._claims.share import Verdict
from medjury.store.runs import Body, RecordedFailure, RecordedOutcome, RunPart


class RecordedPlace(RunPart):
    """Where a quotation was found in its text."""

    start: int
    end: int
    found: Literal["exactly", "closely"] = "exactly"
    similarity: float = 1.0


class RecordedEvidence(RunPart):
    quote: str
    source: str = ""
    place: RecordedPlace | None = None


class RefusedEvidence(RunPart):
    """A quotation that is no evidence, and why; "" where the verdict came without any."""

    quote: str
    why: str = ""


class SeenPassage(RunPart):
    source: str
    start: int
    end: int
    score: float = 0.0


class SlightClaim(RunPart):
    """A claim that was set aside, or one that repeats the claim of the number `repeats`."""

    claim: str
    importance: int
    source: str = ""
    repeats: int | None = None


class RecordedClaim(RunPart):
    """One claim. No verdict: it was not verified, and `failure` says why. `told` says that the judge was told of
    refused evidence; `seen` are the passages that were shown, "whole" where the whole text was."""

    number: int
    claim: str
    importance: int
    weight: float = 1.0
    quote: str = ""
    source: str = ""
    place: RecordedPlace | None = None
    stray_numbers: tuple[str, ...] = ()
    verdict: Verdict | None = None
    explanation: str = ""
    evidence: tuple[RecordedEvidence, ...] = ()
    invented: tuple[RefusedEvidence, ...] = ()
    told: bool = False
    first_verdict: Verdict | None = None
    failure: RecordedFailure | None = None
    seen: Literal["whole"] | tuple[SeenPassage, ...] = "whole"

    @property
    def unfounded(self) -> bool:
        """Whether it could show no evidence, not even when it was asked again."""
        return self.failure is not None and self.failure.reason == "unfounded"


class ClaimStep(RunPart):
    """Listing the claims, or verifying them: what it took."""

    step: Literal["list", "verify"]
    parts: int = 0
    claims: int = 0
    calls: int = 0
    cost: float | None = None
    failure: RecordedFailure | None = None


class ClaimsBody(Body):
    """The whole record of one rating. A `share` and its `threshold` belong to the measure "support"."""

    kind: str = "claims"
    dimension: str
    measure: str
    against: str
    claims: tuple[RecordedClaim, ...]
    repeats: tuple[SlightClaim, ...] = ()
    set_aside: tuple[SlightClaim, ...] = ()
    share: float | None = None
    share_low: float | None = None
    share_high: float | None = None
    threshold: float | None = None
    outcome: RecordedOutcome
    steps: tuple[ClaimStep, ...] = ()

    @property
    def listed(self) -> bool:
        """Whether the text could be taken apart."""
        return not any(step.failure for step in self.steps)
