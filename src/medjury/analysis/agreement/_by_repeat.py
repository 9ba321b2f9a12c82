"""Every run of a judge by itself: accuracy, F1 and kappa of each repeat, their mean and SD, before any merge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any

import numpy as np

from medjury.analysis.agreement._classification import classification_rates
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Floats, Rows, flat
from medjury.tables import Names, rating_table

STATISTICS = ("accuracy", "macro_f1", "cohen_kappa")
# With more grades than this a class is a grade, and its own F1 says little.
FEW_CLASSES = 3


@dataclass(frozen=True, slots=True)
class RepeatsRow:
    """One statistic of one judge on one dimension: `values` by repeat (None where it is undefined), their mean, and
    the SD across repeats (n − 1), which says how the judge varies, not how sure the mean is. `n` answers at least
    were rated in every repeat."""

    rater: str
    dimension: str
    statistic: str
    values: Mapping[int, float | None]
    n: int

    @property
    def defined(self) -> list[float]:
        return [value for value in self.values.values() if value is not None]

    @property
    def mean(self) -> float | None:
        return mean(self.defined) if self.defined else None

    @property
    def sd(self) -> float | None:
        return stdev(self.defined) if len(self.defined) > 1 else None

    def as_dict(self) -> dict[str, Any]:
        return {
            **flat(self, "rater", "dimension", "statistic", "mean", "sd"),
            "repeats": len(self.values),
            "n": self.n,
            **{f"repeat_{number}": value for number, value in self.values.items()},
        }


def agreement_by_repeat(
    table: object,
    *,
    raters: Names | None = None,
    reference: Names | None = None,
    dimensions: Names | None = None,
) -> Rows[RepeatsRow]:
    """Each repeat of each judge against the nearest grade of the reference's mean (half up), as if it were the only
    one, and where there are few grades F1 of each (`f1_class_2`) too. The jury is formed of merged repeats and is
    not among them."""
    import polars as pl

    table = rating_table(table)
    roles = table.roles(raters, reference, kinds=("judge",))
    judges = [
        name for name in roles.raters if table.raters.get(name) not in ("jury", "metric", "clinician", None)
    ]
    own = table.rows.filter(pl.col("rater").is_in(judges))
    numbers = {
        name: sorted(own.filter(pl.col("rater") == name)["repeat"].unique().to_list()) for name in judges
    }
    several = [name for name in judges if len(numbers[name]) > 1]
    if not several:
        raise MedjuryError("no judge was asked twice: there are no repeats to tell apart.")
    others = table.rows.filter(~pl.col("rater").is_in(judges))
    found: dict[tuple[str, str, str], dict[int, float | None]] = {}
    fewest: dict[tuple[str, str], int] = {}
    for number in sorted({each for name in several for each in numbers[name]}):
        once = table.where(pl.concat([others, own.filter(pl.col("repeat") == number)]))
        for each in once.chosen(dimensions, derived=False):
            if each.grades is None:
                continue
            grid = once.grid(each.name)
            truth = each.grades.grade(once.reference_scores(grid, roles.reference))
            for name in several:
                if number not in numbers[name]:
                    continue
                said = each.grades.grade(grid.scores[name])
                both = ~np.isnan(truth) & ~np.isnan(said)
                key = (name, each.name)
                fewest[key] = min(fewest.get(key, len(both)), int(both.sum()))
                for statistic, value in _rates(truth[both], said[both], each.grades.values).items():
                    found.setdefault((*key, statistic), {})[number] = value
    return Rows(
        tuple(RepeatsRow(*key, values, fewest[key[0], key[1]]) for key, values in found.items()),
        table.warnings,
    )


def _rates(truth: Floats, said: Floats, grades: tuple[float, ...]) -> dict[str, float | None]:
    levels = np.asarray(grades, dtype=float)
    table = np.zeros((len(levels), len(levels)))
    np.add.at(table, (np.searchsorted(levels, truth), np.searchsorted(levels, said)), 1.0)
    rates = classification_rates(table)
    total = table.sum()
    chance = float((table.sum(axis=0) * table.sum(axis=1)).sum()) / total**2 if total else 1.0
    kappa = (float(rates["accuracy"]) - chance) / (1.0 - chance) if chance < 1.0 else float("nan")
    values = (float(rates["accuracy"]), float(rates["macro_f1"]), kappa)
    found = dict(zip(STATISTICS, values, strict=True))
    if len(grades) <= FEW_CLASSES:
        found |= {f"f1_class_{grade:g}": float(f1) for grade, f1 in zip(grades, rates["f1"], strict=True)}
    return {name: None if value != value else value for name, value in found.items()}
