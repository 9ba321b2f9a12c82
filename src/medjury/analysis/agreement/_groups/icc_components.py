"""Variance components of items and raters from every cell, for tables with holes."""

from __future__ import annotations

from typing import Any

import numpy as np

from medjury.analysis.agreement._groups.mean_squares import MeanSquares
from medjury.statistics import Floats

Components = tuple[float, float, float]
_STARTS = ((1.0, 1.0), (0.1, 3.0), (3.0, 0.1))


def all_cells_mean_squares(scores: Floats) -> MeanSquares:
    """Mean squares that a complete table with the same variance components would have."""
    n, k = scores.shape
    item, rater, error = variance_components(scores)
    return MeanSquares(
        items=np.array([k * item + error]),
        raters=np.array([n * rater + error]),
        error=np.array([error]),
        within=np.array([error + rater]),
        n=np.array([float(n)]),
        k=k,
    )


def variance_components(scores: Floats) -> Components:
    """Variances of items, raters and error, from every cell that is there.

    x = μ + item + rater + error with both effects random and crossed, fitted by restricted maximum likelihood
    (Patterson & Thompson 1971, Biometrika 58:545-554) to all cells present; on a complete table with positive
    components this is the analysis of variance. The item effects are absorbed, so a fit costs items × raters² and
    no matrix of all cells is made.
    """
    from scipy.optimize import minimize

    present = ~np.isnan(scores)
    k = scores.shape[1]
    mean, spread = float(np.nanmean(scores)), float(np.nanstd(scores)) or 1.0
    cells = np.where(present, (np.nan_to_num(scores) - mean) / spread, 0.0)
    mask = present.astype(np.float64)
    by_item, by_rater = cells.sum(axis=1), cells.sum(axis=0)
    size_item, size_rater, size = mask.sum(axis=1), mask.sum(axis=0), float(mask.sum())
    squares = float((cells**2).sum())

    def fit(roots: Floats) -> tuple[float, float]:
        """Deviance and error variance at given ratios of standard deviations, item and rater to error."""
        item, rater = float(roots[0]), float(roots[1])
        absorbed = item**2 * size_item + 1.0
        link = np.vstack([item * rater * mask.T, item * size_item])
        block = np.zeros((k + 1, k + 1))
        block[:k, :k] = np.diag(rater**2 * size_rater + 1.0)
        block[:k, k] = block[k, :k] = rater * size_rater
        block[k, k] = size
        left = block - (link / absorbed) @ link.T
        right = np.append(rater * by_rater, by_rater.sum()) - (link / absorbed) @ (item * by_item)
        explained = float(item**2 * (by_item**2 / absorbed).sum()) + float(
            right @ np.linalg.solve(left, right)
        )
        error = max(squares - explained, np.finfo(float).tiny) / (size - 1.0)
        log_determinant = float(np.log(absorbed).sum()) + float(np.linalg.slogdet(left)[1])
        return log_determinant + (size - 1.0) * float(np.log(error)), error

    def deviance(roots: Floats, *_: Any, **__: Any) -> float:
        return fit(roots)[0]

    def search(start: tuple[float, float]) -> tuple[float, Floats]:
        options: Any = {"xatol": 1e-11, "fatol": 1e-11}
        bounds = [(0.0, 1e4), (0.0, 1e4)]
        result = minimize(deviance, np.array(start), method="Nelder-Mead", bounds=bounds, options=options)
        return float(result.fun), np.asarray(result.x, dtype=np.float64)

    _, best = min(map(search, _STARTS), key=lambda found: found[0])
    error = fit(best)[1] * spread**2
    return float(best[0]) ** 2 * error, float(best[1]) ** 2 * error, error
