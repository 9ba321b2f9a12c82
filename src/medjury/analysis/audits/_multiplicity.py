"""Multiplicity: many comparisons find something by chance alone, so p-values are corrected together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from medjury.analysis.audits._audit import Finding
from medjury.foundation.errors import MedjuryError

Adjustment = Literal["holm", "benjamini_hochberg", "none"]
# Above zero, below zero, not shown.
Verdicts = tuple[str, str, str]
ADJUSTMENTS: tuple[Adjustment, ...] = ("holm", "benjamini_hochberg", "none")


def adjust(p_values: Sequence[float | None], rule: Adjustment = "holm") -> list[float | None]:
    """Adjusted p-values in the same order; None stays None and does not count as a comparison.

    `holm`: the chance of any false finding stays below the level; p₍ᵢ₎·(m − i + 1), made monotone upwards.
    Holm (1979) Scand J Stat 6:65-70. `benjamini_hochberg`: the expected share of false findings among those
    found stays below the level; p₍ᵢ₎·m/i, made monotone downwards. Benjamini & Hochberg (1995) JRSS B
    57:289-300.

    >>> adjust([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    >>> adjust([0.01, 0.04, 0.03], "benjamini_hochberg")
    [0.03, 0.04, 0.04]
    """
    if rule not in ADJUSTMENTS:
        raise MedjuryError(f"There is no adjustment {rule!r}. There are {', '.join(ADJUSTMENTS)}.")
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    count = len(known)
    if rule == "holm":
        running = 0.0
        for order, (p, place) in enumerate(known):
            running = max(running, min(1.0, p * (count - order)))
            adjusted[place] = running
    elif rule == "benjamini_hochberg":
        running = 1.0
        for order, (p, place) in reversed(list(enumerate(known, start=1))):
            running = min(running, p * count / order)
            adjusted[place] = running
    else:
        for p, place in known:
            adjusted[place] = p
    return adjusted


def adjusted(
    findings: Sequence[Finding],
    rule: Adjustment,
    *,
    confidence: float,
    verdicts: Mapping[str, Verdicts],
    family: Callable[[Finding], object] = lambda finding: finding.statistic,
) -> list[Finding]:
    """The findings, in their order, with adjusted p-values and a verdict. `verdicts` holds those of every statistic
    that is tested; others only describe. What is of one `family` is corrected together."""
    families: dict[object, list[int]] = {}
    for place, finding in enumerate(findings):
        if finding.statistic in verdicts:
            families.setdefault(family(finding), []).append(place)
    made = list(findings)
    for places in families.values():
        for place, p in zip(places, adjust([made[k].p_value for k in places], rule), strict=True):
            value = made[place].estimate.value
            if p is None or value is None:
                continue
            above, below, neither = verdicts[made[place].statistic]
            shown = p <= 1.0 - confidence
            verdict = neither if not shown else above if value > 0 else below
            made[place] = replace(made[place], p_adjusted=p, verdict=verdict, stands_out=shown)
    return made
