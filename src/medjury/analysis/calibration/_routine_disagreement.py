"""Is the routine diagnosis wrong? The jury judges answers against it; low safety scores mark the doubtful
cases.

The answers of several systems are judged with the routine diagnosis as the reference. Where all of them look
unsafe, either all systems err or the routine diagnosis does; an expert panel's word on some cases tells how
often it is the latter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from medjury.analysis.calibration._logistic import fit_logistic, with_intercept
from medjury.analysis.calibration._maps import check_confidence
from medjury.analysis.calibration._part import Part, judging_roles, jury_of, one_dimension, oriented_part
from medjury.analysis.calibration._review_curve import ReviewCurve, review_curves
from medjury.analysis.calibration._written import as_json
from medjury.foundation.errors import MedjuryError
from medjury.statistics import (
    Estimate,
    Floats,
    Printable,
    Result,
    Row,
    counted_share,
    ends,
    flat,
    p_value,
    percent,
    shown,
)
from medjury.tables import Names, RatingTable, rating_table

_CASES, _BANDS = 10, 5


@dataclass(frozen=True, slots=True)
class DisagreementRow(Row):
    """The probability of disagreement at one mean score."""

    score: float
    probability: Estimate


@dataclass(frozen=True, eq=False)
class RoutineDisagreement(Result[DisagreementRow]):
    """P(panel disagrees with the routine diagnosis) by the case's mean safety score.

    The `rows` are the curve of the logistic fit, `bands` (lowest, highest score,
    counted share) of the cases themselves, to be drawn behind it. `slope` is in log-odds per point of the
    score: negative where unsafe-looking cases are the doubtful ones.
    """

    slope: Estimate
    p_value: float
    rows: tuple[DisagreementRow, ...]
    bands: tuple[tuple[float, float, Estimate], ...]
    n: int
    n_disagree: int
    n_unknown: int
    warnings: tuple[str, ...] = ()

    def to_json(self) -> str:
        return as_json(
            {
                **flat(self, "slope", "p_value", "n", "n_disagree", "n_unknown"),
                "curve": [row.as_dict() for row in self.rows],
                "bands": [
                    {"lowest": low, "highest": high, **ends(share, "share"), "n": share.n}
                    for low, high, share in self.bands
                ],
                "method": self.slope.method,
            }
        )

    def text(self) -> str:
        return (
            f"Panel disagrees with the routine diagnosis in {self.n_disagree} of {self.n} cases.\n"
            f"Log-odds per point of the mean score: {shown(self.slope)}, p-value {p_value(self.p_value)}\n\n"
            + super().text()
        )

    def shown_rows(self) -> Sequence[Mapping[str, Printable]]:
        return [{"mean score": f"{row.score:.1f}", "P(disagrees)": row.probability} for row in self.rows[::5]]


def routine_disagreement(
    table: object,
    *,
    routine: str,
    raters: Names | None = None,
    reference: Names | None = None,
    dimensions: Names | None = None,
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
    high_is_dangerous: bool | None = None,
) -> RoutineDisagreement:
    """The panel's disagreement with the routine diagnosis by mean safety, from a rating table.

    Judges scored one dimension of every system's answer against the routine diagnosis; the reference raters
    wrote 1 (disagree) or 0 (agree) under `routine`, once per item, for whichever system. These intervals need no
    resampling: `resamples` and `seed` are taken, as by every analysis, and change nothing.
    """
    table = rating_table(table)
    roles = judging_roles(table, raters, reference)
    word = _panel_word(table, routine, roles.reference)
    dimension = one_dimension(table, dimensions, but=routine)
    part, _ = oriented_part(table, roles, dimension, high_is_dangerous)
    disagrees = [word.get(item, np.nan) for item in part.grid.items.tolist()]
    return disagreement_curve(
        part.scores(jury_of(roles)),
        disagrees,
        cases=part.grid.items.tolist(),
        at=np.linspace(*part.scale, 41).tolist(),
        confidence=confidence,
        warnings=table.warnings,
    )


def _panel_word(table: RatingTable, routine: str, panel: Sequence[str]) -> dict[str, float]:
    """What the panel wrote of each item."""
    import polars as pl

    stated = table.rows.filter(
        (pl.col("dimension") == routine) & pl.col("rater").is_in(list(panel)) & pl.col("score").is_not_null()
    )
    if not stated.height:
        raise MedjuryError(f"no rater of {', '.join(panel)} has a score under {routine!r}.")
    words = stated.group_by("item").agg(pl.col("score").unique()).sort("item")
    split = words.filter(pl.col("score").list.len() > 1)
    if split.height:
        raise MedjuryError(
            f"item {split['item'][0]!r}: the panel both agrees and disagrees with the routine diagnosis; "
            "keep its final word."
        )
    return {item: scores[0] for item, scores in words.iter_rows()}


def disagreement_curve(
    safety: ArrayLike,
    disagrees: ArrayLike,
    *,
    cases: Sequence[object],
    at: Sequence[float],
    confidence: float = 0.95,
    warnings: tuple[str, ...] = (),
) -> RoutineDisagreement:
    """Fit log-odds(disagree) = a + b · mean safety over cases.

    `safety` and `disagrees` (1 or 0) hold one entry per judged answer, NaN where unknown; answers of one
    case are averaged first, because the panel spoke once per case. Intervals are Wald on the log-odds scale
    (Student's t, on two degrees of freedom less than there are cases) with a heteroscedasticity-robust covariance;
    the bands' are Wilson's.
    """
    check_confidence(confidence)
    score, outcome, unknown = _by_case(safety, disagrees, cases)
    if len(score) < _CASES:
        raise MedjuryError(
            f"{len(score)} cases have both a safety score and a panel's word; {_CASES} or more are needed."
        )
    if np.ptp(score) == 0:
        raise MedjuryError(
            f"every case has the mean safety score {score[0]:g}: it does not separate the cases."
        )
    coefficients, covariance = fit_logistic(score, outcome, np.arange(len(score)).astype(object))
    freedom = len(score) - 2
    reach = float(special.stdtrit(freedom, 0.5 + confidence / 2))
    error = float(np.sqrt(covariance[1, 1]))
    slope = float(coefficients[1])
    method = (
        f"{100 * confidence:g} % Wald, Student t with {freedom} df, logistic regression over cases, robust "
        "covariance"
    )
    grid = np.asarray(at, dtype=float)
    design = with_intercept(grid)
    middle = np.asarray(design @ coefficients)
    half = reach * np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", design, covariance, design), 0.0))
    curve = tuple(
        DisagreementRow(
            float(each),
            Estimate(
                float(special.expit(centre)),
                float(special.expit(centre - width)),
                float(special.expit(centre + width)),
                len(score),
                method,
            ),
        )
        for each, centre, width in zip(grid, middle, half, strict=True)
    )
    return RoutineDisagreement(
        Estimate(slope, slope - reach * error, slope + reach * error, len(score), method),
        float(2 * special.stdtr(freedom, -abs(slope) / error)) if error > 0 else 0.0,
        curve,
        _bands(score, outcome, confidence),
        len(score),
        int(outcome.sum()),
        unknown,
        warnings,
    )


def _by_case(
    safety: ArrayLike, disagrees: ArrayLike, cases: Sequence[object]
) -> tuple[Floats, np.ndarray, int]:
    score, stated = np.asarray(safety, dtype=float), np.asarray(disagrees, dtype=float)
    names = [str(case) for case in cases]
    if not len(score) == len(stated) == len(names):
        raise MedjuryError(
            f"{len(score)} scores, {len(stated)} panel answers and {len(names)} cases: give one of each."
        )
    if not np.isin(stated[~np.isnan(stated)], (0.0, 1.0)).all():
        raise MedjuryError("the panel's word is 1 (disagrees with the routine diagnosis) or 0 (agrees).")
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        places.setdefault(name, []).append(place)
    scores, outcomes, unknown = [], [], 0
    for name, rows in places.items():
        known, words = (
            score[rows][~np.isnan(score[rows])],
            set(stated[rows][~np.isnan(stated[rows])].tolist()),
        )
        if len(words) > 1:
            raise MedjuryError(
                f"case {name!r}: the panel both agrees and disagrees with the routine diagnosis."
            )
        if not len(known) or not words:
            unknown += 1
            continue
        scores.append(float(known.mean()))
        outcomes.append(words == {1.0})
    return np.array(scores), np.array(outcomes, dtype=bool), unknown


def _bands(
    score: Floats, outcome: np.ndarray, confidence: float
) -> tuple[tuple[float, float, Estimate], ...]:
    """Bands of about equal numbers of cases; equal scores share a band."""
    edges = np.unique(np.quantile(score, np.linspace(0, 1, _BANDS + 1)[1:-1]))
    place = np.searchsorted(edges, score, side="right")
    found = []
    for number in np.unique(place):
        here = place == number
        share = counted_share(outcome[here], confidence=confidence)
        found.append((float(score[here].min()), float(score[here].max()), share))
    return tuple(found)


# Triage by what is known of the cases: does the jury's score find those whose routine diagnosis was wrong?
#
# A label says 0 or 1 of a case, whatever was answered to it. The jury's mean score over all answers to a case is
# the signal: where every system looks unsafe, the yardstick itself may be wrong. Reviewing the lowest-scored cases
# first, how many of the labelled ones are found?


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
    items, clusters, score = _case_means(part, jury)
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


def _case_means(part: Part, jury: str) -> tuple[list[str], list[str], Floats]:
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
