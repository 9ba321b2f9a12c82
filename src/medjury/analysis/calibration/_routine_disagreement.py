"""Is the routine diagnosis wrong? The jury judges answers against it; low safety scores mark the doubtful
cases.

The answers of several systems are judged with the routine diagnosis as the reference. Where all of them look
unsafe, either all systems err or the routine diagnosis does; an expert panel's word on some cases tells how
often it is the latter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from medjury.analysis.calibration._logistic import fit_logistic
from medjury.analysis.calibration._maps import check_confidence
from medjury.analysis.calibration._part import judging_roles, jury_of, one_dimension, oriented_part
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
    fitted = fit_logistic(score, outcome, np.arange(len(score)).astype(object))
    freedom = len(score) - 2
    reach = float(special.stdtrit(freedom, 0.5 + confidence / 2))
    error = float(np.sqrt(fitted.covariance[1, 1]))
    slope = float(fitted.coefficients[1])
    method = (
        f"{100 * confidence:g} % Wald, Student t with {freedom} df, logistic regression over cases, robust "
        "covariance"
    )
    grid = np.asarray(at, dtype=float)
    middle, half = fitted.log_odds(grid), reach * fitted.standard_errors(grid)
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
