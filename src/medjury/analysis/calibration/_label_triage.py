"""Triage by what is known of the cases: does the jury's score find those whose routine diagnosis was wrong?

A label says 0 or 1 of a case, whatever was answered to it. The jury's mean score over all answers to a case is the
signal: where every system looks unsafe, the yardstick itself may be wrong. Reviewing the lowest-scored cases first,
how many of the labelled ones are found?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from medjury.analysis.calibration._part import Part
from medjury.analysis.calibration._review_curve import ReviewCurve, review_curves
from medjury.analysis.calibration._routine_disagreement import RoutineDisagreement, disagreement_curve
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Floats, ends, flat, percent, shown

_ORDER = "jury"


@dataclass(frozen=True, slots=True)
class ScoreSpread:
    """The jury's mean scores of the cases with one value of the label, over all answers or one `system`'s."""

    value: int
    cases: int
    lowest: float
    quarter: float
    median: float
    three_quarters: float
    highest: float
    system: str = ""


@dataclass(frozen=True, eq=False)
class LabelTriage:
    """One label. `review` is the share of labelled cases found by the share reviewed, `spreads` compares the jury's
    scores with and without the label (`by_system` those of each system's answers, where there are several),
    `probability` is that of the label by the score (None where it cannot be fitted). `why` says why there is no
    `review`."""

    label: str
    n: int
    n_labelled: int
    catch: float
    spreads: tuple[ScoreSpread, ...]
    review: ReviewCurve | None
    probability: RoutineDisagreement | None
    why: str = ""
    by_system: tuple[ScoreSpread, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Flat values, and the curve as a list."""
        found: dict[str, Any] = {
            **flat(self, "label", "n", "n_labelled", "catch", "why"),
            "spreads": [flat(each) for each in (*self.spreads, *self.by_system)],
        }
        if self.review is not None:
            found |= {**ends(self.review.review_to_catch, "review"), **flat(self.review, "area")}
            found["curve"] = [
                {"reviewed": share, **ends(caught, "found")}
                for share, caught in zip(self.review.reviewed, self.review.caught, strict=True)
            ]
        if self.probability is not None:
            found |= {**ends(self.probability.slope, "slope"), "slope_p_value": self.probability.p_value}
        return found

    def lines(self) -> list[str]:
        """The same in words."""
        lines = [f"Label {self.label}: {self.n_labelled:,} of {self.n:,} cases."]
        lines += [
            f"  jury's mean score where it is {each.value}: median {shown(each.median)} "
            f"({shown(each.lowest)} to {shown(each.highest)}, {each.cases:,} cases)"
            for each in self.spreads
        ]
        if self.review is None:
            return [*lines, f"  {self.why}"]
        lines.append(
            f"  to find {percent(self.catch)} of them, review {shown(self.review.review_to_catch)} of the cases, "
            f"lowest score first; mean share found {shown(self.review.area)} (0.5 is chance)"
        )
        return lines


def label_triage(
    part: Part,
    jury: str,
    labels: Mapping[str, Mapping[str, int]],
    *,
    catch: float,
    resamples: int,
    seed: int,
    confidence: float,
) -> tuple[LabelTriage, ...]:
    """Every label of the cases, on the jury's scores with low as the dangerous end."""
    names = sorted({name for own in labels.values() for name in own})
    effort = {"resamples": resamples, "seed": seed, "confidence": confidence}
    return tuple(_one(name, part, jury, labels, catch=catch, effort=effort) for name in names)


def _one(
    label: str,
    part: Part,
    jury: str,
    labels: Mapping[str, Mapping[str, int]],
    *,
    catch: float,
    effort: dict[str, Any],
) -> LabelTriage:
    items, clusters, score = _by_case(part, jury)
    known = np.array([label in labels.get(item, {}) for item in items], dtype=bool)
    given = np.array([labels.get(item, {}).get(label, 0) for item in items], dtype=np.int64)
    here, truth = score[known], given[known] == 1
    review, probability, why = None, None, ""
    try:
        review = review_curves(
            {_ORDER: -here},
            truth,
            cases=[cluster for cluster, kept in zip(clusters, known, strict=True) if kept],
            catch=catch,
            what=f"case labelled {label}",
            **effort,
        )[_ORDER]
    except MedjuryError as error:
        why = str(error)
    try:
        probability = disagreement_curve(
            here,
            truth.astype(float),
            cases=[item for item, kept in zip(items, known, strict=True) if kept],
            at=np.linspace(*part.scale, 41).tolist(),
            confidence=effort["confidence"],
        )
    except MedjuryError as error:
        why = why or str(error)
    counts, spreads = (int(known.sum()), int(truth.sum())), _spreads(here, truth)
    by_system = _by_system(part, jury, label, labels)
    return LabelTriage(label, *counts, catch, spreads, review, probability, why, by_system)


def _by_system(
    part: Part, jury: str, label: str, labels: Mapping[str, Mapping[str, int]]
) -> tuple[ScoreSpread, ...]:
    """The jury's scores of each system's answers by the label of their cases: the routine diagnosis is one."""
    systems = [str(each) for each in np.unique(part.grid.systems) if str(each)]
    if len(systems) < 2:
        return ()
    score = part.scores(jury)
    known = np.array([label in labels.get(str(item), {}) for item in part.grid.items], dtype=bool)
    given = np.array([labels.get(str(item), {}).get(label, 0) for item in part.grid.items], dtype=np.int64)
    found = []
    for system in systems:
        here = known & (part.grid.systems == system)
        found += [replace(each, system=system) for each in _spreads(score[here], given[here] == 1)]
    return tuple(found)


def _spreads(scores: Floats, truth: np.ndarray[Any, np.dtype[np.bool_]]) -> tuple[ScoreSpread, ...]:
    """Lowest, quartiles and highest with label 0 and with label 1, as far as there are scores."""
    found = []
    for value in (0, 1):
        side = scores[(truth == bool(value)) & ~np.isnan(scores)]
        if len(side):
            low, quarter, middle, three, high = np.quantile(side, [0, 0.25, 0.5, 0.75, 1]).tolist()
            found.append(ScoreSpread(value, len(side), low, quarter, middle, three, high))
    return tuple(found)


def _by_case(part: Part, jury: str) -> tuple[list[str], list[str], Floats]:
    """Each case, its patient, and the jury's mean score over the answers to it; NaN where it scored none."""
    score = part.scores(jury)
    items, places = np.unique(part.grid.items, return_inverse=True)
    known = ~np.isnan(score)
    total = np.bincount(places[known], weights=score[known], minlength=len(items))
    count = np.bincount(places[known], minlength=len(items))
    mean = np.full(len(items), np.nan)
    np.divide(total, count, out=mean, where=count > 0)
    first = dict(zip(part.grid.items, part.grid.clusters, strict=True))
    names = [str(item) for item in items]
    return names, [str(first[item]) for item in items], mean
