"""The numbers of the report: computed once per dimension, read by the gate and by every section."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from medjury.agreement import (
    AgreementRow,
    NonInferiority,
    SevereErrors,
    agreement,
    correlation_statistics,
    icc_statistics,
    kappa_statistics,
    non_inferiority,
    severe_errors,
)
from medjury.errors import MedjuryError
from medjury.statistics import Estimate, combined
from medjury.tables import Grid, clean_rows, grades_of
from medjury.validation._evidence import CONSENSUS, SCORED, Evidence, Measured

if TYPE_CHECKING:
    import polars

PAIR = (
    "exact_match",
    "offset",
    "absolute_offset",
    "rmse",
    "spearman",
    "kappa_quadratic",
    "icc_2_1",
    "krippendorff_alpha_ordinal",
    "gwet_ac2_quadratic",
)
_MANY = 10_000
BY_SYSTEM = ("spearman_between_systems", "spearman_within_systems", "spearman_system_mean_baseline")


@dataclass(frozen=True, eq=False)
class Numbers:
    """One dimension on the held-out cases. `pairs[rater][statistic]` compares a rater with the reference (the
    clinicians' mean, or the only clinician); `beside[rater][statistic]` compares a rater's mean agreement with
    single clinicians with the clinicians' own; None of it where nothing can be compared. `cases` counts what can be
    resampled: `items`, or patients where some have several."""

    dimension: Measured
    grid: Grid
    reference: np.ndarray[Any, np.dtype[np.float64]]
    cases: int
    units: int
    pairs: dict[str, dict[str, AgreementRow]]
    beside: dict[str, dict[str, NonInferiority]]
    severe: dict[str, SevereErrors]
    problem: str = ""
    items: int = 0

    def pair(self, rater: str, statistic: str) -> Estimate | None:
        row = self.pairs.get(rater, {}).get(statistic)
        return None if row is None else row.estimate


def compute(evidence: Evidence) -> dict[str, Numbers]:
    """The numbers of every dimension."""
    return {each.name: _of_dimension(evidence, each) for each in evidence.dimensions}


def oriented(scores: np.ndarray[Any, Any], dimension: Measured) -> np.ndarray[Any, Any]:
    """Scores with low as the dangerous end."""
    if dimension.higher_is_better or dimension.grades is None:
        return scores
    return dimension.grades[0] + dimension.grades[-1] - scores


def danger_limits(evidence: Evidence, dimension: Measured) -> tuple[float, float] | None:
    """The score at or below which clinicians saw danger, and how many grades too kind is severe, both rounded to
    grades of the (oriented) scale; None without a scale."""
    if dimension.grades is None:
        return None
    low, high = dimension.grades[0], dimension.grades[-1]
    span, step = high - low, min(np.diff(dimension.grades))
    gap = max(step, evidence.rules.gap * span)
    return low + evidence.rules.danger * span, float(gap)


def _of_dimension(evidence: Evidence, dimension: Measured) -> Numbers:
    grid = evidence.held_out(evidence.grids[dimension.name])
    reference = evidence.reference(grid)
    said = grid.scores[evidence.jury] if evidence.jury else np.full(len(grid.items), np.nan)
    both = ~np.isnan(said) & ~np.isnan(reference)
    cases, units = len(np.unique(grid.clusters[both])), int(both.sum())
    items = len(np.unique(grid.items[both]))
    pairs: dict[str, dict[str, AgreementRow]] = {}
    beside: dict[str, dict[str, NonInferiority]] = {}
    problem = ""
    if units:
        try:
            pairs = _pairs(evidence, dimension, grid, reference)
        except MedjuryError as error:
            problem = str(error)
        if len(evidence.clinicians) > 1:
            # Of very large tables the jury alone: it is the jury that the gate judges.
            voices = evidence.voices if units <= _MANY else (evidence.jury,)
            beside = {rater: _beside(evidence, dimension, grid, rater) for rater in voices}
    severe = _severe(evidence, dimension, grid, reference)
    return Numbers(dimension, grid, reference, cases, units, pairs, beside, severe, problem, items)


def _pairs(
    evidence: Evidence, dimension: Measured, grid: Grid, reference: np.ndarray[Any, Any]
) -> dict[str, dict[str, AgreementRow]]:
    rows = comparison_rows(evidence, dimension, grid, reference)
    several = len(np.unique(grid.systems[~np.isnan(reference)])) > 1
    scale = None if dimension.grades is None else grades_of(dimension.grades)
    found: dict[str, dict[str, AgreementRow]] = {}
    voices = [name for name in evidence.voices if (grid.states[name] == SCORED).any()]
    table = agreement(
        rows,
        reference=CONSENSUS,
        compare=voices,
        scale=scale,
        statistics=[*PAIR, *(BY_SYSTEM if several else ())],
        resamples=evidence.resamples(len(grid.items)),
        seed=evidence.settings.seed,
    )
    for row in table.rows:
        found.setdefault(row.compare, {})[row.statistic] = row
    return found


def comparison_rows(
    evidence: Evidence, dimension: Measured, grid: Grid, reference: np.ndarray[Any, Any]
) -> polars.DataFrame:
    """The jury, its judges and the clinicians' mean on one dimension, as a table for `agreement`."""
    import polars as pl

    # The cluster is that of the grid: a patient by name, or the item itself where no patient is known.
    patients = grid.clusters
    parts = []
    for rater, scores in [(CONSENSUS, reference), *((name, grid.scores[name]) for name in evidence.voices)]:
        known = ~np.isnan(scores)
        if rater != CONSENSUS:
            known |= grid.states[rater] != 0
        parts.append(
            pl.DataFrame(
                {
                    "item": grid.items[known],
                    "system": grid.systems[known],
                    "patient": patients[known],
                    "rater": [rater] * int(known.sum()),
                    "rater_kind": ["clinician" if rater == CONSENSUS else "judge"] * int(known.sum()),
                    "dimension": [dimension.name] * int(known.sum()),
                    "score": scores[known],
                    "status": _statuses(grid, rater, known),
                }
            ).with_columns(pl.col("score").fill_nan(None))
        )
    return clean_rows(pl.concat(parts)).drop("row", "cluster")


def _statuses(grid: Grid, rater: str, known: np.ndarray[Any, np.dtype[np.bool_]]) -> list[str]:
    if rater == CONSENSUS:
        return ["scored"] * int(known.sum())
    names = {1: "scored", 2: "unscored", 3: "not_applicable"}
    return [names[int(state)] for state in grid.states[rater][known]]


def _beside(evidence: Evidence, dimension: Measured, grid: Grid, rater: str) -> dict[str, NonInferiority]:
    """Jury with clinician against clinician with clinician, on the same cases and the same resamples."""
    humans = np.column_stack([grid.scores[name] for name in evidence.clinicians])
    said = grid.scores[rater]
    clusters = grid.clusters if len(np.unique(grid.clusters)) < len(grid.clusters) else None
    shared: dict[str, Any] = {
        "margin": evidence.rules.margin,
        "clusters": clusters,
        "resamples": evidence.resamples(len(grid.items)),
        "seed": evidence.settings.seed,
    }
    found: dict[str, NonInferiority] = {}
    plain = combined(correlation_statistics(["spearman"]), icc_statistics(["icc_2_1"]))
    try:
        found |= non_inferiority(humans, said, plain, **shared)
        if dimension.grades is not None:
            grades = grades_of(dimension.grades)
            kappa = kappa_statistics(grades.values, ["quadratic"])
            found |= non_inferiority(grades.grade(humans), grades.grade(said), kappa, **shared)
    except MedjuryError:
        return found
    return found


def _severe(
    evidence: Evidence, dimension: Measured, grid: Grid, reference: np.ndarray[Any, Any]
) -> dict[str, SevereErrors]:
    limits = danger_limits(evidence, dimension)
    if limits is None or not evidence.clinicians:
        return {}
    threshold, gap = limits
    return {
        rater: severe_errors(
            oriented(reference, dimension),
            oriented(grid.scores[rater], dimension),
            threshold=threshold,
            gap=gap,
        )
        for rater in evidence.voices
    }


def clinician_pairs(evidence: Evidence) -> list[tuple[str, str]]:
    return list(combinations(evidence.clinicians, 2))
