"""Every interval of a report's tables of agreement, made a second time from the ratings; see `second_opinion`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from tests.recipes.compared import amount
from tests.recipes.rated import Numbers, Rated
from tests.recipes.second_opinion import Statistic, class_rates, holds, limit, pair_statistics

Grading = Callable[[str], Callable[[Numbers], Numbers]]


def whole_grades(lowest: float, highest: float) -> Grading:
    """Whole grades, halves upwards; a composite, which has none, as it is."""

    def grading(dimension: str) -> Callable[[Numbers], Numbers]:
        if dimension.startswith(("quality", "overall", "mean")):
            return lambda scores: np.round(scores, 9)
        return lambda scores: np.clip(np.floor(scores + 0.5 + 1e-9), lowest, highest)

    return grading


def agreement_is_right(rated: Rated, labels: Mapping[str, str], grading: Grading, first: str) -> None:
    """The tables `agreement`, `attributes` and `differences`; `first` is the rater of the last."""
    names = {label: name for name, label in labels.items()}
    apart: list[float] = []
    for table in ("agreement", "attributes", "differences"):
        for row in rated.table(table):
            if row["dimension"] not in names:
                assert "pooled" in row["dimension"]
                continue
            name = names[row["dimension"]]
            x, y, whose = rated.both(row.get("rater", first), name)
            made = pair_statistics(x, y, grading(name))
            assert amount(row["n"]) == len(x), row
            made["mean difference"] = made["offset"]
            made["lower limit"] = (limit(x, y, -1), "as it is")
            made["upper limit"] = (limit(x, y, 1), "as it is")
            apart += _all(row, made, whose)
    _as_wide_as_ours(apart, 60)


def classes_are_right(rated: Rated, labels: Mapping[str, str], grades: Mapping[str, Sequence[float]]) -> None:
    """The table `classes`, by the grades of each dimension."""
    names = {label: name for name, label in labels.items()}
    apart: list[float] = []
    for row in rated.table("classes"):
        name = names[row["dimension"]]
        x, y, whose = rated.both(row["rater"], name)
        assert amount(row["n"]) == len(x), row
        if len(x):
            apart += _all(row, class_rates(x, np.floor(y + 0.5), grades[name]), whose)
    _as_wide_as_ours(apart, 20)


def _all(
    row: Mapping[str, str], made: Mapping[str, tuple[Statistic, str]], whose: Sequence[object]
) -> list[float]:
    return [
        each
        for column, how in made.items()
        if row.get(column)
        for each in holds(row, column, how[0], whose, how[1])
    ]


def _as_wide_as_ours(apart: Sequence[float], least: int) -> None:
    """On the whole, ends lie where ours do: a tenth of what Student's quantiles add would show."""
    assert len(apart) >= least
    assert abs(float(np.mean(apart))) < 0.03 and float(np.median(np.abs(apart))) < 0.01, apart
