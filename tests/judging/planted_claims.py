"""Answers written by us whose claims, verdicts and evidence are known, and a model that knows them.

Every kind of finding is planted: supported, contradicted, absent, partial, negated, a changed dose. Where a verdict
needs evidence, `wrong` is a quotation that looks like it and is none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from medjury.intake.cases import Case, Note

_CLAIM = re.compile(r"Claim (\d+):\n<<<begin claim \w+>>>\n(.*?)\n<<<end claim", re.DOTALL)
_TEXT = re.compile(r"<<<begin text \w+>>>\n(.*?)\n<<<end text", re.DOTALL)


@dataclass(frozen=True)
class Planted:
    """One claim. `quote` stands in the answer, `evidence` in the reference, `wrong` in neither."""

    kind: str
    claim: str
    quote: str
    importance: int
    verdict: str
    evidence: str = ""
    wrong: str = ""


@dataclass(frozen=True)
class PlantedCase:
    """An answer with all its claims, and what the arithmetic must give: the share of the addressed claims, of
    all, and the decision with a veto and without."""

    case: Case
    claims: tuple[Planted, ...]
    share: Fraction | None = None
    share_of_all: Fraction | None = None
    vetoed: int | None = None
    weighed: int | None = None


QUESTION = "Blood pressure 148/92 at home over six weeks in a 54-year-old man. Should he start a drug?"
REFERENCE = (
    "Home readings confirm hypertension. Start amlodipine 5 mg once daily and review in four weeks. "
    "Do not add a diuretic at this stage. Creatinine and potassium are needed before any second drug.\n"
    "The left ventricle was normal on echocardiography; no murmur was heard. He may keep walking every day."
)

SUPPORTED = Planted(
    "supported", "The home readings confirm hypertension.", "The readings confirm hypertension", 2, "supported",
    "Home readings confirm hypertension.", "Home readings suggest hypertension.",
)  # fmt: skip
DOSE = Planted(
    "changed dose", "Amlodipine 10 mg once daily should be started.", "Start amlodipine 10 mg once daily", 3,
    "contradicted", "Start amlodipine 5 mg once daily", "Start amlodipine 10 mg once daily",
)  # fmt: skip
NEGATED = Planted(
    "negated", "A diuretic should be added now.", "add a diuretic now", 3, "contradicted",
    "Do not add a diuretic at this stage.", "add a diuretic at this stage",
)  # fmt: skip
REVIEW = Planted(
    "supported", "He should be reviewed in four weeks.", "review in four weeks", 2, "supported",
    "review in four weeks", "review in six weeks",
)  # fmt: skip
PARTIAL = Planted(
    "partial", "Creatinine, potassium and a renal ultrasound are needed before any second drug.",
    "Creatinine, potassium and a renal ultrasound are needed", 2, "not_addressed",
)  # fmt: skip
ABSENT = Planted(
    "absent", "He should be referred to cardiology.", "refer to cardiology", 3, "not_addressed"
)  # fmt: skip
SIDE = Planted(
    "contradicted", "The left ventricle was hypertrophied.", "the left ventricle was hypertrophied", 1,
    "contradicted", "The left ventricle was normal on echocardiography",
    "The right ventricle was normal on echocardiography",
)  # fmt: skip
START = Planted(
    "supported", "Amlodipine 5 mg once daily should be started.", "Start amlodipine 5 mg once daily", 3,
    "supported", "Start amlodipine 5 mg once daily", "Start amlodipine 5 mg twice daily",
)  # fmt: skip
WALKING = Planted(
    "supported", "He may keep walking every day.", "keep walking every day", 3, "supported",
    "He may keep walking every day.", "He must keep walking every day.",
)  # fmt: skip

BLOODS = Planted(
    "supported", "Creatinine and potassium are needed before any second drug.",
    "Creatinine and potassium are needed before any second drug", 3, "supported",
    "Creatinine and potassium are needed before any second drug.",
    "Creatinine and magnesium are needed before any second drug.",
)  # fmt: skip


def _case(name: str, *claims: Planted, **known: object) -> PlantedCase:
    candidate = ". ".join(each.quote for each in claims) + "."
    return PlantedCase(
        Case(name, candidate, REFERENCE, {"question": f"{QUESTION} (Case {name}.)"}, system="drafter"),
        claims,
        **known,
    )


MIXED = _case(
    "mixed", SUPPORTED, DOSE, REVIEW, NEGATED, PARTIAL, ABSENT,
    share=Fraction(4, 12), share_of_all=Fraction(4, 18), vetoed=0, weighed=0,
)  # fmt: skip
ON_THE_LINE = _case(  # exactly 0.80, which reaches it
    "on the line", START, SIDE,
    share=Fraction(4, 5), share_of_all=Fraction(4, 5), vetoed=1, weighed=1,
)  # fmt: skip
ONE_DECIDES = _case(  # the share would do; the diuretic decides
    "one decides", START, WALKING, SUPPORTED, REVIEW, BLOODS, NEGATED,
    share=Fraction(16, 20), share_of_all=Fraction(16, 20), vetoed=0, weighed=1,
)  # fmt: skip
SILENT = _case("silent", PARTIAL, ABSENT, share=None, share_of_all=Fraction(0), vetoed=None, weighed=None)
ALL_WELL = _case(
    "all well", START, SUPPORTED, REVIEW, WALKING,
    share=Fraction(1), share_of_all=Fraction(1), vetoed=1, weighed=1,
)  # fmt: skip
COURTESY = PlantedCase(
    Case("courtesy", "Thank you for this interesting question.", REFERENCE, {"question": QUESTION}), ()
)
CASES = (MIXED, ON_THE_LINE, ONE_DECIDES, SILENT, ALL_WELL)
CLAIMS: Mapping[str, Planted] = {
    each.claim: each
    for each in (SUPPORTED, DOSE, NEGATED, REVIEW, PARTIAL, ABSENT, SIDE, START, WALKING, BLOODS)
}  # fmt: skip

# A summary and the notes it was written from: one statement invented, one dose changed, one allergy left out.
NOTES = (
    Note("n1", "Admitted with pneumonia of the right lower lobe. Allergic to penicillin: anaphylaxis in 2019.",
         "2024-03-01", "admission"),
    Note("n2", "Treated with levofloxacin 500 mg once daily for seven days. No fever since the third day."),
    Note("n3", "Chest film to be repeated in six weeks. He likes gardening."),
)  # fmt: skip
SUMMARY = (
    "Pneumonia of the right lower lobe. Levofloxacin 750 mg once daily for seven days. His mother died of lung "
    "cancer. The chest film should be repeated in six weeks."
)
GROUNDED = Case("stay", SUMMARY, notes=NOTES, system="summariser")
STATEMENTS = (
    Planted("supported", "He had pneumonia of the right lower lobe.", "Pneumonia of the right lower lobe", 3,
            "supported", "pneumonia of the right lower lobe"),
    Planted("changed dose", "Levofloxacin 750 mg once daily was given for seven days.",
            "Levofloxacin 750 mg once daily for seven days", 2, "contradicted",
            "levofloxacin 500 mg once daily for seven days"),
    Planted("absent", "His mother died of lung cancer.", "His mother died of lung cancer", 1, "not_addressed"),
    Planted("supported", "The chest film should be repeated in six weeks.",
            "The chest film should be repeated in six weeks", 2, "supported",
            "Chest film to be repeated in six weeks."),
)  # fmt: skip
FACTS = (
    Planted("supported", "He was admitted with pneumonia.", "Admitted with pneumonia", 3, "supported",
            "Pneumonia of the right lower lobe"),
    Planted("absent", "He had anaphylaxis from penicillin in 2019.", "Allergic to penicillin: anaphylaxis in 2019",
            3, "not_addressed"),
    Planted("changed dose", "Levofloxacin 500 mg once daily was given for seven days.",
            "levofloxacin 500 mg once daily for seven days", 2, "contradicted",
            "Levofloxacin 750 mg once daily for seven days"),
    Planted("supported", "The chest film is to be repeated in six weeks.",
            "Chest film to be repeated in six weeks", 2, "supported",
            "The chest film should be repeated in six weeks"),
    Planted("background", "He likes gardening.", "He likes gardening", 1, "not_addressed"),
)  # fmt: skip


def knowing(*more: Planted, quotes: Mapping[str, list[str]] | None = None) -> Callable[[str], str]:
    """A model that answers by the planted claims. `quotes` are the quotations it gives for a claim instead, one
    on each telling; the last stays."""
    known = {**CLAIMS, **{each.claim: each for each in more}}
    script = quotes or {}

    def answer(prompt: str) -> str:
        asked = _CLAIM.findall(prompt)
        if asked:
            told = "were looked up" in prompt
            again = {int(n) for n in re.findall(r"- Claim (\d+):", prompt)} if told else None
            verdicts = [
                _verdict(int(number), known[claim], script.get(claim, []), told)
                for number, claim in asked
                if again is None or int(number) in again
            ]
            return json.dumps({"verdicts": verdicts})
        [text] = _TEXT.findall(prompt)
        found = [
            {"quote": each.quote, "claim": each.claim, "importance": each.importance}
            for each in known.values()
            if each.quote in text
        ]
        found.sort(key=lambda each: text.index(str(each["quote"])))
        return json.dumps({"claims": found})

    return answer


def _verdict(number: int, planted: Planted, script: list[str], told: bool) -> dict[str, object]:
    quote = script[min(int(told), len(script) - 1)] if script else planted.evidence
    return {
        "number": number,
        "explanation": f"it is {planted.kind}",
        "verdict": planted.verdict,
        "evidence": [quote] if quote else [],
    }
