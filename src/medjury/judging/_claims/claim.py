"""One claim, from its listing to its verdict: it is recorded as it is found, step by step."""

from __future__ import annotations

from typing import Literal

from medjury.instruments import Reason, Unscored
from medjury.judging._quotations import Place
from medjury.store.runs import RecordedFailure, RunPart

Verdict = Literal["supported", "contradicted", "not_addressed"]
VERDICTS: tuple[Verdict, ...] = ("supported", "contradicted", "not_addressed")


class RecordedPlace(RunPart):
    """Where a quotation was found in its text."""

    start: int
    end: int
    found: Literal["exactly", "closely"] = "exactly"
    similarity: float = 1.0


def recorded_place(place: Place) -> RecordedPlace:
    found: Literal["exactly", "closely"] = "exactly" if place.exact else "closely"
    return RecordedPlace(start=place.start, end=place.end, found=found, similarity=round(place.similarity, 4))


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


class RecordedClaim(RunPart):
    """One claim, understandable alone. `quote` is where the model says it is; `place` is where we found it, None
    where those words are not in the text: the claim is kept, and counted as unlocated. `stray_numbers` are nowhere
    in its text.

    No verdict: it was not verified, and `failure` says why. `invented` are the quotations that were refused, also
    where the model corrected them when it was `told`; `seen` are the passages that were shown, "whole" where the
    whole text was."""

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

    @property
    def unverified(self) -> Unscored | None:
        """Why it has no verdict."""
        return None if self.failure is None else Unscored(Reason(self.failure.reason), self.failure.message)

    def judged(
        self,
        verdict: Verdict | None,
        explanation: str = "",
        evidence: tuple[RecordedEvidence, ...] = (),
        invented: tuple[RefusedEvidence, ...] = (),
        *,
        told: bool = False,
        first: Verdict | None = None,
        failure: Unscored | None = None,
    ) -> RecordedClaim:
        """The claim with what came of verifying it."""
        return self.replaced(
            verdict=verdict,
            explanation=explanation,
            evidence=evidence,
            invented=invented,
            told=told,
            first_verdict=first,
            failure=RecordedFailure.of(failure),
        )
