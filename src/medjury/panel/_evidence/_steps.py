"""How ratings of several steps came about, as a reader follows them: claims, talk, orders, drafts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from medjury.judging import (
    AdaptiveBody,
    ClaimsBody,
    ClosedLoopBody,
    ConcordanceBody,
    DeliberationBody,
    RecordedClaim,
    RecordedStep,
    RepeatsBody,
)
from medjury.panel._evidence._quotations import Quotation
from medjury.panel._evidence._votes import grade
from medjury.panel._word_difference import Parts, word_difference
from medjury.store.runs import Body, Record, RecordedOutcome

_ENDED = {
    "agreed": "all agreed",
    "orchestrator": "the orchestrator ended it",
    "max_turns": "the most turns were taken",
    "max_stalls": "nothing new was said",
    "failed": "it failed",
}


@dataclass(frozen=True)
class ClaimShown:
    """One claim with its verdict in words; `quoted` and `refused` are the quotations behind it."""

    number: int
    words: str
    verdict: str
    importance: int
    explanation: str
    quoted: tuple[Quotation, ...]
    refused: tuple[tuple[Quotation, str], ...]


@dataclass(frozen=True)
class TurnShown:
    """Somebody's words and grades; of a draft, its difference from the one before."""

    who: str
    words: str
    grades: str = ""
    about: str = ""
    difference: Parts | None = None


@dataclass(frozen=True)
class StepShown:
    """One record: its kind, whose it is, what came of it in one line, and its claims or turns."""

    kind: str
    rater: str
    summary: str
    claims: tuple[ClaimShown, ...] = ()
    turns: tuple[TurnShown, ...] = ()


def shown_steps(records: list[Record[Body]], *, hidden: bool) -> list[StepShown]:
    """The records of an answer. Where texts are hidden, what came of each, in counts alone."""
    made = []
    for record in records:
        again = f", repeat {record.repeat + 1}" if record.repeat else ""
        step = _shown(record.body, record.rater + again)
        made.append(StepShown(step.kind, step.rater, step.summary) if hidden else step)
    return made


def quotations_of(steps: list[StepShown]) -> Iterator[Quotation]:
    """All quotations that the steps rest on."""
    for step in steps:
        for claim in step.claims:
            yield from claim.quoted
            yield from (quotation for quotation, _ in claim.refused)


def last_draft(records: list[Record[Body]]) -> str | None:
    """The answer that a closed loop ended with, which is in no file of cases."""
    for record in records:
        if isinstance(record.body, ClosedLoopBody) and record.body.rounds:
            return record.body.rounds[-1].draft
    return None


def _shown(body: Body, rater: str) -> StepShown:
    if isinstance(body, ClaimsBody):
        return _claims(body, rater)
    if isinstance(body, DeliberationBody):
        return _deliberation(body, rater)
    if isinstance(body, ConcordanceBody):
        return _concordance(body, rater)
    if isinstance(body, ClosedLoopBody):
        return _closed_loop(body, rater)
    if isinstance(body, AdaptiveBody):
        turns = tuple(
            TurnShown(f"{call.juror}, round {call.round}", _reasons(call.outcomes), _grades(call.outcomes))
            for call in body.calls
        )
        summary = f"{len(body.calls)} of at most {body.rule.maximum} calls; {body.stopped}"
        return StepShown("adaptive jury", rater, summary, turns=turns)
    if isinstance(body, RepeatsBody):
        turns = tuple(
            TurnShown(f"draw {draw.draw}", _reasons(draw.outcomes), _grades(draw.outcomes))
            for draw in body.draws
        )
        return StepShown("repeats", rater, f"{len(body.draws)} draws", turns=turns)
    cut = f"{len(body.context.notes_left_out)} notes were left out of what it read" if body.context else ""
    return StepShown(body.kind.replace("_", " ") or "steps", rater, cut or "kept in records.jsonl")


