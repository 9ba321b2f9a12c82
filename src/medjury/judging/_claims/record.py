"""The whole story of one rating by claims, as JSON: every claim, its place, its verdict and its evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from medjury.instruments import Outcome, Unscored
from medjury.judging._claims.listing import Claim
from medjury.judging._claims.share import Support
from medjury.judging._claims.steps import Listed, Verified
from medjury.judging._claims.verifying import Checked
from medjury.judging._evidence.quotation import Place
from medjury.judging._outcomes import outcome_columns
from medjury.judging._retrieval import Hit
from medjury.models import Answer

KIND = "claims"


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
) -> dict[str, object]:
    """`found` and `threshold` belong to a share; a grade has none. Without `verified` the listing failed, or
    there was nothing to verify."""
    score, status, reason, message = outcome_columns(outcome)
    claims = []
    for place, claim in enumerate(listed.claims):
        entry = _claim(place, claim, listed, weights)
        if verified is not None:
            entry |= _checked(verified.checked[place]) | {"seen": _seen(verified.seen[place])}
        claims.append(entry)
    return {
        "kind": KIND,
        "dimension": dimension,
        "measure": measure,
        "against": against,
        "claims": claims,
        "repeats": [_aside(claim) | {"repeats": place + 1} for claim, place in listed.repeats],
        "set_aside": [_aside(claim) for claim in listed.set_aside],
        "share": None if found is None or found.share is None else float(found.share),
        "share_low": None if found is None or found.low is None else float(found.low),
        "share_high": None if found is None or found.high is None else float(found.high),
        "threshold": threshold,
        "outcome": {"score": score, "status": status, "reason": reason, "message": message},
        "steps": [
            {
                "step": "list",
                "parts": listed.parts,
                **_spent(listed.answers),
                "failure": _failure(listed.failure),
            },
            {
                "step": "verify",
                "claims": len(claims) if verified else 0,
                **_spent(verified.answers if verified else ()),
                "failure": None,
            },
        ],
    }


def _claim(place: int, claim: Claim, listed: Listed, weights: Mapping[int, float]) -> dict[str, object]:
    return {
        "number": place + 1,
        "claim": claim.text,
        "importance": claim.importance,
        "weight": weights[claim.importance],
        "quote": claim.quote,
        "source": claim.source,
        "place": _place(claim.place),
        "stray_numbers": listed.strays.get(place, []),
    }


def _checked(checked: Checked) -> dict[str, object]:
    return {
        "verdict": checked.verdict,
        "explanation": checked.explanation,
        "evidence": [
            {"quote": each.quote, "source": each.source, "place": _place(each.place)}
            for each in checked.evidence
        ],
        "invented": [{"quote": each.quote, "why": each.why} for each in checked.invented],
        "told": checked.told,
        "first_verdict": checked.first_verdict,
        "failure": _failure(checked.failure),
    }


def _spent(answers: Sequence[Answer]) -> dict[str, object]:
    worth = [answer.worth for answer in answers]
    known = [each for each in worth if each is not None]
    return {"calls": len(answers), "cost": sum(known) if len(known) == len(worth) else None}


def _seen(hits: Sequence[Hit] | None) -> object:
    """ "whole" where the claim was held against the whole text."""
    if hits is None:
        return "whole"
    return [
        {
            "source": hit.passage.source,
            "start": hit.passage.start,
            "end": hit.passage.end,
            "score": round(hit.score, 4),
        }
        for hit in hits
    ]


def _aside(claim: Claim) -> dict[str, object]:
    return {"claim": claim.text, "importance": claim.importance, "source": claim.source}


def _place(place: Place | None) -> dict[str, object] | None:
    if place is None:
        return None
    return {
        "start": place.start,
        "end": place.end,
        "found": "exactly" if place.exact else "closely",
        "similarity": round(place.similarity, 4),
    }


def _failure(failure: Unscored | None) -> dict[str, str] | None:
    return None if failure is None else {"reason": failure.reason.value, "message": failure.message}
