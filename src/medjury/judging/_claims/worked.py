"""Worked examples of claims, shown in both steps: a text with its list, and the same claims with their verdicts."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pydantic import ConfigDict

from medjury.foundation.errors import MedjuryError
from medjury.judging._claims.claim import VERDICTS, RecordedClaim, Verdict
from medjury.judging._claims.prompts import Labels, listing_messages, verifying_messages
from medjury.judging._quotations import Source
from medjury.models import Message

_CLOSED = ConfigDict(extra="forbid")  # for a file of examples: a word that is not known is a slip


class ExampleError(MedjuryError, ValueError):
    """An example that would teach a fault; in a file, found with its line."""


@dataclass(frozen=True, slots=True)
class WorkedClaim:
    """One claim of an example, where it is in the text, and what the reference says about it."""

    __pydantic_config__ = _CLOSED

    quote: str
    claim: str
    importance: int
    verdict: Verdict
    explanation: str = ""
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkedClaims:
    """A text taken apart, and its claims held against a reference."""

    __pydantic_config__ = _CLOSED

    text: str
    reference: str
    claims: tuple[WorkedClaim, ...]
    question: str = ""

    def __post_init__(self) -> None:
        if not self.claims:
            raise ExampleError("an example of claims needs at least one claim")
        for number, each in enumerate(self.claims, start=1):
            if problem := self._problem(each):
                raise ExampleError(f"example of claims, claim {number}: {problem}")

    def _problem(self, claim: WorkedClaim) -> str:
        """Examples teach: what a model may not do, they must not do either."""
        if claim.verdict not in VERDICTS or claim.importance not in (1, 2, 3):
            return f"`verdict` is one of {', '.join(VERDICTS)} and `importance` 1, 2 or 3"
        if not claim.quote or claim.quote not in self.text:
            return "its `quote` is not in the text, sign by sign"
        if bool(claim.evidence) != (claim.verdict != "not_addressed"):
            return "`evidence` is needed for supported and contradicted, and for these alone"
        if not all(each and each in self.reference for each in claim.evidence):
            return "its `evidence` is not in the reference, sign by sign"
        return ""

    def listing(self, least: int | None = None) -> tuple[Message, Message]:
        """The question of the first step and its right answer; with `least` only facts of that importance."""
        listed = [each for each in self.claims if least is None or each.importance >= least]
        rows = [{"quote": each.quote, "claim": each.claim, "importance": each.importance} for each in listed]
        return listing_messages("", self.question, "", self.text)[-1], _answer({"claims": rows})

    def verifying(self, labels: Labels) -> tuple[Message, Message]:
        """The question of the second step and its right answer, in the words that are asked for."""
        claims = [
            RecordedClaim(number=number, claim=each.claim, importance=each.importance)
            for number, each in enumerate(self.claims, start=1)
        ]
        rows = [
            {
                "number": number,
                "explanation": each.explanation,
                "verdict": (word := labels.word(each.verdict)),
                "evidence": [] if word == labels.unquoted else list(each.evidence),
            }
            for number, each in enumerate(self.claims, start=1)
        ]
        shown = [Source("example", self.reference)]
        return verifying_messages("", self.question, shown, claims)[-1], _answer({"verdicts": rows})


def _answer(value: object) -> Message:
    return Message("assistant", json.dumps(value, ensure_ascii=False))


# Invented by us: one claim of each kind.
CLAIM_EXAMPLES: tuple[WorkedClaims, ...] = (
    WorkedClaims(
        text=(
            "This is most likely iron deficiency from heavy periods. Start ferrous sulfate 325 mg once daily and "
            "repeat the blood count in four weeks. Refer for colonoscopy now. "
            "Iron is best taken on an empty stomach."
        ),
        reference=(
            "Ferritin of 8 with heavy menses points to iron deficiency. Begin oral iron, ferrous sulfate 325 mg "
            "every other day. Recheck haemoglobin in four weeks. "
            "No endoscopy is needed unless she does not respond."
        ),
        claims=(
            WorkedClaim(
                "most likely iron deficiency from heavy periods",
                "The most likely diagnosis is iron deficiency caused by heavy periods.",
                3,
                "supported",
                "Both name iron deficiency and heavy menses.",
                ("Ferritin of 8 with heavy menses points to iron deficiency.",),
            ),
            WorkedClaim(
                "Start ferrous sulfate 325 mg once daily",
                "Ferrous sulfate 325 mg should be started once daily.",
                3,
                "contradicted",
                "The same drug and dose, but every other day.",
                ("Begin oral iron, ferrous sulfate 325 mg every other day.",),
            ),
            WorkedClaim(
                "repeat the blood count in four weeks",
                "The blood count should be repeated in four weeks.",
                2,
                "supported",
                "Haemoglobin is part of the blood count, at the same time.",
                ("Recheck haemoglobin in four weeks.",),
            ),
            WorkedClaim(
                "Refer for colonoscopy now",
                "She should be referred for colonoscopy now.",
                3,
                "contradicted",
                "The reference advises against endoscopy unless she does not respond.",
                ("No endoscopy is needed unless she does not respond.",),
            ),
            WorkedClaim(
                "Iron is best taken on an empty stomach",
                "Oral iron is best taken on an empty stomach.",
                1,
                "not_addressed",
                "The reference does not say how iron is to be taken.",
            ),
        ),
        question="29-year-old woman, haemoglobin 9.8, ferritin 8, heavy periods. What next?",
    ),
)
