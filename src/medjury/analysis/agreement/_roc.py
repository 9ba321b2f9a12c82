"""The receiver operating characteristic: how well a score tells two groups apart, at every threshold."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from medjury.analysis.agreement._ranks import levels_of
from medjury.analysis.agreement._scores import complete_rows
from medjury.foundation.errors import MedjuryError
from medjury.statistics import (
    RESAMPLES,
    SAME,
    Clusters,
    Estimate,
    Floats,
    Read,
    Statistics,
    bootstrap,
    undefined,
)


def roc_curve(truth: ArrayLike, score: ArrayLike, *, positive: float = 1) -> tuple[Floats, Floats, Floats]:
    """Thresholds, sensitivity and specificity of "score >= threshold is positive", from nothing positive to
    everything, for a two-valued truth; `positive` names the value a high score should find. Sensitivity is empty
    where nothing is truly positive, specificity where nothing is truly negative.

    >>> thresholds, sensitivity, specificity = roc_curve([0, 0, 1, 1], [1, 3, 2, 4])
    >>> thresholds.tolist(), sensitivity.tolist()
    ([inf, 4.0, 3.0, 2.0, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0])
    """
    events, scores = _split(truth, score, positive)
    levels = np.unique(scores)[::-1]
    above = scores[None, :] >= levels[:, None]
    found, raised = above[:, events], above[:, ~events]
    return (
        np.concatenate([[np.inf], levels]),
        np.concatenate([[0.0], found.mean(axis=1)]) if events.any() else np.empty(0),
        np.concatenate([[1.0], 1 - raised.mean(axis=1)]) if not events.all() else np.empty(0),
    )


def area_under_curve(
    truth: ArrayLike,
    score: ArrayLike,
    *,
    positive: float = 1,
    clusters: Clusters = None,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """AUC = P(score of a positive > score of a negative) + P(equal) / 2, the Mann-Whitney W / (n1 n0).

    The interval is DeLong, DeLong and Clarke-Pearson's (1988, Biometrics 44:837-845) on the logit scale, so
    that it stays within 0 and 1; at perfect separation, or where no score varies, no such interval exists. Where
    several items belong to one of the `clusters` these are resampled instead.

    >>> area_under_curve([0, 0, 1, 1], [1, 3, 2, 4]).value
    0.75
    """
    events, scores = _split(truth, score, positive)
    n, method = len(scores), f"{100 * confidence:g} % DeLong on the logit scale"
    high, low = np.sort(scores[events]), np.sort(scores[~events])
    if not len(high) or not len(low):
        return undefined("the truth has one class only", n, method)
    if clusters is not None and len(set(clusters)) < n:
        return bootstrap(
            np.column_stack([events, scores]),
            area_statistics(1.0),
            clusters=clusters,
            resamples=resamples,
            confidence=confidence,
            seed=seed,
        )["auc"]
    # Placements: for each item the share of the other class below it, ties half.
    of_high = (np.searchsorted(low, high, "left") + np.searchsorted(low, high, "right")) / (2 * len(low))
    of_low = 1 - (np.searchsorted(high, low, "left") + np.searchsorted(high, low, "right")) / (2 * len(high))
    area = float(of_high.mean())
    if area in (0.0, 1.0):
        return Estimate(area, None, None, n, "Mann-Whitney; no interval at perfect separation")
    if len(high) < 2 or len(low) < 2:
        return Estimate(area, None, None, n, "Mann-Whitney; one item in a class gives no interval")
    error = np.sqrt(of_high.var(ddof=1) / len(high) + of_low.var(ddof=1) / len(low)) / (area * (1 - area))
    if error <= SAME:
        return Estimate(area, None, None, n, "Mann-Whitney; no interval where no score varies within a class")
    half = float(special.ndtri(1 - (1 - confidence) / 2)) * error
    return Estimate(
        area,
        float(special.expit(special.logit(area) - half)),
        float(special.expit(special.logit(area) + half)),
        n,
        method,
    )


def area_statistics(positive: float) -> Statistics:
    """AUC for the bootstrap engine as `auc`; rows are (truth, score), incomplete ones do not count."""

    def prepare(rows: Floats) -> Read:
        complete = complete_rows(rows)
        levels = levels_of(np.where(complete, rows[:, 1], 0.0))
        event = complete & (rows[:, 0] == positive)
        other = complete & ~event

        def read(weights: Floats) -> dict[str, Floats]:
            low, high = (levels.weights(weights * side) for side in (other, event))
            below = np.cumsum(low, axis=-1) - low / 2.0
            pairs = low.sum(axis=-1) * high.sum(axis=-1)
            return {"auc": (high * below).sum(axis=-1) / np.where(pairs > 0, pairs, np.nan)}

        return read

    return prepare


def _split(truth: ArrayLike, score: ArrayLike, positive: float) -> tuple[NDArray[np.bool_], Floats]:
    labels, scores = np.asarray(truth), np.asarray(score, dtype=float)
    if labels.shape != scores.shape or labels.ndim != 1:
        raise MedjuryError(
            f"a curve needs one score per label: {labels.shape} labels, {scores.shape} scores."
        )
    missing = [place for place, label in enumerate(labels.tolist(), 1) if label is None or label != label]
    if missing:
        raise MedjuryError(
            f"a curve needs a truth for every item, and {len(missing)} have none, first item {missing[0]}; "
            "leave them out and count them."
        )
    if np.isnan(scores).any():
        raise MedjuryError("a curve needs a number for every item; leave unscored items out and count them.")
    if len(np.unique(labels)) > 2:
        raise MedjuryError(f"a curve needs a truth of two values, not {np.unique(labels).tolist()}.")
    return labels == positive, scores
