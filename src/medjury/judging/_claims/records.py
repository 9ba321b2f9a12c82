"""The records of ratings by claims: how one is made, what those of a study come to, and claims as cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Outcome
from medjury.intake.cases import Case, ChatMessage, Note
from medjury.judging._claims.claim import VERDICTS, RecordedClaim
from medjury.judging._claims.share import Support
from medjury.judging._claims.steps import Listed
from medjury.models import Answer
from medjury.store.runs import Body, Record, RecordedFailure, RecordedOutcome, RunPart


class SlightClaim(RunPart):
    """A claim that was set aside, or one that repeats the claim of the number `repeats`."""

    claim: str
    importance: int
    source: str = ""
    repeats: int | None = None


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


def record_of(
    *,
    dimension: str,
    measure: str,
    against: str,
    listed: Listed,
    claims: Sequence[RecordedClaim],
    verifying: Sequence[Answer],
    found: Support | None,
    threshold: float | None,
    weights: Mapping[int, float],
    outcome: Outcome,
) -> ClaimsBody:
    """`claims` with what came of them, none where the listing failed; `verifying` took these answers. `found` and
    `threshold` belong to a share; a grade has none."""
    share, low, high = (None,) * 3 if found is None else (found.share, found.low, found.high)
    return ClaimsBody(
        dimension=dimension,
        measure=measure,
        against=against,
        claims=tuple(each.replaced(weight=weights[each.importance]) for each in claims),
        repeats=tuple(_slight(claim, repeats=place + 1) for claim, place in listed.repeats),
        set_aside=tuple(_slight(claim) for claim in listed.set_aside),
        share=None if share is None else float(share),
        share_low=None if low is None else float(low),
        share_high=None if high is None else float(high),
        threshold=threshold,
        outcome=RecordedOutcome.of(outcome),
        steps=(
            ClaimStep(
                step="list",
                parts=listed.parts,
                failure=RecordedFailure.of(listed.failure),
                **_spent(listed.answers),
            ),
            ClaimStep(step="verify", claims=len(claims), failure=None, **_spent(verifying)),
        ),
    )


def _spent(answers: Sequence[Answer]) -> dict[str, Any]:
    worth = [answer.worth for answer in answers]
    known = [each for each in worth if each is not None]
    return {"calls": len(answers), "cost": sum(known) if len(known) == len(worth) else None}


def _slight(claim: RecordedClaim, **repeats: int) -> SlightClaim:
    return SlightClaim(claim=claim.claim, importance=claim.importance, source=claim.source, **repeats)


UNVERIFIED = "unverified"


@dataclass
class ClaimStatistics:
    """The claims of some answers, counted record by record, so that none need be kept.

    `per_answer` has the number of claims of every answer that could be taken apart, 0 included; `failed`
    counts the others. `verdicts` counts claims by (verdict or "unverified", importance).

    `quotations` were given as evidence, `refused` of them are no evidence: they do not occur, are too short or
    leave out a negation. `told` claims had one refused (or had none to show) and were asked about again,
    `unfounded` ones could show no evidence then either, `mended` ones have a verdict then.
    """

    per_answer: list[int] = field(default_factory=list)
    failed: int = 0
    verdicts: Counter[tuple[str, int]] = field(default_factory=Counter)
    quotations: int = 0
    refused: int = 0
    told: int = 0
    mended: int = 0
    unfounded: int = 0
    unlocated: int = 0  # claims whose words were not found in the text they should come from
    with_stray_numbers: int = 0  # claims with a number that their text does not have
    repeats: int = 0
    set_aside: int = 0

    def note(self, body: ClaimsBody) -> None:
        if not body.listed:
            self.failed += 1
            return
        self.per_answer.append(len(body.claims))
        self.repeats += len(body.repeats)
        self.set_aside += len(body.set_aside)
        for claim in body.claims:
            self.verdicts[claim.verdict or UNVERIFIED, claim.importance] += 1
            refused = sum(bool(each.quote) for each in claim.invented)
            self.refused += refused
            self.quotations += refused + len(claim.evidence)
            self.told += claim.told
            self.mended += claim.told and claim.verdict is not None
            self.unfounded += claim.unfounded
            self.unlocated += claim.place is None
            self.with_stray_numbers += bool(claim.stray_numbers)

    @property
    def claims(self) -> int:
        return sum(self.per_answer)

    @property
    def mean(self) -> float | None:
        return self.claims / len(self.per_answer) if self.per_answer else None

    @property
    def range(self) -> tuple[int, int] | None:
        return (min(self.per_answer), max(self.per_answer)) if self.per_answer else None

    def count(self, verdict: str, importance: int | None = None) -> int:
        """Claims with this verdict (or "unverified"), of one importance or of all."""
        return sum(
            n for (name, grade), n in self.verdicts.items() if name == verdict and importance in (None, grade)
        )

    def share(self, verdict: str, importance: int | None = None) -> float | None:
        """Their share of all claims (of that importance); the four shares sum to 1."""
        whole = sum(self.count(name, importance) for name in (*VERDICTS, UNVERIFIED))
        return self.count(verdict, importance) / whole if whole else None


def claim_cases(cases: Iterable[Case], records: Iterable[Record[ClaimsBody]]) -> Iterator[Case]:
    """One case for each claim of a run, to be rated by the instrument `claims`; the records of a run folder are
    `Records(FOLDER / "records.jsonl").of(ClaimsBody)`.

    Its id is the answer's and the claim's number; its reference is the text that the claim was held against. What
    the judge found is left out: who rates it must not know. Repeats and a second dimension give cases of
    their own, distinguished in the id.
    """
    known = {(case.id, case.system): case for case in cases}
    for record in records:
        body = record.body
        case = known.get((record.item, record.system))
        if case is None:
            raise MedjuryError(
                f"the record of {record.item!r} has no case among those given; give the cases of the same study"
            )
        reference = _text(case.input(body.against))
        question = case.input("question")
        for claim in body.claims:
            parts = [record.item, body.dimension, record.rater, str(record.repeat)]
            yield Case(
                f"{'/'.join(parts)}#{claim.number}",
                claim.claim,
                reference,
                {"question": question} if isinstance(question, str) else {},
                system=case.system,
                vendor=case.vendor,
                patient=case.patient or case.id,
            )


def _text(value: str | tuple[Note, ...] | tuple[ChatMessage, ...] | None) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return "\n\n".join(
        f"[{each.id if isinstance(each, Note) else each.heading}]\n{each.text}" for each in value
    )