def _claims(body: ClaimsBody, rater: str) -> StepShown:
    counts = [
        f"{sum(claim.verdict == verdict for claim in body.claims)} {verdict.replace('_', ' ')}"
        for verdict in ("supported", "contradicted", "not_addressed")
    ]
    lost = sum(claim.verdict is None for claim in body.claims)
    share = "" if body.share is None else f"; share of support {grade(body.share)}"
    needed = "" if body.threshold is None else f" (needed {grade(body.threshold)})"
    summary = f"{len(body.claims)} claims: {', '.join(counts)}" + (f", {lost} not verified" if lost else "")
    return StepShown(
        "claims", rater, summary + share + needed, tuple(_claim(each, rater) for each in body.claims)
    )


def _claim(claim: RecordedClaim, rater: str) -> ClaimShown:
    verdict = "not verified" if claim.verdict is None else claim.verdict.replace("_", " ")
    why = claim.explanation or (claim.failure.message if claim.failure else "")
    tone, whose = verdict.replace(" ", "-"), f"claim {claim.number} ({rater}): {verdict}"
    own = [Quotation(claim.quote, whose, claim.source, tone)] if claim.quote else []
    evidence = [Quotation(each.quote, whose, each.source, tone) for each in claim.evidence if each.quote]
    refused = [(Quotation(each.quote, rater), each.why) for each in claim.invented if each.quote]
    return ClaimShown(
        claim.number, claim.claim, verdict, claim.importance, why, (*own, *evidence), tuple(refused)
    )


def _deliberation(body: DeliberationBody, rater: str) -> StepShown:
    summary = f"{body.turns} turns between {len(body.personas)} readers; {_ENDED[body.ended]}"
    if body.undecided:
        summary += f"; undecided: {', '.join(body.undecided)}"
    return StepShown("deliberation", rater, summary, turns=tuple(_turn(each) for each in body.steps))


def _turn(step: RecordedStep) -> TurnShown:
    who = (step.persona or step.role or "orchestrator").replace("_", " ")
    said = [step.said, step.assessment, *(f"{name}: {why}" for name, why in step.reasons.items())]
    if step.failure:
        said.append(f"no usable answer: {step.failure.message}")
    grades = ", ".join(
        f"{name} {'not applicable' if given is None else grade(given)}" for name, given in step.grades.items()
    )
    to = f" to {step.to.replace('_', ' ')}" if step.to else ""
    return TurnShown(f"{who} ({step.act}{to})", "\n".join(filter(None, said)), grades, ", ".join(step.about))


def _concordance(body: ConcordanceBody, rater: str) -> StepShown:
    turns = [TurnShown("are they concordant?", _reasons(body.concordance), _grades(body.concordance))]
    for order in body.orders:
        prefers = order.failure or (f"prefers {order.prefers}" if order.prefers else "prefers neither")
        turns.append(
            TurnShown(f"{order.first} first, {order.second} second", order.reason or order.message, prefers)
        )
    verdict = _grades(body.concordance)
    return StepShown(
        "concordance", rater, f"{verdict}; preference {_outcome(body.preference)}", turns=tuple(turns)
    )


def _closed_loop(body: ClosedLoopBody, rater: str) -> StepShown:
    turns: list[TurnShown] = []
    before: str | None = None
    for each in body.rounds:
        both = None if before is None else word_difference(before, each.draft)
        passed = {True: "passed", False: f"failed: {', '.join(each.failing)}", None: "a score is missing"}[
            each.passed
        ]
        turns.append(
            TurnShown(
                f"draft {each.round}", each.draft, f"{_grades(each.scores)}; {passed}", "", both and both[1]
            )
        )
        before = each.draft
    return StepShown("closed loop", rater, f"{len(body.rounds)} drafts; {body.stopped}", turns=tuple(turns))


def _grades(outcomes: dict[str, RecordedOutcome]) -> str:
    return ", ".join(f"{name} {_outcome(outcome)}" for name, outcome in outcomes.items())


def _outcome(outcome: RecordedOutcome) -> str:
    if outcome.score is not None:
        return grade(outcome.score)
    return (
        f"no score ({(outcome.reason or 'not known').replace('_', ' ')})"
        if outcome.reason
        else "not applicable"
    )


def _reasons(outcomes: dict[str, RecordedOutcome]) -> str:
    return "\n".join(
        dict.fromkeys(outcome.explanation for outcome in outcomes.values() if outcome.explanation)
    )
