"""A jury may be right on the whole and useless for one specialty, one group of patients, long notes or this month."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from medjury.statistics import Replicates, clustered_proportion, percent, shown
from medjury.tables import Measured
from medjury.validation._beyond_doubt import holm, p_below
from medjury.validation._clustered import clustered_contrast
from medjury.validation._evidence import Evidence
from medjury.validation._parts import Part
from medjury.validation._rules.found import Lines, RuleFound, does_not_apply, found
from medjury.validation._trial import Trial
from medjury.validation._words import STATISTICS

# A part, and the rest, with fewer cases than this is too small to be told from chance.
FEWEST = 15
AGREES = Lines(
    "The jury is as good for every specialty, group of patients, length of notes and system, from first to last.",
    "Pooled coefficient in each part minus the rest, and minus the floor: one-sided bootstrap z-tests, Holm; fails only "
    "beyond the margin, and not where clinicians' own agreement falls as much.",
)
FAIR = Lines(
    "The jury is not kinder or stricter to one system, specialty or group of patients than to the others.",
    "Mean difference from clinicians in each part minus the rest: two-sided clustered t-tests, Holm; fails only beyond "
    "the offset limit.",
)
SCORED = Lines(
    "The jury does not fall silent for one kind of case.",
    "Coverage in each part: upper end of an exact clustered interval, Bonferroni.",
)


def every_part(evidence: Evidence, dimension: Measured) -> tuple[RuleFound, ...]:
    parts, unknown = evidence.parts(dimension)
    trial = evidence.trial(dimension)
    large = [part for part in parts if _large(trial, part)]
    return (
        _agrees(evidence, trial, large, unknown),
        _fair(evidence, trial, large, unknown),
        _scored(evidence, trial, parts, unknown),
    )


def _large(trial: Trial, part: Part) -> bool:
    return min(trial.cases(trial.both & part.inside), trial.cases(trial.both & part.rest)) >= FEWEST


def _agrees(evidence: Evidence, trial: Trial, parts: Sequence[Part], unknown: Sequence[str]) -> RuleFound:
    name, margin, floor = "Agreement holds in every part", evidence.rules.margin, evidence.rules.floor
    asked = f"no part beyond doubt more than {margin:g} below the rest, or below {floor:g}"
    if unknown or not parts:
        return _nothing(name, asked, unknown, AGREES)
    chosen = {
        f"{place} {side}": trial.both & flags
        for place, part in enumerate(parts)
        for side, flags in (("in", part.inside), ("out", part.rest))
    }
    made = trial.agreement(chosen)
    tests = [_test(made, place, margin, floor) for place in range(len(parts))]
    adjusted = holm([p for _, below, under in tests for p in (below, under)])
    worst = min(range(len(parts)), key=lambda place: tests[place][0])
    bad = [
        part
        for place, part in enumerate(parts)
        if min(adjusted[2 * place : 2 * place + 2]) < 1 - evidence.confidence
    ]
    value, rest = (made.observed[f"jury {worst} {side}"] for side in ("in", "out"))
    title = STATISTICS.get(trial.statistic, trial.statistic)
    said = f"{len(parts)} parts; lowest in {parts[worst].name}: {title} {_number(value)}, elsewhere {_number(rest)}"
    return found(
        name,
        asked,
        said,
        not bad,
        essential=True,
        why=f"The jury agrees far less with clinicians for {_names(bad)} than elsewhere, and clinicians themselves do "
        "not.",
        lines=AGREES,
    )


def _test(made: Replicates, place: int, margin: float, floor: float) -> tuple[float, float, float]:
    """The part's agreement less that of the rest; and one-sided p-values that it is not below the rest, and not below
    the floor: 1 where the difference is no larger than the margin, or clinicians' own agreement falls as much."""
    inside, outside = f"jury {place} in", f"jury {place} out"
    apart = made.observed[inside] - made.observed[outside]
    if not np.isfinite(apart):
        return 0.0, 1.0, 1.0
    own, others = (made.observed.get(f"clinicians {place} {side}", np.nan) for side in ("in", "out"))
    harder = own - others if np.isfinite(own - others) else 0.0
    below = p_below(apart, made.resampled[inside] - made.resampled[outside])
    under = p_below(made.observed[inside] - floor, made.resampled[inside] - floor)
    far = apart < -margin and apart - min(harder, 0.0) < -margin
    hopeless = np.isfinite(own) and own - made.observed[inside] <= margin
    return apart, below if far else 1.0, 1.0 if hopeless else under


