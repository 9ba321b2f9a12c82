"""Variances of items, raters and error in a table with holes, by restricted maximum likelihood.

x = μ + item + rater + error, items and raters random and crossed (Patterson & Thompson 1971, Biometrika
58:545-554). There may be thousands of items, far too many for a column each, so their effects are absorbed: a
fit costs items × raters² and no matrix of all cells is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medjury.statistics import Floats

Components = tuple[float, float, float]
_STARTS = ((1.0, 1.0), (0.1, 3.0), (3.0, 0.1))
_STEPS, _HALVINGS = 25, 6
_APART, _SETTLED = 1e-3, 1e-6
# Where the deviance is asked for around a point, in steps of each ratio.
_AROUND = np.array([[0, 0], [1, 0], [2, 0], [0, 1], [0, 2], [1, 1]], dtype=np.float64)


def variance_components(scores: Floats) -> Components:
    """Variances of items, raters and error, from every cell that is there.

    On a complete table with positive components this is the analysis of variance. Searched from three starts.
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


# Variance components with groups of items left out: all fits of a jackknife in one go.
#
# The model is that of `variance_components`. Its deviance is a smooth function of two ratios, u of items' and
# v of raters' to error variance, from zero up, and left-out fits lie close to that of all items. So Newton's
# method finds them in a few steps, side by side, with derivatives from differences on the upper side (where a
# ratio is zero there is no other side). What does not settle is fitted alone.


def components_without(
    scores: Floats, groups: Sequence[NDArray[np.bool_]], whole: Components
) -> tuple[Components, ...]:
    """The variances of items, raters and error without each of these groups of items, beside those of the
    `whole`."""
    if whole[2] <= 0:
        return tuple(variance_components(scores[~group]) for group in groups)
    table = _Table(scores, ~np.array(groups))
    least = np.array([1.0 / (1.0 + table.by_item.mean()), 1.0 / (1.0 + table.by_rater.mean())])
    start = np.array([whole[0], whole[1]]) / whole[2]
    ratios = np.tile(start, (len(groups), 1))
    settled = np.zeros(len(groups), dtype=bool)
    for _ in range(_STEPS):
        open_ = np.flatnonzero(~settled)
        if not open_.size:
            break
        here = ratios[open_]
        moved, now = _newton(table, open_, here, least)
        moved = _downhill(table, open_, here, moved, now)
        settled[open_] = (np.abs(moved - here) <= _SETTLED * (here + least)).all(axis=1)
        ratios[open_] = moved
    errors = table.fit(np.arange(len(groups)), ratios)[1] * table.spread**2
    return tuple(
        (float(u * error), float(v * error), float(error))
        if done and np.isfinite(error)
        else variance_components(scores[~group])
        for (u, v), error, done, group in zip(ratios, errors, settled, groups, strict=True)
    )


class _Table:
    """The scores, standardised, and in each fit the items that are `kept`."""

    def __init__(self, scores: Floats, kept: NDArray[np.bool_]) -> None:
        present = ~np.isnan(scores)
        self.spread = float(np.nanstd(scores)) or 1.0
        cells = np.where(present, (np.nan_to_num(scores) - np.nanmean(scores)) / self.spread, 0.0)
        self.mask, self.kept = present.astype(np.float64), kept.astype(np.float64)
        self.sums, self.by_item = cells.sum(axis=1), self.mask.sum(axis=1)
        self.by_rater, self.rater_sums = self.kept @ self.mask, self.kept @ cells
        self.size, self.squares = self.kept @ self.by_item, self.kept @ (cells**2).sum(axis=1)

    def fit(self, which: NDArray[np.int64], ratios: Floats) -> tuple[Floats, Floats]:
        """Deviance and error variance of these fits at these ratios. The item effects are absorbed; rows of
        raters are multiplied, and columns divided, by √v, so that zero is a ratio like any other."""
        u, v = ratios.T
        absorbed = u[:, np.newaxis] * self.by_item + 1.0
        weight = self.kept[which] / absorbed
        k = self.mask.shape[1]
        both = np.stack([(self.mask * each[:, np.newaxis]).T @ self.mask for each in weight])
        linked = self.by_rater[which] - u[:, np.newaxis] * ((weight * self.by_item) @ self.mask)
        left = np.empty((len(u), k + 1, k + 1))
        left[:, :k, :k] = -(u * v)[:, np.newaxis, np.newaxis] * both
        diagonal = np.arange(k)
        left[:, diagonal, diagonal] += 1.0 + v[:, np.newaxis] * self.by_rater[which]
        left[:, :k, k], left[:, k, :k] = v[:, np.newaxis] * linked, linked
        left[:, k, k] = self.size[which] - u * (weight @ self.by_item**2)
        right = self.rater_sums[which] - u[:, np.newaxis] * ((weight * self.sums) @ self.mask)
        whole = self.rater_sums[which].sum(axis=1) - u * (weight @ (self.by_item * self.sums))
        above = np.column_stack([right, whole])
        solved = np.linalg.solve(left, np.column_stack([v[:, np.newaxis] * right, whole])[..., np.newaxis])
        explained = u * (weight @ self.sums**2) + (above * solved[..., 0]).sum(axis=1)
        free = self.size[which] - 1.0
        error = np.maximum(self.squares[which] - explained, np.finfo(float).tiny) / free
        logarithms = (self.kept[which] * np.log(absorbed)).sum(axis=1) + np.linalg.slogdet(left)[1]
        return logarithms + free * np.log(error), error


def _newton(table: _Table, which: NDArray[np.int64], here: Floats, least: Floats) -> tuple[Floats, Floats]:
    """Where Newton's step leads, not below zero, and the deviance here."""
    apart = _APART * (here + least)
    points = here[:, np.newaxis] + _AROUND * apart[:, np.newaxis]
    found = table.fit(np.repeat(which, len(_AROUND)), points.reshape(-1, 2))[0].reshape(-1, len(_AROUND))
    now, one, far, other, further, both = found.T
    slope = np.column_stack([4 * one - 3 * now - far, 4 * other - 3 * now - further]) / (2 * apart)
    bend = np.column_stack([now - 2 * one + far, now - 2 * other + further]) / apart**2
    mixed = (both - one - other + now) / apart.prod(axis=1)
    held = (here <= 0) & (slope > 0)
    mixed = np.where(held.any(axis=1), 0.0, mixed)
    determinant = bend.prod(axis=1) - mixed**2
    curved = np.asarray((bend > 0).all(axis=1) & (determinant > 0) & ~held.any(axis=1))
    steps = -slope / np.where(np.abs(bend) > 0, np.abs(bend), 1.0)
    together = (mixed[:, np.newaxis] * slope[:, ::-1] - bend[:, ::-1] * slope) / np.where(
        curved, determinant, 1.0
    )[:, np.newaxis]
    steps = np.where(curved[:, np.newaxis], together, steps)
    reach = 2.0 * (here + least)
    return np.maximum(here + np.where(held, 0.0, np.clip(steps, -reach, reach)), 0.0), now


def _downhill(table: _Table, which: NDArray[np.int64], here: Floats, moved: Floats, now: Floats) -> Floats:
    """The step, halved until the deviance does not rise."""
    for _ in range(_HALVINGS):
        rises = np.flatnonzero(table.fit(which, moved)[0] > now + 1e-10 * np.abs(now))
        if not rises.size:
            break
        moved[rises] = (moved[rises] + here[rises]) / 2.0
    return moved
