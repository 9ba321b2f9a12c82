"""Intervals computed a second time, from docs/statistics.md and numpy alone: whole patients drawn again, BCa read
at Student's quantiles, and never narrower than the jackknife. Nothing of the product's own statistics is used.

Chance has its own stream here, so one end can only be met within what chance leaves open. Over the hundreds of ends
of a report that cancels out: on the whole, intervals are neither wider nor narrower than ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.recipes.compared import amount, note

Numbers = np.ndarray[Any, np.dtype[np.float64]]
# From how often each row occurs, a line for each resample, to the statistic on each resample.
Statistic = Callable[[Numbers], Numbers]
BATCHES = 4
REACH = 4.5  # standard errors that chance may move an end
NEAR = 1e-4

# To the scale on which a statistic's error is nearest to symmetric, and back.
SCALES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "as it is": (lambda x: x, lambda y: y),
    "coefficient": (lambda x: np.arctanh(np.clip(x, NEAR - 1, 1 - NEAR)), np.tanh),
    "of means": (lambda x: -np.log(np.maximum(1 - x, NEAR)), lambda y: 1 - np.exp(-y)),
    "share": (lambda x: np.log(np.clip(x, NEAR, 1 - NEAR) / (1 - np.clip(x, NEAR, 1 - NEAR))),
              lambda y: 1 / (1 + np.exp(-y))),
    "size": (lambda x: np.log(np.maximum(x, NEAR)), np.exp),
    "spread": (lambda x: x, lambda y: np.maximum(y, 0.0)),
    "part": (lambda x: x, lambda y: np.clip(y, 0.0, 1.0)),
}  # fmt: skip


@cache
def drawn(groups: tuple[int, ...], resamples: int) -> Numbers:
    """How often each row occurs in each resample, when whole groups are drawn with replacement."""
    codes = np.unique(groups, return_inverse=True)[1]
    size = int(codes.max()) + 1
    picks = np.random.default_rng(20251115).integers(0, size, (BATCHES * resamples, size))
    counts = np.zeros((len(picks), size))
    np.add.at(counts, (np.arange(len(picks))[:, None], picks), 1.0)
    return counts[:, codes]


@dataclass(frozen=True)
class Ends:
    """An interval, and between which ends that of so many resamples lies if chance alone moves it."""

    low: float
    high: float
    lows: tuple[float, float]
    highs: tuple[float, float]


def interval(statistic: Statistic, groups: Sequence[object], scale: str, resamples: int, method: str) -> Ends:
    """From `BATCHES` times the report's resamples. Chance moves the report's end twice: by the share of resamples
    below the value, which is read once and counts twice in z, and by the share of resamples below the end."""
    codes = np.unique(np.asarray(groups, dtype=str), return_inverse=True)[1]
    size, (there, back) = int(codes.max()) + 1, SCALES[scale]
    with np.errstate(all="ignore"):
        value = float(statistic(np.ones((1, len(codes))))[0])
        without = statistic((codes != np.arange(size)[:, None]).astype(float))
        made = statistic(drawn(tuple(codes.tolist()), resamples))
    without, known = without[np.isfinite(without)], np.sort(made[np.isfinite(made)])
    turned, n = there(without), len(without)
    apart = turned - turned.mean()
    spread = np.mean(apart**2)
    excess = max(np.mean(apart**4) / spread**2 - 3, 0.0)
    t = stats.t.ppf(0.975, max(2 / (2 / (n - 1) + excess / n), 2.0))
    student = method == "BCa-t"
    wide = t * np.sqrt(n / (n - 1)) if student else stats.norm.ppf(0.975)
    lean = without.mean() - without
    a = np.sum(lean**3) / (6 * np.sum(lean**2) ** 1.5)
    tied = 1e-9 * max(1.0, abs(value))
    z0 = stats.norm.ppf((np.mean(known < value - tied) + np.mean(known <= value + tied)) / 2)
    if method == "percentile":
        z0 = a = 0.0
    found = []
    for side in (-1, 1):
        z = z0 + side * wide
        z = z0 + z / (1 - a * z) if a * z < 1 else side * 8.0
        shares, heights = stats.norm.cdf([z0, z]), stats.norm.pdf([z0, z])
        errors = np.sqrt(shares * (1 - shares) / resamples) / heights
        moved = errors[1] ** 2 + (0 if method == "percentile" else 4 * errors[0] ** 2)
        chance = REACH * np.sqrt((1 + 1 / BATCHES) * moved)
        levels = stats.norm.cdf([z, z - chance, z + chance])
        places = np.clip(levels * (len(known) + 1) - 1, 0, len(known) - 1)
        # Where a statistic takes few values, the end is one of those on either side; where hardly a resample lies
        # beyond, nothing can be said of how far it may lie.
        first, last = int(np.floor(places[1])), int(np.ceil(places[2]))
        ends = [np.interp(places[0], np.arange(len(known)), known)]
        ends += [known[first] if first > 25 else -np.inf, known[last] if len(known) - last > 25 else np.inf]
        least = float(back(there(value) + side * t * np.sqrt((n - 1) * spread)))
        found.append([float((min, max)[side > 0](end, least)) if student else float(end) for end in ends])
    (low, *lows), (high, *highs) = found
    return Ends(low, high, (lows[0], lows[1]), (highs[0], highs[1]))


def holds(
    row: Mapping[str, str], column: str, statistic: Statistic, groups: Sequence[object], scale: str
) -> tuple[float, ...]:
    """The report's value is the statistic's, and its ends differ from ours by no more than chance allows; gives by
    how much they differ, as shares of the interval's length. Nothing where the report gives no interval."""
    with np.errstate(all="ignore"):
        value = float(statistic(np.ones((1, len(groups))))[0])
    assert amount(row[column]) == pytest.approx(value, abs=1e-8), (column, row)
    method = row[f"{column} method"]
    found = re.search(
        r"(BCa-t|BCa|percentile) bootstrap, (\d+) resamples of (\d+) (?:items|clusters)", method
    )
    if not row[f"{column} low"] or found is None:
        return ()
    assert amount(found[3]) == len(set(groups)), (column, method)
    own = interval(statistic, groups, scale, int(found[2]), found[1])
    low, high = float(row[f"{column} low"]), float(row[f"{column} high"])
    for shown, (least, most) in ((low, own.lows), (high, own.highs)):
        assert least - 1e-6 <= shown <= most + 1e-6, (column, shown, own, row)
    note(row, f"{column} low", f"{column} high")
    length = own.high - own.low
    return ((own.low - low) / length, (high - own.high) / length)