def _fair(evidence: Evidence, trial: Trial, parts: Sequence[Part], unknown: Sequence[str]) -> RuleFound:
    name, share = "No part is scored too kindly or too strictly", evidence.rules.offset_limit
    asked = f"no part beyond doubt more than {percent(share, 1)} of the scale above or below the rest"
    if unknown or not parts or trial.span is None:
        return _nothing(name, asked, unknown, FAIR)
    limit, apart = share * trial.span, np.where(trial.both, trial.said - trial.reference, 0.0)
    tests = []
    for part in parts:
        groups = np.where(trial.both & part.inside, 1, np.where(trial.both & part.rest, 0, 2))
        difference, below = clustered_contrast(apart, groups, trial.grid.clusters)
        tests.append((difference.value or 0.0, 2 * min(below, 1 - below)))
    adjusted = holm([p for _, p in tests])
    widest = max(range(len(parts)), key=lambda place: abs(tests[place][0]))
    bad = [
        part
        for part, (value, _), p in zip(parts, tests, adjusted, strict=True)
        if p < 1 - evidence.confidence and abs(value) > limit
    ]
    return found(
        name,
        asked,
        f"{len(parts)} parts; widest for {parts[widest].name}: {shown(tests[widest][0])} beside the rest; "
        f"{limit:g} is allowed",
        not bad,
        essential=True,
        why=f"Beside the clinicians, the jury scores {_names(bad)} otherwise than the rest, by more than {limit:g}.",
        lines=FAIR,
    )


def _scored(evidence: Evidence, trial: Trial, parts: Sequence[Part], unknown: Sequence[str]) -> RuleFound:
    name, wanted = "The jury scored every part", evidence.rules.coverage
    asked = f"no part beyond doubt below {percent(wanted)}"
    asked_for = ~np.isnan(trial.said) | trial.unscored
    large = [part for part in parts if trial.cases(asked_for & part.inside) >= FEWEST]
    if unknown or not large:
        return _nothing(name, asked, unknown, SCORED)
    level = 1 - 2 * (1 - evidence.confidence) / len(large)
    shares = []
    for part in large:
        inside = asked_for & part.inside
        shares.append(
            clustered_proportion(~np.isnan(trial.said[inside]), trial.grid.clusters[inside], confidence=level)
        )
    bad = [
        part for part, each in zip(large, shares, strict=True) if each.high is not None and each.high < wanted
    ]
    lowest = min(range(len(large)), key=lambda place: shares[place].value or 0.0)
    return found(
        name,
        asked,
        f"{len(large)} parts; lowest for {large[lowest].name}: {percent(shares[lowest].value, 1)}",
        not bad,
        essential=True,
        why=f"The jury left far more answers without a score for {_names(bad)} than it may.",
        lines=SCORED,
    )


def _nothing(name: str, asked: str, unknown: Sequence[str], lines: Lines) -> RuleFound:
    """Nothing is known that would make parts: no reproach, unless the rules name what is not there."""
    if not unknown:
        said = "nothing tells cases apart, or the parts are too small"
        return does_not_apply(name, asked, said, lines=lines)
    why = f"The rules ask for a look at each {' and '.join(unknown)}, and the ratings do not tell it."
    return found(name, asked, f"no {', '.join(unknown)} known", None, essential=False, why=why, lines=lines)


def _names(parts: Sequence[Part]) -> str:
    return ", ".join(part.name for part in parts)


def _number(value: float) -> str:
    return shown(float(value)) if np.isfinite(value) else "not known"
