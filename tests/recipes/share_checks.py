"""Ends of intervals that follow from two counts alone, in every table of a report: Wilson's and the exact ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import numpy as np
import pytest
from scipy import stats
from tests.recipes.compared import amount
from tests.recipes.rated import Numbers, Rated


def wilson(hits: float, n: float) -> tuple[float, float]:
    z = stats.norm.ppf(0.975)
    middle, half = hits + z**2 / 2, z * np.sqrt(hits * (n - hits) / n + z**2 / 4)
    return float((middle - half) / (n + z**2)), float((middle + half) / (n + z**2))


def exact(hits: float, n: float) -> tuple[float, float]:
    """Clopper and Pearson's."""
    low = stats.beta.ppf(0.025, hits, n - hits + 1) if hits else 0.0
    high = stats.beta.ppf(0.975, hits + 1, n - hits) if hits < n else 1.0
    return float(low), float(high)


def of_errors(hits: float, n: float) -> tuple[float, float]:
    """Jeffreys' lower end, and 0 without an error; Clopper and Pearson's upper end."""
    low = stats.beta(hits + 0.5, n - hits + 0.5).ppf(0.025) if hits else 0.0
    return float(low), exact(hits, n)[1]


# By the words of a method, up to a word on clusters, what makes both ends.
ENDS = {
    "95 % Wilson score": wilson,
    "95 % Clopper-Pearson exact": exact,
    "95 %: lower end Jeffreys', upper end exact (Clopper-Pearson)": of_errors,
}
# Of classes 0 and 1, which answers a rate is a share of.
OF_TWO: dict[str, Callable[[Numbers, Numbers], Numbers]] = {
    "sensitivity": lambda truth, given: truth == 1,
    "specificity": lambda truth, given: truth == 0,
    "precision": lambda truth, given: given == 1,
}


def shares_are_right(rated: Rated, labels: Mapping[str, str]) -> set[tuple[str, str]]:
    """Every share with an interval of Wilson's, Clopper and Pearson's or of errors, in whatever table; tells which
    there were. F1 is 2J / (1 + J), where J is the share right of what either called so."""
    names, found = {label: name for name, label in labels.items()}, set()
    for file in sorted((rated.run / "tables").glob("*.csv")):
        for row in rated.table(file.stem):
            for title in row:
                column, method = title.removesuffix(" method"), row[title]
                words = next((words for words in ENDS if method.startswith(words)), None)
                if words is None or column == title:
                    continue
                rest = method.removeprefix(words)
                if re.match(r": \d+ answers", rest):
                    continue
                told = re.match(r"(?:[;:] no event.* (\d+) clusters)?", rest)
                assert told is not None
                value, n, of_j = (
                    float(row[column]),
                    float(told[1] or row[f"{column} n"]),
                    column.startswith("F1 of "),
                )
                if of_j:
                    x, y, _ = rated.both(row["rater"], names[row["dimension"]])
                    grade = float(column.removeprefix("F1 of "))
                    value, n = value / (2 - value), float(np.sum((x == grade) | (np.floor(y + 0.5) == grade)))
                if column in OF_TWO:
                    x, y, _ = rated.both(row["rater"], names[row["dimension"]])
                    n = float(OF_TWO[column](x, np.floor(y + 0.5)).sum())
                assert value * n == pytest.approx(round(value * n), abs=1e-6), (file.stem, row)
                wanted = ENDS[words](round(value * n), n)
                if of_j:
                    wanted = (2 * wanted[0] / (1 + wanted[0]), 2 * wanted[1] / (1 + wanted[1]))
                shown = amount(row[f"{column} low"]), amount(row[f"{column} high"])
                assert shown == pytest.approx(wanted, abs=1e-9), (file.stem, column, row)
                found.add((file.stem, column))
    return found