def per_row(values: Numbers) -> Statistic:
    """The mean of a number that every row has."""
    return lambda w: w @ values / w.sum(axis=1)


def rmse(x: Numbers, y: Numbers) -> Statistic:
    return lambda w: np.sqrt(w @ (y - x) ** 2 / w.sum(axis=1))


def limit(x: Numbers, y: Numbers, side: int) -> Statistic:
    """Mean difference and 1.96 standard deviations below or above it."""
    gap = y - x

    def read(w: Numbers) -> Numbers:
        n, mean = w.sum(axis=1), w @ gap / w.sum(axis=1)
        return mean + side * stats.norm.ppf(0.975) * np.sqrt((w @ gap**2 - n * mean**2) / (n - 1))

    return read


def weighted_kappa(x: Numbers, y: Numbers) -> Statistic:
    """1 less the squared distance seen over that of independent raters."""

    def read(w: Numbers) -> Numbers:
        n = w.sum(axis=1)
        chance = (w @ x**2 + w @ y**2) / n - 2 * (w @ x) * (w @ y) / n**2
        varied = (w @ x**2 / n - (w @ x / n) ** 2 > 1e-12) | (w @ y**2 / n - (w @ y / n) ** 2 > 1e-12)
        return np.where(varied, 1 - (w @ (x - y) ** 2) / n / np.where(varied, chance, 1), np.nan)

    return read


