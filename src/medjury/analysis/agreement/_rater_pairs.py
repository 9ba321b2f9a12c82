"""Every two raters: weighted kappa and rank correlation, in groups of who they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from medjury.analysis.agreement._pair_statistics import two_rater_statistics, whole_numbers
from medjury.foundation.screen import fits_one_screen
from medjury.statistics import Floats, Printable, Read, Result, Row, Statistics, counted, text_table
from medjury.tables import Grades, Grid, Names, RatingTable, Roles, rating_table

JUDGES, MIXED, HUMANS, WITH_JURY = "judge with judge", "judge with human", "human with human", "with the jury"
WITH_ADJUDICATOR = "with the adjudicator"
_FEW_VALUES = 64
_SHORT_LINES = 40


@dataclass(frozen=True, slots=True)
class RaterPair(Row):
    """Two raters on one dimension: how many answers both scored, quadratic weighted kappa on the full scale (scores
    between grades rounded half up; without a scale, of whole-number scores) and Spearman's rho of the scores as
    they are; None where one does not exist."""

    dimension: str
    first: str
    second: str
    group: str
    n: int
    kappa_quadratic: float | None
    spearman: float | None


@dataclass(frozen=True, slots=True)
class RaterPairs(Result[RaterPair]):
    """Every two raters on every dimension; `raters` in the order of the table."""

    rows: tuple[RaterPair, ...]
    raters: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    def short_text(self) -> str:
        """On one screen: every pair, or of many how far those of each group agree."""
        whole = self.text()
        if fits_one_screen(whole):
            return whole
        groups: dict[tuple[str, str], list[RaterPair]] = {}
        for row in self.rows:
            groups.setdefault((row.dimension, row.group), []).append(row)
        lines: list[dict[str, Printable]] = []
        for (dimension, group), rows in groups.items():
            kappas = [row.kappa_quadratic for row in rows if row.kappa_quadratic is not None]
            line: dict[str, Printable] = {"dimension": dimension, "group": group, "pairs": len(rows)}
            for name, of in (("lowest", min), ("median", np.median), ("highest", max)):
                line[name] = float(of(kappas)) if kappas else None
            lines.append(line)
        return "\n".join(
            [
                *(f"! {warning}" for warning in self.warnings),
                *text_table(lines[:_SHORT_LINES]),
                "kappa_quadratic of the pairs in each group",
                f"--all shows all {counted(len(self.rows), 'pair')}, with n and Spearman's rho",
            ]
        )


def rater_pairs(
    table: object,
    *,
    raters: Names | None = None,
    reference: Names | None = None,
    dimensions: Names | None = None,
) -> RaterPairs:
    """Compare every two of the clinicians, the judges and the jury.

    `group` tells judges among themselves, a judge with a human and humans among themselves apart, as the plot of
    rho against kappa of Rouillard et al. (2026) does; the jury contains its judges, and an adjudicator has read the
    clinicians' scores: each is a group of its own. Judges who stand side by side are no jury. Text metrics are on
    no scale and take no part, nor does a second panel's consensus: its members do. There are no intervals: many
    pairs are for looking at, and `agreement` has them for the pairs that matter.

    >>> import polars as pl
    >>> scores = {"one": [1, 2, 3, 4, 5, 3], "two": [1, 2, 4, 4, 5, 2]}
    >>> rows = [(str(i), who, "accuracy", s) for who, all in scores.items() for i, s in enumerate(all)]
    >>> frame = pl.DataFrame(rows, schema=["item", "rater", "dimension", "score"], orient="row")
    >>> pair = rater_pairs(rating_table(frame, scale=(1, 5)), reference="one").rows[0]
    >>> round(pair.kappa_quadratic, 3), round(pair.spearman, 3)
    (0.909, 0.925)
    """
    ratings = rating_table(table)
    roles = ratings.roles(raters, reference, need_reference=False, themselves=True)
    humans = tuple(dict.fromkeys((*roles.reference, *(() if raters else ratings.clinicians))))
    listed = tuple(
        name
        for name in dict.fromkeys((*humans, *roles.raters))
        if ratings.raters.get(name) != "metric" and (not ratings.people.panel or name != ratings.people.panel)
    )
    groups = {pair: _group(ratings, roles, humans, *pair) for pair in combinations(listed, 2)}
    rows = [
        row
        for each in ratings.chosen(dimensions, derived=False)
        for row in _rows(ratings.grid(each.name, roles), each.grades, groups)
    ]
    return RaterPairs(tuple(rows), listed, ratings.warnings)


def _group(table: RatingTable, roles: Roles, humans: tuple[str, ...], first: str, second: str) -> str:
    formed = roles.jury if roles.jurors else ""
    if any(name == formed or table.raters.get(name) == "jury" for name in (first, second)):
        return WITH_JURY
    if table.people.adjudicator in (first, second):
        return WITH_ADJUDICATOR
    return (JUDGES, MIXED, HUMANS)[(first in humans) + (second in humans)]


def _rows(grid: Grid, grades: Grades | None, groups: Mapping[tuple[str, str], str]) -> list[RaterPair]:
    if not groups:
        return []
    names = list(dict.fromkeys(name for pair in groups for name in pair))
    scores = np.column_stack([grid.scores[name] for name in names])
    pairs = np.array([[names.index(name) for name in pair] for pair in groups])
    counted = grades or whole_numbers(scores[~np.isnan(scores)])
    kappas: list[float | None] = [None] * len(pairs)
    if counted is not None:
        kappas = _values(two_rater_statistics(["kappa_quadratic"], counted), counted.grade(scores), pairs)
    rhos = _values(two_rater_statistics(["spearman"]), scores, pairs)
    known = (~np.isnan(scores)).astype(np.int64)
    shared = (known.T @ known)[pairs[:, 0], pairs[:, 1]].tolist()
    return [
        RaterPair(grid.dimension, first, second, group, items, *found)
        for ((first, second), group), items, *found in zip(groups.items(), shared, kappas, rhos, strict=True)
    ]


def _values(statistics: Statistics, scores: Floats, pairs: NDArray[np.int64]) -> list[float | None]:
    """The one value of the statistics for each pair of columns; None where it does not exist.

    Scores take few values, so that two raters are told by how often each two values meet, and all pairs are read at
    once. Where values are many the pairs are read one by one."""
    levels = np.unique(scores[~np.isnan(scores)])
    size = len(levels)
    if not size:
        return [None] * len(pairs)
    if size > _FEW_VALUES:
        return [_alone(statistics, scores[:, pair]) for pair in pairs]
    codes = np.where(np.isnan(scores), -1, np.searchsorted(levels, scores))
    counts = np.empty((len(pairs), size * size))
    for place, (one, two) in enumerate(codes.T[pairs]):
        both = (one >= 0) & (two >= 0)
        counts[place] = np.bincount(one[both] * size + two[both], minlength=size * size)
    meeting = np.column_stack([np.repeat(levels, size), np.tile(levels, size)])
    return _read(statistics(meeting), counts)


def _alone(statistics: Statistics, rows: Floats) -> float | None:
    both = rows[~np.isnan(rows).any(axis=1)]
    return _read(statistics(both), np.ones((1, len(both))))[0] if len(both) else None


def _read(read: Read, weights: Floats) -> list[float | None]:
    with np.errstate(divide="ignore", invalid="ignore"):
        (values,) = read(weights).values()
    return [value if np.isfinite(value) else None for value in values.tolist()]
