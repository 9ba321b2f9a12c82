"""The options every coefficient shares, and the one path from a statistic to its estimate and interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypedDict, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from medjury.foundation.documents import choose
from medjury.foundation.errors import MedjuryError
from medjury.statistics import RESAMPLES, Clusters, Estimate, Floats, Statistics, replicates, undefined

Interval = Literal["bca_t", "analytic", "gwet", "bca", "percentile", "basic", "none"]
# From value and confidence to both ends and the method's name; None where these data give no such interval.
Analytic = Callable[[float, float], tuple[float, float, str] | None]


class Options(TypedDict, total=False):
    """Keyword arguments of every coefficient.

    interval: "bca_t" (BCa that allows for few and skewed data), "analytic" (named in the result's `method`),
        "bca" (as published), "percentile", "basic" or "none"; "gwet" is the published interval of Gwet's family,
        as irrCAC gives it, and the analytic one elsewhere.
    clusters: the case of each item where several items belong to one; they are resampled together.
    resamples (2,000), confidence (0.95) and seed (0) of the interval.
    """

    interval: Interval
    clusters: Clusters
    resamples: int
    confidence: float
    seed: int


def estimates(
    rows: Floats,
    statistics: Statistics,
    *,
    kept: NDArray[np.bool_] | None = None,
    analytic: Callable[[], Mapping[str, Analytic]] = dict,
    reason: Callable[[str], str],
    note: str = "",
    n: int | None = None,
    known_as: Mapping[str, str] | None = None,
    **options: Unpack[Options],
) -> dict[str, Estimate]:
    """Every value of `statistics` on `rows` as an estimate.

    `kept` marks which of the caller's items the rows are, so that `clusters` can be cut to them; `reason`
    says why a value does not exist; `analytic` makes the analytic intervals if they are asked for; `note`
    (what was left out) joins every method; `known_as` names a value's statistic where its own name does not tell.
    """
    clusters = options.get("clusters")
    interval = options.get("interval", "bca_t")
    confidence = options.get("confidence", 0.95)
    choose(interval, get_args(Interval), "interval")
    if not 0.0 < confidence < 1.0:
        raise MedjuryError(f"The confidence is a share between 0 and 1, such as 0.95, not {confidence}.")
    by_formula = interval in ("analytic", "gwet")
    if by_formula and clusters is not None:
        raise MedjuryError(
            "An analytic interval takes every item as independent. With clusters, ask for interval='bca_t'."
        )
    if clusters is not None and kept is not None:
        clusters = kept_clusters(clusters, kept)
    seed = options.get("seed", 0)
    resamples = 0 if by_formula or interval == "none" else options.get("resamples", RESAMPLES)
    made = replicates(
        rows,
        statistics,
        clusters=clusters,
        resamples=resamples,
        seed=seed,
        jackknife=interval in ("bca", "bca_t"),
        n=n,
    )
    analytic_of = analytic() if by_formula and made.n else {}
    results = {}
    for name, value in made.observed.items():
        if not np.isfinite(value):
            results[name] = undefined(reason(name), made.n, interval + note)
        elif interval == "analytic" or interval == "gwet":
            results[name] = _analytic(name, value, made.n, confidence, note, analytic_of)
        else:
            resampled = "percentile" if interval == "none" else interval
            statistic = (known_as or {}).get(name, "")
            estimate = made.estimate(name, method=resampled, confidence=confidence, statistic=statistic)
            results[name] = replace(estimate, method=estimate.method + note)
    return results


def kept_clusters(clusters: Sequence[object] | NDArray[Any], kept: NDArray[np.bool_]) -> NDArray[Any]:
    """The clusters of the items that were kept."""
    names = np.empty(len(clusters), dtype=object)
    names[:] = list(clusters)
    if len(names) != len(kept):
        raise MedjuryError(f"There are {len(kept)} items but {len(names)} cluster names.")
    return names[kept]


def _analytic(
    name: str, value: float, n: int, confidence: float, note: str, analytic: Mapping[str, Analytic]
) -> Estimate:
    if name not in analytic:
        return Estimate(
            value, None, None, n, f"no interval: {name} has no analytic one, ask for 'bca_t'{note}"
        )
    ends = analytic[name](value, confidence)
    if ends is None:
        return Estimate(value, None, None, n, f"no analytic interval for so few or so uniform data{note}")
    low, high, method = ends
    return Estimate(value, low, high, n, f"{100 * confidence:g} % {method}{note}")
