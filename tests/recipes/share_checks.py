"""Ends of intervals that follow from two counts alone, in every table of a report: Wilson's and the exact ones."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import pytest
from scipy import stats
from tests.recipes.compared import amount
from tests.recipes.rated import Rated


def wilson(hits: float, n: float) -> tuple[float, float]:
    z = stats.norm.ppf(0.975)
    middle, half = hits + z**2 / 2, z * np.sqrt(hits * (n - hits) / n + z**2 / 4)
    return float((middle - half) / (n + z**2)), float((middle + half) / (n + z**2))


def exact(hits: float, n: float) -> tuple[float, float]:
    """Clopper and Pearson's."""
    low = stats.beta.ppf(0.025, hits, n - hits + 1) if hits else 0.0
    high = stats.beta.ppf(0.975, hits + 1, n - hits) if hits < n else 1.0
    return float(low), float(high)


def shares_are_right(rated: Rated, labels: Mapping[str, str]) -> set[tuple[str, str]]:
    """Every share with an interval of Wilson's or Clopper and Pearson's, in whatever table; tells which there were.
    F1 is 2J / (1 + J), where J is the share right of what either called so."""
    names, found = {label: name for name, label in labels.items()}, set()
    for file in sorted((rated.run / "tables").glob("*.csv")):
        for row in rated.table(file.stem):
            for title in row:
                column, method = title.removesuffix(" method"), row[title]
                told = re.match(
                    r"95 % (Wilson score|Clopper-Pearson exact)(?:; no event.* (\d+) clusters)?", method
                )
                if told is None or column == title:
                    continue
                value, n, of_j = (
                    float(row[column]),
                    float(told[2] or row[f"{column} n"]),
                    column.startswith("F1 of "),
                )
                if of_j:
                    x, y, _ = rated.both(row["rater"], names[row["dimension"]])
                    grade = float(column.removeprefix("F1 of "))
                    value, n = value / (2 - value), float(np.sum((x == grade) | (np.floor(y + 0.5) == grade)))
                assert value * n == pytest.approx(round(value * n), abs=1e-6), (file.stem, row)
                wanted = (wilson if told[1] == "Wilson score" else exact)(round(value * n), n)
                if of_j:
                    wanted = (2 * wanted[0] / (1 + wanted[0]), 2 * wanted[1] / (1 + wanted[1]))
                shown = amount(row[f"{column} low"]), amount(row[f"{column} high"])
                assert shown == pytest.approx(wanted, abs=1e-9), (file.stem, column, row)
                found.add((file.stem, column))
    return found
