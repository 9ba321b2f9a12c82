"""Win rate: how often the jury is closer to the reference than a second panel, on the same resamples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from medjury.analysis.agreement._pair_statistics import two_rater_statistics
from medjury.analysis.agreement._scores import read_scores
from medjury.foundation.errors import MedjuryError
from medjury.statistics import (
    RESAMPLES,
    UNDEFINED_ALLOWED,
    Clusters,
    Estimate,
    Floats,
    combined,
    evaluate,
    on_columns,
    replicates,
    undefined,
)
from medjury.tables import Grades, grades_of

# What is compared, and the sign that makes "more" mean "closer to the reference".
METRICS: Mapping[str, int] = {"absolute_offset": -1, "rmse": -1, "spearman": 1, "kappa_quadratic": 1}
_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class WinRate:
    """One metric. `jury` and `panel` are its values on the data, `delta` their difference turned so that
    more is better for the jury, with the BCa-t interval (of offsets, and of given resamples, quantiles) unless too
    many of them were `dropped`; `rate` counts a tie as half a win."""

    metric: str
    jury: float
    panel: float
    delta: Estimate
    mean_delta: float
    rate: float
    strict_rate: float
    wins: int
    ties: int
    losses: int
    dropped: int


def win_rates(
    reference: ArrayLike,
    jury: ArrayLike,
    panel: ArrayLike,
    *,
    scale: Grades | Sequence[float],
    clusters: Clusters = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    confidence: float = 0.95,
    indices: ArrayLike | None = None,
) -> dict[str, WinRate | Estimate]:
    """Share of case-level resamples in which the jury beats the panel, by offset, RMSE, Spearman and kappa.

    Only items that all three scored count. Offsets are compared by absolute value; kappa is quadratic on
    the full scale with means rounded half up; both sides see the same resample, ties are counted, and
    resamples in which a metric does not exist are dropped and counted. Scores of a calibrated jury must be
    out of fold: a calibration that has seen the reference wins for that reason alone. `indices` gives the
    resamples, one a row. An undefined metric is an `Estimate` without a value that says why.

    >>> found = win_rates([1, 2, 3, 4, 5], [1, 2, 3, 4, 4], [2, 3, 4, 5, 5], scale=(1, 5), resamples=500)
    >>> found["rmse"].rate > 0.9
    True
    """
    grades = grades_of(scale)
    columns = [read_scores(side, None, 1) for side in (reference, jury, panel)]
    if len({len(column) for column in columns}) != 1:
        raise MedjuryError(
            "a win rate needs the scores of the same items from all three: the lengths differ."
        )
    rows = np.column_stack(columns)
    complete = ~np.isnan(rows).any(axis=1)
    statistics = combined(
        *(on_columns(two_rater_statistics(METRICS, grades), (0, side), f"{side} ") for side in (1, 2))
    )
    if complete.sum() < 2:
        reason = f"{int(complete.sum())} items were scored by all three"
        return {metric: undefined(reason, int(complete.sum()), "bootstrap win rate") for metric in METRICS}
    kept, closer = rows[complete], dict[str, Estimate]()
    if indices is not None:
        if not complete.all():
            raise MedjuryError("given resamples need complete scores: some items lack a score.")
        once = evaluate(kept, statistics, np.arange(len(kept))[np.newaxis])
        observed = {name: float(values[0]) for name, values in once.items()}
        resampled = evaluate(kept, statistics, indices)
        design = f"{len(np.asarray(indices))} given resamples"
    else:
        names = None if clusters is None else np.asarray(clusters, dtype=object)[complete]
        made = replicates(kept, statistics, clusters=names, resamples=resamples, seed=seed)
        observed, resampled, design = dict(made.observed), dict(made.resampled), made.design
        # A size has its mode at 0, where BCa breaks down; quantiles of the others were too narrow.
        for metric, sign in METRICS.items():
            if metric != "absolute_offset":
                sides = [f"{side} {metric}" for side in ((1, 2) if sign > 0 else (2, 1))]
                closer[metric] = made.difference(*sides, confidence=confidence)
    return {
        metric: _compare(metric, observed, resampled, len(kept), design, confidence, closer.get(metric))
        for metric in METRICS
    }


def _compare(
    metric: str,
    observed: Mapping[str, float],
    resampled: Mapping[str, Floats],
    n: int,
    design: str,
    confidence: float,
    closer: Estimate | None,
) -> WinRate | Estimate:
    sign = METRICS[metric]
    jury, panel = observed[f"1 {metric}"], observed[f"2 {metric}"]
    method = f"{100 * confidence:g} % percentile, {design}"
    if not np.isfinite(jury) or not np.isfinite(panel):
        return undefined(f"{metric} does not exist for the jury or for the panel", n, method)
    difference = sign * (resampled[f"1 {metric}"] - resampled[f"2 {metric}"])
    known = difference[np.isfinite(difference)]
    if not known.size:
        return undefined(f"{metric} exists in no resample", n, method)
    wins, losses = int((known > _SAME).sum()), int((known < -_SAME).sum())
    ties = known.size - wins - losses
    dropped = difference.size - known.size
    delta = Estimate(sign * (jury - panel), None, None, n, f"no interval: undefined in {dropped} of {design}")
    if closer is not None:
        delta = replace(closer, n=n)
    elif dropped <= UNDEFINED_ALLOWED * difference.size:
        low, high = (float(end) for end in np.quantile(known, [0.5 - confidence / 2, 0.5 + confidence / 2]))
        delta = replace(delta, low=low, high=high, method=method)
    return WinRate(
        metric,
        jury,
        panel,
        delta,
        float(known.mean()),
        (wins + ties / 2) / known.size,
        wins / known.size,
        wins,
        ties,
        losses,
        dropped,
    )
