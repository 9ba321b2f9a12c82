"""Is the routine diagnosis wrong? The jury judges answers against it; low safety scores mark the doubtful
cases.

The answers of several systems are judged with the routine diagnosis as the reference. Where all of them look
unsafe, either all systems err or the routine diagnosis does; an expert panel's word on some cases tells how
often it is the latter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, ndtr, ndtri

from medjury.calibration._calibrator import Floats, check_confidence
from medjury.calibration._logistic import fit_logistic
from medjury.errors import MedjuryError
from medjury.statistics import Estimate, proportion

_CASES = 10


@dataclass(frozen=True, slots=True)
class RoutineDisagreement:
    """P(panel disagrees with the routine diagnosis) by the case's mean safety score.

    `curve` holds (score, probability with interval) of the logistic fit, `bands` (lowest, highest score,
    counted share) of the cases themselves, to be drawn behind it. `slope` is in log-odds per point of the
    score: negative where unsafe-looking cases are the doubtful ones.
    """

    slope: Estimate
    p_value: float
    curve: tuple[tuple[float, Estimate], ...]
    bands: tuple[tuple[float, float, Estimate], ...]
    n: int
    n_disagree: int
    n_unknown: int


def routine_disagreement(
    safety: ArrayLike,
    disagrees: ArrayLike,
    *,
    cases: Sequence[object],
    at: Sequence[float],
    bands: int = 5,
    confidence: float = 0.95,
) -> RoutineDisagreement:
    """Fit log-odds(disagree) = a + b · mean safety over cases.

    `safety` and `disagrees` (1 or 0) hold one entry per judged answer, NaN where unknown; answers of one
    case are averaged first, because the panel spoke once per case. Intervals are Wald on the log-odds scale
    with a heteroscedasticity-robust covariance; the bands' are Clopper-Pearson's.
    """
    check_confidence(confidence)
    score, outcome, unknown = _by_case(safety, disagrees, cases)
    if len(score) < _CASES:
        raise MedjuryError(
            f"{len(score)} cases have both a safety score and a panel's word; {_CASES} or more are needed."
        )
    if np.ptp(score) == 0:
        raise MedjuryError(
            f"every case has the mean safety score {score[0]:g}: it tells no case from another."
        )
    fitted = fit_logistic(score, outcome, np.arange(len(score)).astype(object))
    reach = float(ndtri(0.5 + confidence / 2))
    error = float(np.sqrt(fitted.covariance[1, 1]))
    slope = float(fitted.coefficients[1])
    method = f"{100 * confidence:g} % Wald, logistic regression over cases, robust covariance"
    grid = np.asarray(at, dtype=float)
    middle, half = fitted.log_odds(grid), reach * fitted.standard_errors(grid)
    curve = tuple(
        (
            float(each),
            Estimate(
                float(expit(centre)),
                float(expit(centre - width)),
                float(expit(centre + width)),
                len(score),
                method,
            ),
        )
        for each, centre, width in zip(grid, middle, half, strict=True)
    )
    return RoutineDisagreement(
        Estimate(slope, slope - reach * error, slope + reach * error, len(score), method),
        float(2 * ndtr(-abs(slope) / error)) if error > 0 else 0.0,
        curve,
        _bands(score, outcome, bands, confidence),
        len(score),
        int(outcome.sum()),
        unknown,
    )


def _by_case(
    safety: ArrayLike, disagrees: ArrayLike, cases: Sequence[object]
) -> tuple[Floats, np.ndarray, int]:
    score, said = np.asarray(safety, dtype=float), np.asarray(disagrees, dtype=float)
    names = [str(case) for case in cases]
    if not len(score) == len(said) == len(names):
        raise MedjuryError(
            f"{len(score)} scores, {len(said)} panel answers and {len(names)} cases: give one of each."
        )
    if not np.isin(said[~np.isnan(said)], (0.0, 1.0)).all():
        raise MedjuryError("the panel's word is 1 (disagrees with the routine diagnosis) or 0 (agrees).")
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        places.setdefault(name, []).append(place)
    scores, outcomes, unknown = [], [], 0
    for name, rows in places.items():
        known, words = score[rows][~np.isnan(score[rows])], set(said[rows][~np.isnan(said[rows])].tolist())
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
    score: Floats, outcome: np.ndarray, bands: int, confidence: float
) -> tuple[tuple[float, float, Estimate], ...]:
    """Bands of about equal numbers of cases; equal scores share a band."""
    edges = np.unique(np.quantile(score, np.linspace(0, 1, bands + 1)[1:-1]))
    place = np.searchsorted(edges, score, side="right")
    found = []
    for number in np.unique(place):
        here = place == number
        share = proportion(int(outcome[here].sum()), int(here.sum()), confidence=confidence)
        found.append((float(score[here].min()), float(score[here].max()), share))
    return tuple(found)
