"""Logistic regression with cluster-robust errors: a small Newton fit, enough for a handful of columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from medjury.foundation.errors import MedjuryError
from medjury.statistics import Floats

_STEPS = 100
# A slope known no better than this, in log-odds per standard deviation of its column, is known not at all.
_UNKNOWN = 50.0


def fit_logistic(
    table: Floats, outcome: NDArray[np.bool_], clusters: NDArray[np.object_], *, ridge: float = 0.0
) -> tuple[Floats, Floats]:
    """Coefficients (intercept first) and their covariance, robust to dependence within clusters: maximum likelihood
    by Newton's method; `ridge` adds ½·ridge·(slopes)² for columns that are standardised.

    The covariance is the sandwich H⁻¹ (Σ_g s_g s_gᵀ) H⁻¹ · G/(G − 1) over clusters g. Perfect separation, in
    which no finite estimate exists, is refused.
    """
    design, y = with_intercept(table), outcome.astype(float)
    if y.min() == y.max():
        raise MedjuryError("every outcome is the same: there is nothing a logistic fit could tell apart.")
    penalty = np.diag([0.0] + [ridge] * (design.shape[1] - 1))
    beta = np.zeros(design.shape[1])
    converged = False
    for _ in range(_STEPS):
        share, curvature = _curvature(design, beta, penalty)
        slope = design.T @ (y - share) - penalty @ beta
        step = np.linalg.lstsq(curvature, slope, rcond=None)[0]
        now = _objective(design, y, penalty, beta)
        # Half steps while the likelihood falls: far from its top Newton may leap over it.
        while np.abs(step).max() > 1e-12 and _objective(design, y, penalty, beta + step) < now - 1e-9:
            step = step / 2
        beta = beta + step
        converged = bool(np.abs(step).max() < 1e-9)
        if converged:
            break
    share, curvature = _curvature(design, beta, penalty)
    inverse = np.linalg.pinv(curvature)
    spread = design.std(axis=0)
    size = np.where(spread > 1e-12, spread, 1.0)  # the intercept, or a signal that never changes
    vague = np.linalg.eigvalsh(curvature / np.outer(size, size)).min() < 1 / _UNKNOWN**2
    if not converged or vague or _objective(design, y, np.zeros_like(penalty), beta) > -1e-6:
        raise MedjuryError(
            "the score separates the two outcomes perfectly, so a logistic slope does not exist; "
            "more cases, or cases nearer to the boundary, would help."
        )
    _, codes = np.unique(clusters.astype(str), return_inverse=True)
    groups = int(codes.max()) + 1
    scores = design * (y - share)[:, np.newaxis]
    sums = np.column_stack([np.bincount(codes, column, groups) for column in scores.T])
    covariance = inverse @ (sums.T @ sums) @ inverse * (groups / max(groups - 1, 1))
    return beta, covariance


def _curvature(design: Floats, beta: Floats, penalty: Floats) -> tuple[Floats, Floats]:
    share = special.expit(design @ beta)
    return share, (design * (share * (1 - share))[:, np.newaxis]).T @ design + penalty


def _objective(design: Floats, y: Floats, penalty: Floats, beta: Floats) -> float:
    predictor = design @ beta
    return float(y @ predictor - np.logaddexp(0, predictor).sum() - beta @ penalty @ beta / 2)


def with_intercept(table: Floats) -> Floats:
    """The columns behind one of ones."""
    columns = np.asarray(table, dtype=float)
    if columns.ndim == 1:
        columns = columns[:, np.newaxis]
    return np.column_stack([np.ones(len(columns)), columns])
