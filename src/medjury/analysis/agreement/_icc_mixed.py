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
from dataclasses import replace

import numpy as np
from scipy import special

from medjury.analysis.agreement._icc import FORMS, IccForm
from medjury.analysis.agreement._scores import Scores, read_scores
from medjury.analysis.agreement._variance_components import components_without, variance_components
from medjury.statistics import (
    Clusters,
    Estimate,
    Floats,
    undefined,
)

# Fewer doubly scored items than this say nothing of the variances.
FEWEST_DOUBLY = 10
_GROUPS = 30


Components = tuple[float, float, float]


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
    present = table[rated]
    whole, without = _components(present, cases[rated], seed)
    islands = _unconnected(present)
    method += f"; raters fall into {islands} groups that share no item" if islands > 1 else ""
    size = (~np.isnan(present)).sum(axis=1)
    raters_per_item = float(len(size) / (1.0 / size).sum())
    found: dict[str, Estimate] = {}
    for form in forms:
        estimate = _single(whole, without, form, confidence, n, method)
        found[form] = _stepped_up(estimate, raters_per_item) if form.endswith("_k") else estimate
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


def _components(
    table: Floats, cases: np.ndarray[tuple[int], np.dtype[np.int64]], seed: int
) -> tuple[Components, tuple[Components, ...]]:
    """Those of the whole table, and with each group of clusters left out."""
    whole = variance_components(table)
    names = np.unique(cases)
    np.random.default_rng(seed).shuffle(names)
    groups = np.array_split(names, min(_GROUPS, len(names)))
    return whole, components_without(table, [np.isin(cases, group) for group in groups], whole)


def _single(
    whole: Components,
    without: tuple[Components, ...],
    form: IccForm,
    confidence: float,
    n: int,
    method: str,
) -> Estimate:
    value = _ratio(whole, form)
    if value is None:
        return undefined("the items do not differ", n, method)
    known = [each for part in without if (each := _ratio(part, form)) is not None]
    groups = len(without)
    if len(known) < groups or groups < FEWEST_DOUBLY or not 0.0 < value < 1.0:
        return Estimate(value, None, None, n, f"no interval: too few or too uniform data; {method}")
    turned = np.arctanh(np.clip(known, 0.0, 1.0 - 1e-9))
    error = float(np.sqrt((groups - 1.0) / groups * ((turned - turned.mean()) ** 2).sum()))
    half = float(special.stdtrit(groups - 1, 0.5 + confidence / 2.0)) * error
    low, high = (float(np.tanh(np.arctanh(value) + sign * half)) for sign in (-1.0, 1.0))
    named = (
        f"{100 * confidence:g} % jackknife t interval of artanh(ICC), {groups} groups of clusters; {method}"
    )
    return Estimate(value, max(low, 0.0), high, n, named)


def _ratio(components: Components, form: IccForm) -> float | None:
    item, rater, error = components
    total = item + error + (0.0 if form.startswith("icc_3") else rater)
    return item / total if item > 1e-9 * total else None


def _stepped_up(single: Estimate, raters: float) -> Estimate:
    def step(value: float | None) -> float | None:
        return None if value is None else raters * value / (1.0 + (raters - 1.0) * value)

    method = f"{single.method}; of the mean of {raters:.3g} raters, as many as an item has"
    return replace(
        single, value=step(single.value), low=step(single.low), high=step(single.high), method=method
    )


def _unconnected(table: Floats) -> int:
    """In how many groups of raters nobody shares an item with a rater of another group."""
    from scipy.sparse.csgraph import connected_components

    present = (~np.isnan(table[:, (~np.isnan(table)).any(axis=0)])).astype(np.float64)
    return int(connected_components(present.T @ present, directed=False)[0])
