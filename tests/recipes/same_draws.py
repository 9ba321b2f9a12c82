"""Intervals computed a second time on the very resamples of the report, to the last digit: the rule by which a seed
becomes resamples, and the ends that docs/statistics.md describes, written anew with numpy and normal and Student
quantiles. `second_opinion` does the same with chance of its own, for statistics whose rows are not known here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats
from tests.recipes.compared import amount
from tests.recipes.second_opinion import SCALES, Numbers, Statistic

CHEAP = 17  # so many draws of a place cost as much as one of a binomial number
BLOCK = 1 << 19


@dataclass(frozen=True)
class Draws:
    """How often each row occurs in each resample, and with each group left out."""

    resampled: Numbers
    left_out: Numbers

    @property
    def groups(self) -> int:
        return len(self.left_out)


def _places(column: Numbers) -> Numbers:
    """Missing comes first among whole numbers, and last among others."""
    known = column[~np.isnan(column)]
    whole = bool((known == np.rint(known)).all())
    filled = np.where(np.isnan(column), -np.inf if whole else np.inf, column)
    return np.unique(filled, return_inverse=True)[1].astype(float)


def same_draws(rows: Numbers, groups: Sequence[object] | None, resamples: int, seed: int = 0) -> Draws:
    """Rows are told apart and put in order by their columns, groups by a sum of random numbers of their rows; then
    places in that order are drawn, sixteen bits each."""
    table = rows[:, None] if rows.ndim == 1 else rows
    distinct = np.unique(np.column_stack([_places(each) for each in table.T]), axis=0, return_inverse=True)[1]
    distinct = distinct.ravel()
    names = (
        np.arange(len(table))
        if groups is None
        else np.unique([str(g) for g in groups], return_inverse=True)[1]
    )
    size, width = int(names.max()) + 1, int(distinct.max()) + 1
    member = (names == np.arange(size)[:, None]).astype(float)
    if size < len(table):
        tokens = np.random.default_rng(0).integers(0, 1 << 64, size=width, dtype=np.uint64)
        mark = np.array([tokens[distinct[names == each]].sum(dtype=np.uint64) for each in range(size)])
    else:
        mark = distinct[np.argsort(names)]
    order = np.argsort(mark, kind="stable")
    _, many = np.unique(mark, return_counts=True)
    generator = np.random.default_rng(seed)
    drawn = np.zeros((resamples, size))
    block = max(1, BLOCK // max(width, len(many)))
    if resamples * size <= BLOCK and len(many) * CHEAP >= size:
        block = resamples  # places are drawn for all resamples at once, however many rows there are
    for first in range(0, resamples, block):
        stop = min(first + block, resamples)
        if len(many) * CHEAP < size:
            counts = generator.multinomial(size, many / size, size=stop - first)
            drawn[first:stop] = np.repeat(counts / many, many, axis=1)
            continue
        group = (1 << 16) // size
        for start in range(first, stop, group):
            end = min(start + group, stop)
            places = generator.integers(0, size, size=(end - start, size), dtype=np.uint16)
            np.add.at(drawn, (np.arange(start, end)[:, None], places), 1.0)
    return Draws(drawn @ member[order], 1.0 - member)


def _quantile(ordered: Numbers, level: float) -> float:
    """At (R + 1) · level, between two resamples on the normal scale."""
    place = (len(ordered) + 1) * level
    below = int(np.floor(place + 1e-9))
    if below < 1 or below >= len(ordered):
        return float(ordered[0 if below < 1 else -1])
    if abs(place - below) < 1e-9:
        return float(ordered[below - 1])
    left, here, right = stats.norm.ppf([below / (len(ordered) + 1), level, (below + 1) / (len(ordered) + 1)])
    return float(ordered[below - 1] + (ordered[below] - ordered[below - 1]) * (here - left) / (right - left))


def ends(
    value: float, made: Numbers, without: Numbers, scale: str, method: str, confidence: float = 0.95
) -> tuple[float, float]:
    """`BCa-t`, `percentile` of the resamples, or `jackknife t`."""
    ordered, tail = np.sort(made[np.isfinite(made)]), (1 - confidence) / 2
    if method == "percentile":
        return _quantile(ordered, tail), _quantile(ordered, 1 - tail)
    there, back = SCALES[scale]
    without = without[np.isfinite(without)]
    n, turned = len(without), there(without)
    spread = np.mean((turned - turned.mean()) ** 2)
    excess = max(np.mean((turned - turned.mean()) ** 4) / spread**2 - 3, 0.0)
    t = stats.t.ppf(1 - tail, max(2 / (2 / (n - 1) + excess / n), 2.0))
    near = [float(back(there(value) + side * t * np.sqrt((n - 1) * spread))) for side in (-1, 1)]
    if method == "jackknife t":
        return near[0], near[1]
    wide, tied = t * np.sqrt(n / (n - 1)), 1e-9 * max(1.0, abs(value))
    z0 = stats.norm.ppf(
        (np.sum(ordered < value - tied) + np.sum(ordered <= value + tied)) / (2 * len(ordered))
    )
    lean = without.mean() - without
    a = np.sum(lean**3) / (6 * np.sum(lean**2) ** 1.5) if np.sum(lean**2) > 1e-24 else 0.0
    found = []
    for side in (-1, 1):
        z = z0 + side * wide
        level = stats.norm.cdf(z0 + z / (1 - a * z)) if a * z < 1 else float(side > 0)
        found.append(_quantile(ordered, level))
    return min(found[0], near[0]), max(found[1], near[1])


def equals(
    row: Mapping[str, str],
    column: str,
    statistic: Statistic,
    draws: Draws,
    scale: str,
    least: int = 10,
    cases: int = 10,
) -> bool:
    """The report's value and both ends are ours to nine digits; where it gives no ends there is a reason for that
    which we find too (fewer than `cases` cases, than `least` answers). Tells whether there were ends to compare."""
    n = draws.resampled.shape[1]
    with np.errstate(all="ignore"):
        value = float(statistic(np.ones((1, n)))[0])
        made, without = statistic(draws.resampled), statistic(draws.left_out)
    if not row[column]:
        assert not np.isfinite(value), (column, value, row)
        return False
    assert amount(row[column]) == pytest.approx(value, abs=1e-9), (column, value, row)
    method = row[f"{column} method"]
    known = made[np.isfinite(made)]
    if not row[f"{column} low"]:
        same, lost = np.ptp(known) <= 1e-12 * max(1, abs(value)), 1 - len(known) / len(made)
        reasons = {
            "too few": draws.groups < cases or n < least,
            "the same in all": same,
            "undefined": lost > 0.05,
        }
        assert (
            any(why and word in method for word, why in reasons.items()) or "nearly every value" in method
        ), row
        return False
    word = re.search(r"([\d.]+) % (BCa-t|percentile|jackknife t)", method)
    assert word is not None, (column, method)
    low, high = ends(value, made, without, scale, word[2], float(word[1]) / 100)
    assert amount(row[f"{column} low"]) == pytest.approx(low, abs=1e-9), (column, low, high, row)
    assert amount(row[f"{column} high"]) == pytest.approx(high, abs=1e-9), (column, low, high, row)
    return True


def has_no_ends(row: Mapping[str, str], column: str, value: float) -> None:
    """The report's value is ours to nine digits; it has no interval, whatever the data, and the method says so."""
    if not row[column]:
        assert not np.isfinite(value), (column, value, row)
        return
    assert amount(row[column]) == pytest.approx(value, abs=1e-9), (column, value, row)
    assert not row[f"{column} low"] and not row[f"{column} high"], row
    assert row[f"{column} method"].startswith("no interval: "), row
