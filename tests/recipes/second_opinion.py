"""Statistics written anew from docs/statistics.md with numpy alone, each read from how often every row occurs.
Nothing of the product's own statistics is used; `same_draws` makes intervals of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import stats

Numbers = np.ndarray[Any, np.dtype[np.float64]]
# From how often each row occurs, a line for each resample, to the statistic on each resample.
Statistic = Callable[[Numbers], Numbers]
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
        kinds = [sum(w @ (side == grade) > 0 for grade in grades) for side in (x, y)]
        varied = (kinds[0] > 1) & (kinds[1] > 1)  # else there is no kappa
        return np.where(varied, (same / n - chance) / np.where(varied, 1 - chance, 1), np.nan)

    made = {"accuracy": (per_row((x == y).astype(float)), "share"), "Cohen's kappa": (kappa, "coefficient")}
    made |= {f"F1 of {grade:g}": (f1(grade), "share") for grade in grades}
    if len(grades) == 2:
        yes, said = (x == grades[1]).astype(float), (y == grades[1]).astype(float)

        def share(hits: Numbers, of: Numbers) -> tuple[Statistic, str]:
            return lambda w: w @ (hits * of) / (w @ of), "share"

        made |= {"sensitivity": share(said, yes), "specificity": share(1 - said, 1 - yes)}
        made["precision"] = share(yes, said)
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
