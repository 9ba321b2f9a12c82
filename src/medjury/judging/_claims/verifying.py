"""Verdicts on claims, each resting on quotations that we looked up ourselves."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from medjury.instruments import TRANSIENT, Reason, Unscored
from medjury.intake.cases import Case, clean_text
from medjury.judging._asking import Sample, Speaker, Tried, Unusable, ask_for, draw_anew
from medjury.judging._claims.listing import Claim, whole_number
from medjury.judging._claims.prompts import Labels, complaint, verifying_schema
from medjury.judging._claims.share import ClaimFinding, Verdict
from medjury.judging._quotations import Place, Source, check_evidence
from medjury.judging._rows import first_failure
from medjury.models import Gate, Message
from medjury.store.runs import RunPart


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


@dataclass(frozen=True, slots=True)
class Checked:
    """What became of one claim. No verdict: it was not verified, and `failure` says why. `invented` are the
    quotations that were refused, also where the model corrected them when asked again (`asked_again`)."""

    claim: Claim
    verdict: Verdict | None
    explanation: str = ""
    evidence: tuple[RecordedEvidence, ...] = ()
    invented: tuple[RefusedEvidence, ...] = ()
    asked_again: bool = False
    first_verdict: Verdict | None = None
    failure: Unscored | None = None

    @property
    def finding(self) -> ClaimFinding:
        return ClaimFinding(self.verdict, self.claim.importance, self.failure)


@dataclass(frozen=True, slots=True)
class _Said:
    verdict: Verdict
    explanation: str
    quotes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verdicts(Tried):
    """What became of the claims of one call, by their numbers."""

    checked: Mapping[int, Checked] = field(kw_only=True)


async def verify(
    claims: Mapping[int, Claim],
    shown: Sequence[Source],
    *,
    case: Case,
    gate: Gate,
    speaker: Speaker,
    messages: Sequence[Message],
    closeness: float,
    sample: Sample,
    labels: Labels,
) -> Verdicts:
    """One call (`messages`) for these claims, and a second for those whose quotations do not occur: they are handed
    back once, and where the quotation stays invented there is no verdict. Only a fatal `ModelError` is raised."""
    numbers = list(claims)
    texts = {number: claim.text for number, claim in claims.items()}
    about = ["verify", case.fingerprint(), texts, [[each.id, each.offset, len(each.text)] for each in shown]]

    async def attempt(sample: Sample) -> Verdicts:
        asked = await ask_for(
            gate,
            speaker,
            messages,
            verifying_schema(numbers, labels),
            lambda value: _read(value, numbers, labels),
            sample,
            about,
        )
        if asked.value is None:
            failed = {number: Checked(claim, None, failure=asked.failure) for number, claim in claims.items()}
            return Verdicts(asked.failure, asked.answers, len(claims), asked.in_vain, checked=failed)
        checked = {
            number: _check(claims[number], said, shown, closeness) for number, said in asked.value.items()
        }
        wrong = {number: each for number, each in checked.items() if each.failure is not None}
        if not wrong:
            return Verdicts(None, asked.answers, checked=checked)
        problems = {number: _problem(each) for number, each in wrong.items()}
        said_so = (
            Message("assistant", asked.answers[-1].reply.text),
            Message("user", complaint(problems, labels)),
        )
        again = await ask_for(
            gate,
            speaker,
            (*messages, *said_so),
            verifying_schema(list(wrong), labels),
            lambda value: _read(value, list(wrong), labels),
            sample,
            [*about, [[number, [one.quote for one in each.invented]] for number, each in wrong.items()]],
            token=asked.answers[-1].reply.token,
        )
        for number, first in wrong.items():
            checked[number] = _second(first, again.value, again.failure, number, shown, closeness)
        answers = [*asked.answers, *again.answers]
        lost = [each.failure for each in checked.values() if each.failure is not None]
        stored = all(answer.from_cache for answer in answers) and (again.failure is None or again.in_vain)
        return Verdicts(first_failure(lost), answers, len(lost), bool(lost) and stored, checked=checked)

    return await draw_anew(sample, attempt)


def _second(
    first: Checked,
    said: Mapping[int, _Said] | None,
    failure: Unscored | None,
    number: int,
    shown: Sequence[Source],
    closeness: float,
) -> Checked:
    """The verdict after the model was asked again, with what it had invented before kept beside it."""
    if said is None:
        # A fault that may pass must be seen as one, so that the next run goes on here.
        lasting = failure is None or failure.reason not in TRANSIENT
        return Checked(
            first.claim,
            None,
            invented=first.invented,
            asked_again=True,
            first_verdict=first.first_verdict,
            failure=first.failure if lasting else failure,
        )
    then = _check(first.claim, said[number], shown, closeness)
    return Checked(
        first.claim,
        then.verdict,
        then.explanation,
        then.evidence,
        (*first.invented, *then.invented),
        True,
        first.first_verdict,
        then.failure,
    )


def _check(claim: Claim, said: _Said, shown: Sequence[Source], closeness: float) -> Checked:
    if said.verdict == "not_addressed":  # nothing to quote; what was quoted all the same shows nothing
        return Checked(claim, said.verdict, said.explanation, first_verdict=said.verdict)
    evidence: list[RecordedEvidence] = []
    invented = [] if said.quotes else [RefusedEvidence(quote="", why="it quotes nothing")]
    for quote in said.quotes:
        found = check_evidence(quote, shown, closeness)
        if isinstance(found, str):
            invented.append(RefusedEvidence(quote=quote, why=found))
        else:
            source, place = found
            evidence.append(RecordedEvidence(quote=quote, source=source, place=recorded_place(place)))
    if invented:
        failure = Unscored(
            Reason.UNFOUNDED, f"{said.verdict}, but the evidence was refused: {invented[0].why}"
        )
        return Checked(
            claim,
            None,
            said.explanation,
            tuple(evidence),
            tuple(invented),
            first_verdict=said.verdict,
            failure=failure,
        )
    return Checked(claim, said.verdict, said.explanation, tuple(evidence), first_verdict=said.verdict)


def recorded_place(place: Place) -> RecordedPlace:
    found: Literal["exactly", "closely"] = "exactly" if place.exact else "closely"
    return RecordedPlace(start=place.start, end=place.end, found=found, similarity=round(place.similarity, 4))


def _problem(checked: Checked) -> str:
    whys = dict.fromkeys(each.why for each in checked.invented)
    return "; ".join(f"{'a quotation: ' if why != 'it quotes nothing' else ''}{why}" for why in whys)


def _read(value: Any, numbers: Collection[int], labels: Labels) -> dict[int, _Said]:
    entries = value.get("verdicts") if isinstance(value, Mapping) else None
    if not isinstance(entries, list):
        raise Unusable('it needs one object with a list "verdicts"')
    found: dict[int, _Said] = {}
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


def _read_one(entry: Mapping[str, Any], number: int, labels: Labels) -> _Said:
    verdict, quotes = entry.get("verdict"), entry.get("evidence", [])
    name = verdict.strip().casefold().replace(" ", "_").replace("-", "_") if isinstance(verdict, str) else ""
    if name not in labels.verdicts:
        raise Unusable(f"the verdict on claim {number} must be one of {', '.join(labels.verdicts)}")
    quotes = [quotes] if isinstance(quotes, str) else quotes
    if not isinstance(quotes, list) or not all(isinstance(each, str) for each in quotes):
        raise Unusable(f'the "evidence" of claim {number} must be a list of quotations')
    explanation = entry.get("explanation", "")
    return _Said(
        labels.verdicts[name],
        clean_text(explanation) if isinstance(explanation, str) else "",
        tuple(clean_text(each) for each in quotes if each.strip()),
    )
