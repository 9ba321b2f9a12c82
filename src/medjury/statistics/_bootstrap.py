"""The bootstrap engine: any statistic, whole clusters resampled, no Python call per resample.

A resample is a vector of weights: how often each *distinct* row of the data occurs in it. A statistic is
therefore written in two steps,

    def accuracy(rows):                                   # rows: (distinct rows, columns), NaN = missing
        hit = (rows[:, 0] == rows[:, 1]).astype(float)    # once: what depends on the rows alone
        def read(weights):                                # weights: (resamples, distinct rows)
            return {"accuracy": weights @ hit / weights.sum(axis=-1)}
        return read

and `read` returns any number of named values, each of shape (resamples,), NaN where the statistic does not
exist. Whatever is a sum over rows is one matrix product; ranks and medians come from cumulated weights of
rows sorted once. The observed value, the resamples and the leave-one-out values all go through one `read`.

`bootstrap` gives estimates with intervals, `replicates` the resampled values themselves, with the difference of two
named values on the same resamples and its p-value, and `evaluate` the values on resamples that
the caller chooses. `on_columns` applies a statistic to some columns of wider rows, `combined` joins several.

Resampling is by cluster (the case, the patient): rows of one cluster are drawn together or not at all. The
seed is an argument; the same data and seed give the same interval, in whatever order the items stand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from medjury.foundation.errors import MedjuryError
from medjury.statistics._estimate import Estimate, undefined
from medjury.statistics._interval import (
    AS_IT_IS,
    FEWEST_CLUSTERS,
    JACKKNIFE,
    SAME,
    IntervalMethod,
    fewest_items,
    in_steps,
    interval,
    jackknife,
    symmetric,
)
from medjury.statistics._resample import RESAMPLES, Floats, draw, index_weights, leave_one_out, sample

Read = Callable[[Floats], Mapping[str, Floats]]
Statistics = Callable[[Floats], Read]
Clusters = Sequence[object] | NDArray[Any] | None

# More undefined resamples than this, and what is left no longer stands for the data: no interval.
UNDEFINED_ALLOWED = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Replicates:
    """Named values of one data set: observed, on every resample, and with each cluster pattern left out. `refused`
    says of those that have no interval in this design why not; their differences have none either."""

    observed: Mapping[str, float]
    resampled: Mapping[str, Floats]
    left_out: Mapping[str, Floats]
    multiplicity: Floats
    n: int
    resamples: int
    unit: str
    units: int
    design: str
    refused: Mapping[str, str] = field(default_factory=dict)

    def estimate(
        self,
        name: str,
        *,
        method: IntervalMethod = "bca_t",
        confidence: float = 0.95,
        reason: str = "",
        statistic: str = "",
    ) -> Estimate:
        """The value called `name` with its interval; `reason` is what to say where it does not exist. `statistic`
        is what it is where its name does not tell: its interval is read on that one's scale."""
        found = self._estimate(
            self.observed[name],
            self.resampled[name],
            self.left_out.get(name),
            method,
            confidence,
            reason or f"{name} does not exist for these data",
            statistic or name,
        )
        return self._as_allowed(found, name)

    def difference(
        self,
        first: str,
        second: str,
        *,
        other: Replicates | None = None,
        method: IntervalMethod = "bca_t",
        confidence: float = 0.95,
    ) -> Estimate:
        """first − second, each resample giving both; the second is that of the `other` values of the same resamples
        where these are given."""
        other = self if other is None else other
        found = self._estimate(
            self.observed[first] - other.observed[second],
            self.resampled[first] - other.resampled[second],
            self._left_out_gaps(first, second, other),
            method,
            confidence,
            f"{first} or {second} does not exist for these data",
            "difference",
            max(fewest_items(first), fewest_items(second)),
        )
        return self._as_allowed(found, first, second)

    def _left_out_gaps(self, first: str, second: str, other: Replicates) -> Floats | None:
        both = first in self.left_out and second in other.left_out
        return self.left_out[first] - other.left_out[second] if both else None

    def _as_allowed(self, found: Estimate, *names: str) -> Estimate:
        why = next((self.refused[name] for name in names if name in self.refused), "")
        return replace(found, low=None, high=None, method=why) if why and found.low is not None else found

    def p_value(self, first: str, second: str) -> float | None:
        """The two-sided p-value of "no difference": twice the smaller share of resampled differences at or beyond
        zero, (1 + count) / (1 + resamples), but never below 2 / 2^units, the least that exchanging the two within
        resampled units (clusters, else items) could give: two cases that agree prove nothing, however often they
        are resampled. None where the difference is undefined."""
        gaps = self.resampled[first] - self.resampled[second]
        kept = gaps[np.isfinite(gaps)]
        if kept.size < max(1.0, (1.0 - UNDEFINED_ALLOWED) * gaps.size):
            return None
        smaller = min(np.count_nonzero(kept <= SAME), np.count_nonzero(kept >= -SAME))
        return min(1.0, max(2.0 * (1 + int(smaller)) / (1 + kept.size), 2.0 * 0.5**self.units))

    def p_at_most(self, first: str, second: str, bound: float) -> float:
        """The one-sided p-value of "first − second is at most `bound`": the share of resampled differences there,
        or that of the jackknife's t where it is larger, as the interval is never narrower than the jackknife's."""
        gaps = self.resampled[first] - self.resampled[second]
        known = gaps[np.isfinite(gaps)]
        share = float((1 + np.count_nonzero(known <= bound + SAME)) / (1 + known.size))
        left_out = self._left_out_gaps(first, second, self)
        spread = None if left_out is None else jackknife(left_out, self.multiplicity, AS_IT_IS)
        if spread is None or spread[0] <= SAME:
            return share
        error, freedom, _ = spread
        above = (self.observed[first] - self.observed[second] - bound) / error
        return max(share, float(special.stdtr(freedom, -above)))

    def _estimate(
        self,
        value: float,
        resampled: Floats,
        left_out: Floats | None,
        method: IntervalMethod,
        confidence: float,
        reason: str,
        name: str,
        fewest: int | None = None,
    ) -> Estimate:
        share = f"{100 * confidence:g} %"

        def without(why: str) -> Estimate:
            return Estimate(float(value), None, None, self.n, f"no interval{why}")

        if not np.isfinite(value):
            # Names may be joined by a null character, which no table can hold.
            return undefined(reason.replace("\0", " "), self.n, f"bootstrap, {self.design}")
        if not resampled.size:
            return without(f": one {self.unit} cannot be resampled" if self.resamples else "")
        if resampled.size < 2.0 / (1.0 - confidence) - 1.0:
            return without(f": {resampled.size} resamples are too few for {share}")
        finite = np.isfinite(resampled)
        lost = int(resampled.size - np.count_nonzero(finite))
        kept = resampled[finite] if lost else resampled
        if lost > UNDEFINED_ALLOWED * resampled.size:
            return without(f": undefined in {lost} of {self.design}")
        fewest = fewest_items(name) if fewest is None else fewest
        if method == "bca_t" and self.units < FEWEST_CLUSTERS:
            needed = fewest if self.unit == "item" else FEWEST_CLUSTERS
            return without(f": {self.units} {self.unit}s are too few, at least {needed} are needed")
        if method == "bca_t" and self.n < fewest:
            return without(f": {self.n} items are too few, at least {fewest} are needed")
        reach = np.array([kept.min(), kept.max()])
        alike = bool(reach[1] - reach[0] <= SAME * max(1.0, abs(value)))
        if alike and method == "bca_t":
            return without(f": the same in all of {self.design}")
        if method == "bca_t" and in_steps(name, kept):
            return without(": a quartile of so few different values is a step, and its interval is too wide")
        if left_out is None and method in ("bca", "bca_t"):
            raise MedjuryError("BCa needs leave-one-out values: make the replicates with jackknife=True.")
        low, high, said = interval(
            float(value),
            kept,
            np.empty(0) if left_out is None else left_out,
            self.multiplicity,
            method=method,
            confidence=confidence,
            name=name,
        )
        if method == "bca_t" and symmetric(name, reach).says_nothing(low, high):
            return without(f": it would leave nearly every value open; too few {self.unit}s differ")
        notes = f"; undefined in {lost} of them, left out" if lost else ""
        if alike:
            notes += "; all resamples agree, so the interval has no width"
        how = f"{said} bootstrap, {self.design}"
        if said == JACKKNIFE and left_out is not None:
            how = f"{said}, each of {self.units} {self.unit}s left out once"
            gone = int(self.multiplicity[~np.isfinite(left_out)].sum())
            notes = f"; undefined without {gone} of them" if gone else ""
        return Estimate(float(value), low, high, self.n, f"{share} {how}{notes}")


