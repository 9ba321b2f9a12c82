"""Verdicts on claims, each resting on quotations that we looked up ourselves."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from medjury.instruments import TRANSIENT, Reason, Unscored
from medjury.intake.cases import Case, clean_text
from medjury.judging._asking import Asked, Sample, Speaker, Unusable, ask_for, draw_anew
from medjury.judging._claims.claim import (
    RecordedClaim,
    RecordedEvidence,
    RefusedEvidence,
    Verdict,
    recorded_place,
)
from medjury.judging._claims.listing import whole_number
from medjury.judging._claims.prompts import Labels, complaint, verifying_schema
from medjury.judging._quotations import Source, check_evidence
from medjury.judging._rows import first_failure
from medjury.models import Gate, Message

# What a model says of a claim: its verdict, why, and the quotations that are to show it.
Said = tuple[Verdict, str, tuple[str, ...]]
Verified = Asked[Mapping[int, RecordedClaim]]


async def verify(
    claims: Sequence[RecordedClaim],
    shown: Sequence[Source],
    *,
    case: Case,
    gate: Gate,
    speaker: Speaker,
    messages: Sequence[Message],
    closeness: float,
    sample: Sample,
    labels: Labels,
) -> Verified:
    """One call (`messages`) for these claims, and a second for those whose quotations do not occur: they are handed
    back once, and where the quotation stays invented there is no verdict. The claims are by their numbers. Only a
    fatal `ModelError` is raised."""
    by_number = {each.number: each for each in claims}
    texts = {number: each.claim for number, each in by_number.items()}
    about = ["verify", case.fingerprint(), texts, [[each.id, each.offset, len(each.text)] for each in shown]]

    async def ask(
        sample: Sample, numbers: list[int], told: Sequence[Message], more: Sequence[object], token: str
    ) -> Asked[dict[int, Said]]:
        return await ask_for(
            gate,
            speaker,
            (*messages, *told),
            verifying_schema(numbers, labels),
            lambda value: _read(value, numbers, labels),
            sample,
            [*about, *more],
            token=token,
        )

    async def attempt(sample: Sample) -> Verified:
        asked = await ask(sample, list(by_number), (), (), "")
        if asked.value is None:
            failed = {number: each.judged(None, failure=asked.failure) for number, each in by_number.items()}
            return Asked(asked.failure, asked.answers, len(claims), asked.in_vain, value=failed)
        checked = {
            number: _check(by_number[number], said, shown, closeness) for number, said in asked.value.items()
        }
        wrong = {number: each for number, each in checked.items() if each.failure is not None}
        if not wrong:
            return Asked(None, asked.answers, value=checked)
        problems = {number: _problem(each) for number, each in wrong.items()}
        last = asked.answers[-1].reply
        told = Message("assistant", last.text), Message("user", complaint(problems, labels))
        refused = [[number, [one.quote for one in each.invented]] for number, each in wrong.items()]
        again = await ask(sample, list(wrong), told, [refused], last.token)
        for number, first in wrong.items():
            checked[number] = _second(first, again, shown, closeness)
        answers = [*asked.answers, *again.answers]
        lost = [each.unverified for each in checked.values() if each.unverified is not None]
        stored = all(answer.from_cache for answer in answers) and (again.failure is None or again.in_vain)
        return Asked(first_failure(lost), answers, len(lost), bool(lost) and stored, value=checked)

    return await draw_anew(sample, attempt)


def _second(
    first: RecordedClaim, again: Asked[dict[int, Said]], shown: Sequence[Source], closeness: float
) -> RecordedClaim:
    """The verdict after the model was asked again, with what it had invented before kept beside it."""
    if again.value is None:
        # A fault that may pass must be seen as one, so that the next run goes on here.
        lasting = again.failure is None or again.failure.reason not in TRANSIENT
        failure = first.unverified if lasting else again.failure
        return first.judged(
            None, "", (), first.invented, told=True, first=first.first_verdict, failure=failure
        )
    then = _check(first, again.value[first.number], shown, closeness)
    invented = (*first.invented, *then.invented)
    return then.replaced(invented=invented, told=True, first_verdict=first.first_verdict)


def _check(claim: RecordedClaim, said: Said, shown: Sequence[Source], closeness: float) -> RecordedClaim:
    verdict, explanation, quotes = said
    if verdict == "not_addressed":  # nothing to quote; what was quoted all the same shows nothing
        return claim.judged(verdict, explanation, first=verdict)
    evidence: list[RecordedEvidence] = []
    invented = [] if quotes else [RefusedEvidence(quote="", why="it quotes nothing")]
    for quote in quotes:
        found = check_evidence(quote, shown, closeness)
        if isinstance(found, str):
            invented.append(RefusedEvidence(quote=quote, why=found))
        else:
            source, place = found
            evidence.append(RecordedEvidence(quote=quote, source=source, place=recorded_place(place)))
    if not invented:
        return claim.judged(verdict, explanation, tuple(evidence), first=verdict)
    failure = Unscored(Reason.UNFOUNDED, f"{verdict}, but the evidence was refused: {invented[0].why}")
    return claim.judged(None, explanation, tuple(evidence), tuple(invented), first=verdict, failure=failure)


def _problem(checked: RecordedClaim) -> str:
    whys = dict.fromkeys(each.why for each in checked.invented)
    return "; ".join(f"{'a quotation: ' if why != 'it quotes nothing' else ''}{why}" for why in whys)


def _read(value: Any, numbers: Collection[int], labels: Labels) -> dict[int, Said]:
    entries = value.get("verdicts") if isinstance(value, Mapping) else None
    if not isinstance(entries, list):
        raise Unusable('it needs one object with a list "verdicts"')
    found: dict[int, Said] = {}
    for entry in entries:
        if not isinstance(entry, Mapping):
            raise Unusable("a verdict is not an object")
        number = whole_number(entry.get("number"))
        if not isinstance(number, int) or isinstance(number, bool) or number not in numbers:
            raise Unusable(f'each "number" must be one of {", ".join(map(str, numbers))}')
        if number in found:
            raise Unusable(f"claim {number} has two verdicts")
        found[number] = _read_one(entry, number, labels)
    if missing := [number for number in numbers if number not in found]:
        raise Unusable(f"there is no verdict on claim {', '.join(map(str, missing))}", Reason.MISSING)
    return {number: found[number] for number in numbers}


def _read_one(entry: Mapping[str, Any], number: int, labels: Labels) -> Said:
    verdict, quotes = entry.get("verdict"), entry.get("evidence", [])
    name = verdict.strip().casefold().replace(" ", "_").replace("-", "_") if isinstance(verdict, str) else ""
    if name not in labels.verdicts:
        raise Unusable(f"the verdict on claim {number} must be one of {', '.join(labels.verdicts)}")
    quotes = [quotes] if isinstance(quotes, str) else quotes
    if not isinstance(quotes, list) or not all(isinstance(each, str) for each in quotes):
        raise Unusable(f'the "evidence" of claim {number} must be a list of quotations')
    explanation = entry.get("explanation", "")
    why = clean_text(explanation) if isinstance(explanation, str) else ""
    return labels.verdicts[name], why, tuple(clean_text(each) for each in quotes if each.strip())