def mean_squares(x: Numbers, y: Numbers, w: Numbers) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Of items, of two raters and of the rest, and the number of items."""
    n, middle, gap = w.sum(axis=1), (x + y) / 2, y - x
    between = 2 * (w @ middle**2 - (w @ middle) ** 2 / n) / (n - 1)
    rest = (w @ gap**2 - (w @ gap) ** 2 / n) / 2 / (n - 1)
    return between, (w @ gap) ** 2 / n / 2, rest, n


def icc_2_1(x: Numbers, y: Numbers) -> Statistic:
    def read(w: Numbers) -> Numbers:
        between, raters, rest, n = mean_squares(x, y, w)
        return (between - rest) / (between + rest + 2 * (raters - rest) / n)

    return read


def icc_3_k(x: Numbers, y: Numbers) -> Statistic:
    def read(w: Numbers) -> Numbers:
        between, _, rest, _ = mean_squares(x, y, w)
        return np.where(between > 1e-12, (between - rest) / np.where(between > 1e-12, between, 1), np.nan)

    return read


def spearman(x: Numbers, y: Numbers) -> Statistic:
    """Pearson's correlation of mid-ranks, which every resample has of its own."""

    def ranks(values: Numbers, w: Numbers) -> Numbers:
        own = np.round(values, 9)
        below, level = own[:, None] < own[None, :], own[:, None] == own[None, :]
        return w @ below + (w @ level + 1) / 2

    def read(w: Numbers) -> Numbers:
        one, two, n = ranks(x, w), ranks(y, w), w.sum(axis=1)

        def moment(a: Numbers, b: Numbers) -> Numbers:
            return (w * a * b).sum(axis=1) / n - (w * a).sum(axis=1) * (w * b).sum(axis=1) / n**2

        return moment(one, two) / np.sqrt(moment(one, one) * moment(two, two))

    return read


def _mean_of_known(values: list[Numbers]) -> Numbers:
    table = np.array(values)
    return np.where(np.isnan(table), 0, table).sum(axis=0) / (~np.isnan(table)).sum(axis=0)


def class_rates(x: Numbers, y: Numbers, grades: Sequence[float]) -> dict[str, tuple[Statistic, str]]:
    """Accuracy, Cohen's kappa, F1 of every grade and their mean over grades that occur, each with its scale."""

    def f1(grade: float) -> Statistic:
        both, either = ((x == grade) & (y == grade)).astype(float), (x == grade) * 1.0 + (y == grade)
        return lambda w: 2 * (w @ both) / (w @ either)

    def kappa(w: Numbers) -> Numbers:
        n, same = w.sum(axis=1), w @ (x == y)
        chance = sum((w @ (x == grade)) * (w @ (y == grade)) for grade in grades) / n**2
        return (same / n - chance) / (1 - chance)

    made = {"accuracy": (per_row((x == y).astype(float)), "share"), "Cohen's kappa": (kappa, "coefficient")}
    made |= {f"F1 of {grade:g}": (f1(grade), "share") for grade in grades}
    singles = [made[f"F1 of {grade:g}"][0] for grade in grades]
    made["macro F1"] = (lambda w: _mean_of_known([each(w) for each in singles]), "share")
    return made


def pair_statistics(
    x: Numbers, y: Numbers, grades: Callable[[Numbers], Numbers]
) -> dict[str, tuple[Statistic, str]]:
    """The columns of the table `agreement`, and ICC(3,k), of a reference and a rater, each with its scale."""
    one, two = grades(x), grades(y)
    return {
        "offset": (per_row(y - x), "as it is"),
        "RMSE": (rmse(x, y), "size"),
        "same grade": (per_row((one == two).astype(float)), "share"),
        "weighted kappa": (weighted_kappa(one, two), "coefficient"),
        "ICC(2,1)": (icc_2_1(x, y), "coefficient"),
        "Spearman's rho": (spearman(x, y), "coefficient"),
        "ICC(3,k)": (icc_3_k(x, y), "of means"),
    }
