"""Intraclass correlation where every rater scored some of the items: a mixed model of items and raters.

x = μ + item + rater + error, items and raters random and crossed, fitted by restricted maximum likelihood to every
score there is. With the variances s_item, s_rater and s_error

    icc_1_1 = icc_2_1 = s_item / (s_item + s_rater + s_error)     icc_3_1 = s_item / (s_item + s_error)

and icc_x_k is the reliability of the mean of as many raters as an item typically has (the harmonic mean), by
Spearman-Brown. On a complete table these are the ICCs of the two-way analysis of variance; icc_1_1, which has an
analysis of its own there, is the same ratio as icc_2_1 here.

The interval is a jackknife over groups of clusters with Student's t on the scale of artanh(icc): it resamples items
with all their raters, and takes neither normal scores nor a complete table for granted. Raters are these raters.
McGraw & Wong (1996) Psychol Methods 1:30-46; Tukey (1958) Ann Math Stat 29:614.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from medjury.analysis.agreement._groups.icc import FORMS, IccForm
from medjury.analysis.agreement._groups.icc_components import Components, variance_components
from medjury.statistics import Clusters, Estimate, Floats, Scores, read_scores, undefined

# Variance components with groups of items left out: all fits of a jackknife in one go.
#
# The model is that of `variance_components`. Its deviance is a smooth function of two ratios, u of items' and v of
# raters' to error variance, from zero up, and left-out fits lie close to that of all items. So Newton's method
# finds them in a few steps, side by side, with derivatives from differences on the upper side (where a ratio is
# zero there is no other side). What does not settle is fitted alone.

_STEPS, _HALVINGS = 25, 6
_APART, _SETTLED = 1e-3, 1e-6
# Where the deviance is asked for around a point, in steps of each ratio.
_AROUND = np.array([[0, 0], [1, 0], [2, 0], [0, 1], [0, 2], [1, 1]], dtype=np.float64)


def components_without(
    scores: Floats, groups: list[NDArray[np.bool_]], whole: Components
) -> tuple[Components, ...]:
    """The variances of items, raters and error without each of these groups of items."""
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


# Fewer doubly scored items than this say nothing of the variances.
FEWEST_DOUBLY = 10
_GROUPS = 30


@dataclass(frozen=True, slots=True)
class _Fit:
    """The components of the whole table and with each group of clusters left out."""

    whole: Components
    without: tuple[Components, ...]
    raters_per_item: float
    n: int
    note: str


def mixed_model_icc(
    scores: Scores,
    forms: Sequence[IccForm] = FORMS,
    *,
    clusters: Clusters = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> dict[str, Estimate]:
    """ICCs of a table of items by raters with gaps; undefined, with the reason, where the design cannot tell.

    >>> table = [[9, 2, None, 8], [6, None, 3, 2], [8, 4, 6, None], [None, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> mixed_model_icc(table * 2, ["icc_2_1"])["icc_2_1"].n
    12
    """
    table = read_scores(scores, None, 2)
    several = (~np.isnan(table)).sum(axis=1) >= 2
    rated = ~np.isnan(table).all(axis=1)
    method, n = "mixed model of items and raters (REML)", int(rated.sum())
    reason = _why_not(table, several)
    if reason:
        return {form: undefined(reason, n, method) for form in forms}
    cases = (
        np.arange(len(table)) if clusters is None else np.unique(np.asarray(clusters), return_inverse=True)[1]
    )
    fit = _fit(table[rated], cases[rated], seed)
    found: dict[str, Estimate] = {}
    for form in forms:
        estimate = _single(fit, form, confidence, method)
        found[form] = _stepped_up(estimate, fit.raters_per_item) if form.endswith("_k") else estimate
    return found


def _why_not(table: Floats, several: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> str:
    doubly = int(several.sum())
    if table.ndim < 2 or table.shape[1] < 2:
        return "there are fewer than two raters"
    if doubly < FEWEST_DOUBLY:
        return f"{doubly} items were scored by two raters or more, and the mixed model needs {FEWEST_DOUBLY}"
    if np.nanmax(table) == np.nanmin(table):
        return "every score is the same"
    return ""


def _fit(table: Floats, cases: np.ndarray[tuple[int], np.dtype[np.int64]], seed: int) -> _Fit:
    whole = variance_components(table)
    names = np.unique(cases)
    np.random.default_rng(seed).shuffle(names)
    groups = np.array_split(names, min(_GROUPS, len(names)))
    without = components_without(table, [np.isin(cases, group) for group in groups], whole)
    size = (~np.isnan(table)).sum(axis=1)
    islands = _unconnected(table)
    note = f"; raters fall into {islands} groups that share no item" if islands > 1 else ""
    return _Fit(whole, without, float(len(size) / (1.0 / size).sum()), len(table), note)


def _single(fit: _Fit, form: IccForm, confidence: float, method: str) -> Estimate:
    value = _ratio(fit.whole, form)
    method += fit.note
    if value is None:
        return undefined("the items do not differ", fit.n, method)
    known = [each for part in fit.without if (each := _ratio(part, form)) is not None]
    groups = len(fit.without)
    if len(known) < groups or groups < FEWEST_DOUBLY or not 0.0 < value < 1.0:
        return Estimate(value, None, None, fit.n, f"no interval: too few or too uniform data; {method}")
    turned = np.arctanh(np.clip(known, 0.0, 1.0 - 1e-9))
    error = float(np.sqrt((groups - 1.0) / groups * ((turned - turned.mean()) ** 2).sum()))
    half = float(special.stdtrit(groups - 1, 0.5 + confidence / 2.0)) * error
    low, high = (float(np.tanh(np.arctanh(value) + sign * half)) for sign in (-1.0, 1.0))
    named = (
        f"{100 * confidence:g} % jackknife t interval of artanh(ICC), {groups} groups of clusters; {method}"
    )
    return Estimate(value, max(low, 0.0), high, fit.n, named)


def _ratio(components: Components, form: IccForm) -> float | None:
    item, rater, error = components
    total = item + error + (0.0 if form.startswith("icc_3") else rater)
    return item / total if item > 1e-9 * total else None


def _stepped_up(single: Estimate, raters: float) -> Estimate:
    def step(value: float | None) -> float | None:
        return None if value is None else raters * value / (1.0 + (raters - 1.0) * value)

    return Estimate(
        step(single.value),
        step(single.low),
        step(single.high),
        single.n,
        f"{single.method}; of the mean of {raters:.3g} raters, as many as an item has",
        single.reason,
    )


def _unconnected(table: Floats) -> int:
    """In how many groups of raters nobody shares an item with a rater of another group."""
    present = (~np.isnan(table[:, (~np.isnan(table)).any(axis=0)])).astype(np.float64)
    reach = (present.T @ present) > 0
    for _ in range(len(reach)):
        further = (reach.astype(np.float64) @ reach) > 0
        if (further == reach).all():
            break
        reach = further
    return len(np.unique(reach, axis=0))
