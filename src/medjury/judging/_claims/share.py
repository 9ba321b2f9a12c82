"""The arithmetic of claims: from verdicts and importance to a share, a decision or a grade. Exact, and honest
about claims that could not be verified: what they might have been is counted both ways."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from medjury.instruments import Outcome, Reason, Score, Unscored
from medjury.judging._claims.claim import VERDICTS, RecordedClaim, Verdict

# What a dimension is read from: the supported share with its threshold (0 or 1), the gravest claim of the text
# that its sources do not support, or the gravest fact of the sources that the text does not give.
Measure = Literal["support", "unsupported", "omitted"]
MEASURES: Mapping[str, Measure] = {
    "concordant": "support",
    "unsupported": "unsupported",
    "omitted": "omitted",
}
Denominator = Literal["addressed", "all"]
Decisive = Literal["veto", "strict", "weight"]
# The verdicts on a decisive claim that decide whatever the share.
_VETO: Mapping[Decisive, tuple[Verdict, ...]] = {
    "veto": ("contradicted",),
    "strict": ("contradicted", "not_addressed"),
    "weight": (),
}
WEIGHTS: Mapping[int, float] = {1: 1.0, 2: 2.0, 3: 4.0}
DECISIVE = 3


@dataclass(frozen=True, slots=True)
class ShareRule:
    """How verdicts become "concordant": see `decide_support`."""

    threshold: float = 0.8
    denominator: Denominator = "addressed"
    weights: Mapping[int, float] = field(default_factory=lambda: dict(WEIGHTS))
    decisive: Decisive = "veto"
    minimum_verified: float = 0.5


@dataclass(frozen=True, slots=True)
class Support:
    """The supported share of the claims' weight; `low` and `high` count every unverified claim as contradicted
    and as supported. None where no claim counts: a share of nothing is not 1."""

    share: Fraction | None
    low: Fraction | None
    high: Fraction | None
    counts: Mapping[str, int]  # claims by verdict, and `unverified`


def support_share(
    findings: Sequence[RecordedClaim],
    *,
    denominator: Denominator = "addressed",
    weights: Mapping[int, float] = WEIGHTS,
) -> Support:
    """share = sum of the weights of supported claims / sum of the weights of the claims that count.

    `addressed` counts the claims that the reference supports or contradicts; `all` counts every verified claim.

    >>> graded = {"supported": 3, "contradicted": 1, "not_addressed": 2}
    >>> found = [RecordedClaim(number=1, claim="", importance=n, verdict=each) for each, n in graded.items()]
    >>> support_share(found).share, support_share(found, denominator="all").share
    (Fraction(4, 5), Fraction(4, 7))
    """
    weight: dict[str, Fraction] = {name: Fraction(0) for name in (*VERDICTS, "unverified")}
    counts: Counter[str] = Counter(dict.fromkeys(weight, 0))
    for each in findings:
        name = each.verdict or "unverified"
        counts[name] += 1
        weight[name] += Fraction(str(weights[each.importance]))
    known = weight["supported"] + weight["contradicted"]
    if denominator == "all":
        known += weight["not_addressed"]
    whole = known + weight["unverified"]
    return Support(
        weight["supported"] / known if known else None,
        weight["supported"] / whole if whole else None,
        (weight["supported"] + weight["unverified"]) / whole if whole else None,
        dict(counts),
    )


def decide_support(findings: Sequence[RecordedClaim], rule: ShareRule) -> Outcome:
    """1 where the share reaches the threshold, else 0. With `veto` a contradicted decisive claim makes it 0
    whatever the share, with `strict` also one that is not addressed. Claims that could not be verified leave a
    decision only where it would be the same whatever they were, and where `minimum_verified` of the claims were
    verified.

    >>> claim = RecordedClaim(number=1, claim="It helps.", importance=1, verdict="supported")
    >>> found = [claim] * 9 + [claim.replaced(importance=3, verdict="contradicted")]
    >>> decide_support(found, ShareRule(weights={1: 1, 3: 1})).value
    0.0
    """
    found = support_share(findings, denominator=rule.denominator, weights=rule.weights)
    summary = _summary(found, rule.denominator)
    missing = found.counts["unverified"]
    if not findings:
        return Unscored(Reason.MISSING, "no claim that could be verified was found")
    if found.low is None or found.high is None or (found.share is None and not missing):
        return Unscored(Reason.MISSING, f"{summary}: no claim is left to take a share of")
    if Fraction(len(findings) - missing, len(findings)) < Fraction(str(rule.minimum_verified)):
        return Unscored(reason_of(findings), f"{summary}; too few claims could be verified")
    key = [each for each in findings if each.importance == DECISIVE]
    vetoes = sum(each.verdict in _VETO[rule.decisive] for each in key)
    feared = rule.decisive != "weight" and any(each.verdict is None for each in key)
    if vetoes:
        return Score(0.0, f"{summary}; {_claims(vetoes, 'decisive claim')} not upheld, which decides")
    limit = Fraction(str(rule.threshold))
    worst = found.low >= limit and not feared
    best = found.high >= limit
    if worst != best:
        return Unscored(
            reason_of(findings),
            f"{summary}; with the unverified claims it may lie between {float(found.low):.2f} and "
            f"{float(found.high):.2f}, so that {rule.threshold:g} cannot be decided"
            + (", a decisive claim among them" if feared else ""),
        )
    return Score(float(best), f"{summary}; {'at least' if best else 'below'} {rule.threshold:g}")


def worst_claim(findings: Sequence[RecordedClaim], grades: Mapping[int, int]) -> Outcome:
    """The highest grade of a claim that is not supported, 0 where all are: one decisive claim decides.

    `grades` maps importance to the grade of a claim that is not supported. An unverified claim leaves a grade
    only where it could not change it.

    >>> claim = RecordedClaim(number=1, claim="It helps.", importance=2, verdict="not_addressed")
    >>> worst_claim([claim], {1: 1, 2: 2, 3: 3}).value
    2.0
    """
    if not findings:
        return Unscored(Reason.MISSING, "no claim that could be verified was found")
    failed = [each for each in findings if each.verdict in ("contradicted", "not_addressed")]
    unverified = [each for each in findings if each.verdict is None]
    low = max((grades[each.importance] for each in failed), default=0)
    high = max((grades[each.importance] for each in unverified), default=0)
    summary = f"{len(failed)} of {_claims(len(findings), 'claim')} not supported"
    if unverified:
        summary += f", {len(unverified)} not verified"
    if high > low:
        return Unscored(reason_of(findings), f"{summary}; the grade is {low} or more, up to {high}")
    return Score(float(low), summary)


def reason_of(findings: Iterable[RecordedClaim]) -> Reason:
    """Why claims were not verified: the commonest reason, the first of equals."""
    reasons = Counter(each.failure.reason for each in findings if each.failure is not None)
    return Reason(reasons.most_common(1)[0][0]) if reasons else Reason.MISSING


def _summary(found: Support, denominator: Denominator) -> str:
    counts = found.counts
    parts = [f"{counts['supported']} supported", f"{counts['contradicted']} contradicted",
             f"{counts['not_addressed']} not addressed"]  # fmt: skip
    if counts["unverified"]:
        parts.append(f"{counts['unverified']} not verified")
    share = "no share" if found.share is None else f"weighted share {float(found.share):.3f}"
    return f"{_claims(sum(counts.values()), 'claim')}: {', '.join(parts)}; {share} of {_OF[denominator]}"


_OF = {"addressed": "the addressed claims", "all": "all claims"}


def _claims(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"