def replicates(
    rows: ArrayLike,
    statistics: Statistics,
    *,
    clusters: Clusters = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    jackknife: bool = True,
    n: int | None = None,
) -> Replicates:
    """Evaluate `statistics` on the data, on every resample and (for BCa) with each cluster left out.

    `n` is the number of items to report where it is not the number of rows.
    """
    if resamples < 0:
        raise MedjuryError(f"The number of resamples cannot be {resamples}. Give 0 for no interval, or more.")
    data = sample(rows, clusters)
    read = statistics(data.rows)
    observed = {name: float(values[0]) for name, values in _read(read, data.counts[np.newaxis]).items()}
    resampled = {name: np.empty(0) for name in observed}
    left_out: dict[str, Floats] = {}
    multiplicity, groups = np.empty(0), 0
    if resamples and data.clusters > 1:
        resampled = _collect(read, draw(data, resamples, seed))
        if jackknife:
            blocks, multiplicity, groups = leave_one_out(data, seed)
            left_out = _collect(read, blocks)
    unit = "cluster" if data.clustered else "item"
    design = f"{resamples} resamples of {data.clusters} {unit}s, seed {seed}"
    if groups:
        design += f", acceleration from {groups} groups"
    reported = data.n if n is None else n
    return Replicates(
        observed, resampled, left_out, multiplicity, reported, resamples, unit, data.clusters, design
    )


