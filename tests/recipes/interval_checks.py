"""Every value and interval of a report's tables of agreement and of classes, made a second time from the ratings,
on the same resamples; see `same_draws`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from tests.recipes.compared import amount
from tests.recipes.exact_checks import both_vary, pair_draws, resamples_of
from tests.recipes.rated import Grading, Rated
from tests.recipes.same_draws import Draws, equals, same_draws
from tests.recipes.second_opinion import Statistic, class_rates, limit, pair_statistics, per_row


def agreement_is_right(rated: Rated, labels: Mapping[str, str], grading: Grading, first: str) -> int:
    """The tables `agreement`, `attributes` and `differences`; `first` is the rater of the last. Tells how many
    intervals there were."""
    names, compared = {label: name for name, label in labels.items()}, 0
    for table in ("agreement", "attributes", "differences"):
        rows = rated.table(table)
        for row in rows:
            if row["dimension"] not in names:
                assert "pooled" in row["dimension"]
                continue
            name, rater = names[row["dimension"]], row.get("rater", first)
            x, y, whose = rated.both(rater, name)
            assert amount(row["n"]) == len(x), row
            if not len(x):
                continue
            draws = pair_draws(rated, rater, name, resamples_of(rows))[2]
            if table == "differences":  # of two scores alone
                draws = same_draws(np.column_stack([x, y]), whose, resamples_of(rows))
            made = pair_statistics(x, y, grading(name)) | {
                "weighted kappa": (both_vary(grading(name)(x), grading(name)(y)), "coefficient"),
                "mean difference": (per_row(y - x), "as it is"),
                "lower limit": (limit(x, y, -1), "as it is"),
                "upper limit": (limit(x, y, 1), "as it is"),
            }
            compared += _all(row, made, draws)
            if table == "attributes":
                assert amount(row["mean distance"]) == pytest.approx(np.abs(y - x).mean(), abs=1e-9), row
    return compared


def classes_are_right(rated: Rated, labels: Mapping[str, str], grades: Mapping[str, Sequence[float]]) -> int:
    """The table `classes`, by the grades of each dimension; tells how many intervals there were."""
    names, rows = {label: name for name, label in labels.items()}, rated.table("classes")
    compared = 0
    for row in rows:
        name = names[row["dimension"]]
        x, y, _ = rated.both(row["rater"], name)
        assert amount(row["n"]) == len(x), row
        if len(x):
            draws = pair_draws(rated, row["rater"], name, resamples_of(rows))[2]
            compared += _all(row, class_rates(x, np.floor(y + 0.5), grades[name]), draws)
    return compared


def _all(row: Mapping[str, str], made: Mapping[str, tuple[Statistic, str]], draws: Draws) -> int:
    """The ends of a share of counted cases, and why a rare class has none, are told by other tests."""
    compared, everybody = 0, np.ones((1, draws.resampled.shape[1]))
    for column, (statistic, scale) in made.items():
        if not row.get(column):
            continue
        if re.search(r"Wilson|Clopper|only \d+ times", row[f"{column} method"]):
            with np.errstate(all="ignore"):
                value = float(statistic(everybody)[0])
            assert amount(row[column]) == pytest.approx(value, abs=1e-9), (column, row)
            continue
        least = 30 if column in ("RMSE", "lower limit", "upper limit") else 10
        compared += equals(row, column, statistic, draws, scale, least)
    return compared
