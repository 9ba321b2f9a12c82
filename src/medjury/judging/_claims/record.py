"""From the steps of a rating by claims to its record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from medjury.instruments import Outcome
from medjury.judging._claims.body import (
    ClaimsBody,
    ClaimStep,
    RecordedClaim,
    RecordedEvidence,
    RecordedPlace,
    RefusedEvidence,
    SeenPassage,
    SlightClaim,
)
from medjury.judging._claims.listing import Claim
from medjury.judging._claims.share import Support
from medjury.judging._claims.steps import Listed, Verified
from medjury.judging._claims.verifying import Checked
from medjury.judging._evidence.quotation import Place
from medjury.judging._retrieval import Hit
from medjury.models import Answer
from medjury.store.runs import RecordedFailure, RecordedOutcome


def record_of(
    *,
    dimension: str,
    measure: str,
    against: str,
    listed: Listed,
    verified: Verified | None,
    found: Support | None,
    threshold: float | None,
    weights: Mapping[int, float],
    outcome: Outcome,
) -> ClaimsBody:
    """`found` and `threshold` belong to a share; a grade has none. Without `verified` the listing failed, or
    there was nothing to verify."""
    claims = tuple(
        RecordedClaim(
            number=place + 1,
            claim=claim.text,
            importance=claim.importance,
            weight=weights[claim.importance],
            quote=claim.quote,
            source=claim.source,
            place=_place(claim.place),
            stray_numbers=tuple(listed.strays.get(place, ())),
            **({} if verified is None else _verdict(verified.checked[place], verified.seen[place])),
        )
        for place, claim in enumerate(listed.claims)
    )
    verdicts = ClaimStep(step="verify", claims=len(claims) if verified else 0, failure=None,
                         **_spent(verified.answers if verified else ()))  # fmt: skip
    failure = RecordedFailure.of(listed.failure)
    return ClaimsBody(
        dimension=dimension,
        measure=measure,
        against=against,
        claims=claims,
        repeats=tuple(_slight(claim, repeats=place + 1) for claim, place in listed.repeats),
        set_aside=tuple(_slight(claim) for claim in listed.set_aside),
        share=None if found is None or found.share is None else float(found.share),
        share_low=None if found is None or found.low is None else float(found.low),
        share_high=None if found is None or found.high is None else float(found.high),
        threshold=threshold,
        outcome=RecordedOutcome.of(outcome),
        steps=(
            ClaimStep(step="list", parts=listed.parts, failure=failure, **_spent(listed.answers)),
            verdicts,
        ),
    )


def _verdict(checked: Checked, seen: Sequence[Hit] | None) -> dict[str, Any]:
    return {
        "verdict": checked.verdict,
        "explanation": checked.explanation,
        "evidence": tuple(
            RecordedEvidence(quote=each.quote, source=each.source, place=_place(each.place))
            for each in checked.evidence
        ),
        "invented": tuple(RefusedEvidence(quote=each.quote, why=each.why) for each in checked.invented),
        "told": checked.told,
        "first_verdict": checked.first_verdict,
        "failure": RecordedFailure.of(checked.failure),
        "seen": _seen(seen),
    }


def _spent(answers: Sequence[Answer]) -> dict[str, Any]:
    worth = [answer.worth for answer in answers]
    known = [each for each in worth if each is not None]
    return {"calls": len(answers), "cost": sum(known) if len(known) == len(worth) else None}


def _seen(hits: Sequence[Hit] | None) -> Literal["whole"] | tuple[SeenPassage, ...]:
    if hits is None:
        return "whole"
    return tuple(
        SeenPassage(
            source=hit.passage.source, start=hit.passage.start, end=hit.passage.end, score=round(hit.score, 4)
        )
        for hit in hits
    )


def _slight(claim: Claim, **repeats: int) -> SlightClaim:
    return SlightClaim(claim=claim.text, importance=claim.importance, source=claim.source, **repeats)


def _place(place: Place | None) -> RecordedPlace | None:
    if place is None:
        return None
    found: Literal["exactly", "closely"] = "exactly" if place.exact else "closely"
    return RecordedPlace(start=place.start, end=place.end, found=found, similarity=round(place.similarity, 4))
