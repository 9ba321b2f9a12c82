"""The verdict on one dimension with its evidence, as a passport carries it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from medjury.in_use.passports._document import PassportNumber, PassportRule, PassportVerdict
from medjury.in_use.passports._scope import passport_scope
from medjury.intake.cases import Case
from medjury.validation import NUMBERS, Evidence, Verdict, finite


def passport_verdict(verdict: Verdict, evidence: Evidence, cases: Sequence[Case]) -> PassportVerdict:
    """The word, its scope among the judged `cases`, every rule, the jury's agreement with the clinicians, and how
    often it gave which score."""
    scores = Counter(
        f"{score:g}"
        for score in evidence.grid(verdict.dimension).scores[verdict.rater]
        if not math.isnan(score)
    )
    return PassportVerdict(
        dimension=verdict.dimension,
        label=verdict.label,
        word=verdict.word,
        scope=passport_scope(verdict.scope, evidence.shares_below(verdict.dimension), cases),
        rules=tuple(
            PassportRule(
                id=rule.id,
                name=rule.name,
                asked=rule.asked,
                found=nameless(rule.found, evidence.clinicians),
                state=rule.state,
                why=nameless(rule.why, evidence.clinicians),
                **{name: finite(getattr(rule, name)) for name in NUMBERS},
            )
            for rule in verdict.rules
        ),
        numbers=tuple(_numbers(verdict, evidence)),
        scores=dict(sorted(scores.items())),
    )


def nameless(text: str, clinicians: Iterable[str]) -> str:
    """The text with a number in place of each clinician's name."""
    for number, name in enumerate(clinicians, 1):
        if len(name) > 1:
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", f"clinician {number}", text)
    return text


def _numbers(verdict: Verdict, evidence: Evidence) -> list[PassportNumber]:
    rows = [] if evidence.agreement is None else evidence.agreement.rows
    wanted = (verdict.rater, verdict.dimension, evidence.main_reference, "")
    return [
        PassportNumber(
            statistic=each.statistic,
            reference="consensus" if len(evidence.clinicians) > 1 else "clinician",
            value=each.estimate.value,
            low=each.estimate.low,
            high=each.estimate.high,
            n=each.estimate.n,
            method=each.estimate.method,
            reason=each.estimate.reason,
        )
        for each in rows
        if (each.rater, each.dimension, each.reference, each.system or "") == wanted
    ]