def bootstrap(
    rows: ArrayLike,
    statistics: Statistics,
    *,
    clusters: Clusters = None,
    resamples: int = RESAMPLES,
    method: IntervalMethod = "bca_t",
    confidence: float = 0.95,
    seed: int = 0,
    n: int | None = None,
) -> dict[str, Estimate]:
    """Every value of `statistics` with its interval, all on the same resamples.

    >>> def mean(rows):
    ...     return lambda weights: {"mean": weights @ rows[:, 0] / weights.sum(axis=-1)}
    >>> estimate = bootstrap(list(range(1, 16)), mean, resamples=2000)["mean"]
    >>> estimate.value, round(estimate.low), round(estimate.high)
    (8.0, 6, 10)
    """
    made = replicates(
        rows,
        statistics,
        clusters=clusters,
        resamples=resamples,
        seed=seed,
        jackknife=method in ("bca", "bca_t"),
        n=n,
    )
    return {name: made.estimate(name, method=method, confidence=confidence) for name in made.observed}


def evaluate(rows: ArrayLike, statistics: Statistics, indices: ArrayLike) -> dict[str, Floats]:
    """The values on given resamples: each row of `indices` lists the (0-based) items of one resample."""
    data = sample(rows)
    return dict(_read(statistics(data.rows), index_weights(data, indices)))


def on_columns(statistics: Statistics, columns: Sequence[int], prefix: str = "") -> Statistics:
    """The statistic on some columns of wider rows; `prefix` keeps its names apart from another's."""

    def chosen(rows: Floats) -> Read:
        read = statistics(rows[:, list(columns)])
        return lambda weights: {prefix + name: values for name, values in read(weights).items()}

    return chosen


def combined(*statistics: Statistics) -> Statistics:
    """Several statistics of the same rows as one, so that they share their resamples."""

    def joined(rows: Floats) -> Read:
        reads = [each(rows) for each in statistics]
        return lambda weights: {name: values for read in reads for name, values in read(weights).items()}

    return joined


def _read(read: Read, weights: Floats) -> Mapping[str, Floats]:
    with np.errstate(divide="ignore", invalid="ignore"):
        return read(weights)


def _collect(read: Read, blocks: Any) -> dict[str, Floats]:
    parts: dict[str, list[Floats]] = {}
    for weights in blocks:
        for name, values in _read(read, weights).items():
            parts.setdefault(name, []).append(values)
    return {name: np.concatenate(each) for name, each in parts.items()}
