"""The rows of one pair of raters on one grid: estimates, and what they rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medjury.analysis.agreement._design import Design
from medjury.analysis.agreement._pair_estimates import pair_estimates
from medjury.analysis.agreement._pair_statistics import Pair, Settings
from medjury.analysis.agreement._row import AgreementRow, Counts
from medjury.analysis.agreement._weighting import PostStrata, post_strata
from medjury.statistics import Estimate, Floats
from medjury.tables import ABSENT, NOT_APPLICABLE, SCORED, UNSCORED, Grid, probability_of


def pair_rows(
    grid: Grid, reference: str, rater: str, design: Design, *, note: str = ""
) -> list[AgreementRow]:
    """Every row of the pair at the levels and groups the design asks for; `note` joins every method."""
    item = design.level in ("item", "both")
    system = design.level in ("system", "both") or design.by == "system"
    rows = _rows(grid, reference, rater, design, item=item, system=system)
    if design.by == "system":
        for name in np.unique(grid.systems):
            inside = grid.where(grid.systems == name)
            rows += _rows(inside, reference, rater, design, item=True, system=False, only=str(name))
    if not note:
        return rows
    return [
        replace(row, estimate=replace(row.estimate, method=f"{row.estimate.method}; {note}")) for row in rows
    ]


def rows_of(
    grid: Grid, reference: str, rater: str, found: Mapping[str, Estimate], counts: Counts
) -> list[AgreementRow]:
    """A row for each of these statistics."""
    return [
        AgreementRow(grid.dimension, reference, rater, name, estimate, counts)
        for name, estimate in found.items()
    ]


def counts_of(grid: Grid, reference: str, rater: str) -> Counts:
    """What the pair's rows rest on."""
    first, second = grid.states[reference], grid.states[rater]
    present = (first != ABSENT) & (second != ABSENT)
    both = (first == SCORED) & (second == SCORED)
    failed = present & ((first == UNSCORED) | (second == UNSCORED))
    excused = present & ~failed & ((first == NOT_APPLICABLE) | (second == NOT_APPLICABLE))
    rated = int((first == SCORED).sum())
    n = int(both.sum())
    weights = weights_of(grid, (reference, rater))
    sides = [grid.scores[name][both] for name in (reference, rater)]
    return Counts(
        n,
        int(failed.sum()),
        int(excused.sum()),
        int(((first == SCORED) & (second == ABSENT)).sum()),
        n / rated if rated else None,
        *_at_the_ends(grid, sides, None if weights is None else weights[both]),
    )


def _at_the_ends(grid: Grid, sides: Sequence[Floats], weights: Floats | None = None) -> list[float | None]:
    """Which share of the reference's and of the rater's scores is the highest grade, and which the lowest."""
    if grid.scale is None or not len(sides[0]):
        return [None, None, None, None]
    graded = [grid.scale.grade(side) for side in sides]
    ends = (grid.scale.highest, grid.scale.lowest)
    return [float(np.average(side == end, weights=weights)) for end in ends for side in graded]


def group_counts(grid: Grid, references: Sequence[str], judge: str | None, used: NDArray[np.bool_]) -> Counts:
    """What rows about a group of references rest on, alone or with a judge; `used` marks their units. Ceiling
    and floor of the reference are over all its raters' scores."""
    states = np.stack([grid.states[name] for name in references])
    asked = (states != ABSENT).any(axis=0)
    rated = (states == SCORED).sum(axis=0) >= (2 if judge is None else 1)
    failed = asked & (states == UNSCORED).any(axis=0)
    if judge is not None:
        failed |= asked & (grid.states[judge] == UNSCORED)
    group = np.concatenate([grid.scores[name][used] for name in references])
    group = group[~np.isnan(group)]
    shares = _at_the_ends(grid, (group, group if judge is None else grid.scores[judge][used]))
    n = int(used.sum())
    coverage = n / int(rated.sum()) if rated.any() else None
    return Counts(n, int(failed.sum()), 0, 0, coverage, *shares)


def complete_pair(grid: Grid, reference: str, rater: str, design: Design) -> Pair:
    """The units both scored."""
    both = (grid.states[reference] == SCORED) & (grid.states[rater] == SCORED)
    rows = np.column_stack([grid.scores[name][both] for name in (reference, rater)])
    # Numbers in the order of the names: they are compared and put in order again and again.
    names, systems = np.unique(grid.systems[both], return_inverse=True)
    several = len(names) > 1
    metric = design.is_metric(reference) or design.is_metric(rater)
    weights = weights_of(grid, (reference, rater))
    return Pair(
        rows,
        np.unique(grid.clusters[both], return_inverse=True)[1],
        grid.scale,
        systems if several else None,
        metric,
        None if weights is None else weights[both],
        None if weights is None or metric else _strata(grid, (reference, rater), both, weights),
    )


def _strata(
    grid: Grid, raters: tuple[str, str], both: NDArray[np.bool_], weights: Floats
) -> PostStrata | None:
    """All answers of the systems that were read, by the score of the one of two raters for whom nobody drew."""
    whole = [name for name in raters if name not in grid.drawn]
    if len(whole) != 1:
        return None
    there = (grid.states[whole[0]] == SCORED) & np.isin(grid.systems, grid.systems[both])
    return post_strata(
        grid.scores[whole[0]][there], np.where(both, weights, 0.0)[there], grid.clusters[there]
    )


def weights_of(grid: Grid, raters: Sequence[str]) -> Floats | None:
    """One over the probability of every unit; None where all are the same, as then nothing need be weighted."""
    probability = probability_of(grid, raters)
    known = np.any([grid.states[name] != ABSENT for name in raters if name in grid.drawn], axis=0)
    return 1.0 / probability if known.any() and np.ptp(probability[known]) > 1e-9 else None


def _rows(
    grid: Grid, reference: str, rater: str, design: Design, *, item: bool, system: bool, only: str = ""
) -> list[AgreementRow]:
    counts = counts_of(grid, reference, rater)
    of_items, of_systems = pair_estimates(
        complete_pair(grid, reference, rater, design), design.settings, item=item, system=system
    )
    if item:
        of_items |= _repeat_spread(grid, rater, design.settings)
    rows = [
        AgreementRow(grid.dimension, reference, rater, name, estimate, counts, "item", only, p_value)
        for name, (estimate, p_value) in of_items.items()
    ]
    of_means = rows_of(grid, reference, rater, of_systems, counts)
    return rows + [replace(row, level="system") for row in of_means]


def _repeat_spread(grid: Grid, rater: str, settings: Settings) -> dict[str, tuple[Estimate, float | None]]:
    """How far the rater's own repeats scatter: the mean standard deviation over units with two or more."""
    spread = grid.repeat_spread[rater]
    known = spread[~np.isnan(spread)]
    if not known.size or not settings.wants("repeat_sd"):
        return {}
    method = "mean over units of the standard deviation of the compared rater's repeats"
    return {"repeat_sd": (Estimate(float(known.mean()), None, None, int(known.size), method), None)}


def resampling(grid: Grid, settings: Settings) -> dict[str, Any]:
    """How the units of a grid are resampled: by cluster, but where every unit is one of its own."""
    several = len(set(grid.clusters.tolist())) < len(grid.clusters)
    return {
        "clusters": grid.clusters if several else None,
        "resamples": settings.resamples,
        "seed": settings.seed,
        "confidence": settings.confidence,
    }
