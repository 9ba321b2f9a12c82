"""Judge by system: how far each judge likes each answering system, and how far it does so whoever made it.

A judge likes single systems for reasons that have nothing to do with their vendor. Many cases measure such a
liking ever more precisely and never show where it comes from: only further systems do. So the unit is the cell of
one judge and one system, m_js = judge + system + effects + liking_js + error_js. The errors' covariance comes from
a mixed model of all scores (random intercepts of case and response); the likings' variance from what the cells
leave over beyond it (moments, as Hedges & Vevea 1998, Psychol Methods 3:486-504); Student's t has as many degrees
of freedom as cells are left. With equal numbers of cases this is the analysis of variance of judge x system, and
exact. One judge may like single systems more unevenly than the others do: of the interval with one variance for all
judges and that with a variance for each (Satterthwaite's degrees of freedom) the wider one is given.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from medjury.analysis.audits._regressions.columns import identified, independent
from medjury.analysis.audits._regressions.mixed_model import MixedModel, fit_mixed_model
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate, undefined
from medjury.tables import Grid

Floats = NDArray[np.float64]
NAME = "judge x system means, random judge x system"
LEAST_CASES = 5
# Scores times cells of judge and system that are held in memory at once: 400 MB.
LARGEST = 50_000_000
# With fewer cells left Student's t is so wide that a number would only mislead.
LEAST_FREEDOM = 3
NOT_IDENTIFIED = (
    "cannot be told apart from the effects of judges and answering systems: there must be judges of another "
    "vendor for the same answers, and answers of another vendor for the same judge"
)


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The mean of every judge on every system that it scored, with the covariance of their errors. `judge` and
    `system` are numbers; `base` has the indicator columns of judges and systems, but for the first of each."""

    mean: Floats
    covariance: Floats
    judge: NDArray[np.int64]
    system: NDArray[np.int64]
    base: Floats
    model: MixedModel
    told: tuple[str, ...] = ()

    def column(self, holds: Sequence[Sequence[bool]]) -> Floats:
        """A table of judges by systems as a column of cells."""
        return np.array(holds, dtype=np.float64)[self.judge, self.system]


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect with its standard error and degrees of freedom, or the `reason` why there is none."""

    value: float = math.nan
    error: float = math.nan
    freedom: float = 0.0
    reason: str = ""

    @property
    def reach(self) -> float:
        """Half the width of the 95 % interval, to tell the wider of two."""
        return float(special.stdtrit(self.freedom, 0.975)) * self.error

    def p_value(self) -> float | None:
        if self.reason:
            return None
        return (
            float(2.0 * special.stdtr(self.freedom, -abs(self.value) / self.error)) if self.error > 0 else 1.0
        )

    def estimate(self, n: int, confidence: float, name: str = NAME) -> Estimate:
        if self.reason:
            return undefined(self.reason, n, name)
        half = float(special.stdtrit(self.freedom, 0.5 + confidence / 2.0)) * self.error
        df = f"{self.freedom:.1f}".removesuffix(".0")
        method = f"{100 * confidence:g} % Student t with {df} df, {name}"
        return Estimate(self.value, self.value - half, self.value + half, n, method)


def judge_by_system(grid: Grid, judges: Sequence[str], systems: Sequence[str]) -> Cells:
    """The cells of one dimension; refused where the mixed model of the scores cannot be had."""
    grid, told = _lighter(grid, judges, systems)
    table = np.column_stack([grid.scores[judge] for judge in judges])
    response, judge = np.nonzero(~np.isnan(table))
    place = {name: number for number, name in enumerate(systems)}
    system = np.array([place[name] for name in grid.systems.tolist()], dtype=np.int64)[response]
    case = np.unique(grid.clusters, return_inverse=True)[1][response]
    cases = len(np.unique(case))
    if cases < LEAST_CASES:
        raise MedjuryError(f"{cases} cases are too few for the mixed model; {LEAST_CASES} are the least")
    known, cell = np.unique(judge * len(systems) + system, return_inverse=True)
    terms = [f"{judges[code // len(systems)]} on {systems[code % len(systems)]}" for code in known.tolist()]
    model = fit_mixed_model(
        table[response, judge], np.eye(len(known))[cell], terms, case=case, response=response
    )
    if not model.converged:
        raise MedjuryError("the mixed model did not converge")
    of_judge, of_system = np.divmod(known, len(systems))
    base = _indicators(of_judge, of_system)
    return Cells(model.coefficients, model.covariance, of_judge, of_system, base, model, told)


def _lighter(grid: Grid, judges: Sequence[str], systems: Sequence[str]) -> tuple[Grid, tuple[str, ...]]:
    """So many cases, drawn at random, as the model has room for. More would measure each liking better, and that is
    not what is uncertain."""
    names = np.unique(grid.clusters)
    size = len(grid.items) * len(judges) ** 2 * len(systems)
    if size <= LARGEST:
        return grid, ()
    count = max(int(len(names) * LARGEST / size), LEAST_CASES)
    kept = np.random.default_rng(0).permutation(names)[:count]
    told = (
        f"the mixed model rests on {count:,} of {len(names):,} cases, drawn at random: systems are its units"
    )
    return grid.where(np.isin(grid.clusters, kept)), (told,)


def effects_of(cells: Cells, columns: Mapping[str, Floats]) -> tuple[dict[str, Effect], float | None]:
    """Every effect, and the variance of the likings for single systems beside them (None where none can be had)."""
    design = np.column_stack([cells.base, *columns.values()])
    apart = identified(design)[cells.base.shape[1] :]
    kept = independent(design)
    used = design[:, kept]
    freedom = len(cells.mean) - len(kept)
    if freedom < LEAST_FREEDOM:
        reason = (
            f"{len(np.unique(cells.judge))} judges and {len(np.unique(cells.system))} systems leave "
            f"{max(freedom, 0)} comparisons to show how far judges like single systems whoever made them; "
            f"{LEAST_FREEDOM} are the least. Add systems, or judges of other vendors"
        )
        return {
            name: Effect(reason=reason if known else NOT_IDENTIFIED)
            for name, known in zip(columns, apart, strict=True)
        }, None
    weights = np.linalg.pinv(used)
    coefficients = weights @ cells.mean
    remainder = np.eye(len(cells.mean)) - used @ weights
    left = remainder @ cells.mean
    noise = float(np.trace(cells.covariance) - np.trace(weights @ cells.covariance @ used))
    liking = max(0.0, (float(left @ left) - noise) / freedom)
    spread = cells.covariance + liking * np.eye(len(left))
    found = {}
    for number, (name, known) in enumerate(zip(columns, apart, strict=True), start=cells.base.shape[1]):
        if not known:
            found[name] = Effect(reason=NOT_IDENTIFIED)
            continue
        row, value = weights[kept.index(number)], float(coefficients[kept.index(number)])
        pooled = Effect(value, math.sqrt(float(row @ spread @ row)), freedom)
        found[name] = max(pooled, _by_judge(cells, remainder, row, pooled), key=lambda each: each.reach)
    return found, liking


def _by_judge(cells: Cells, remainder: Floats, row: Floats, pooled: Effect) -> Effect:
    """The effect with a variance of likings for each judge, by moments: what a judge's cells leave over is a sum of
    all judges' variances, with the squares of the residual matrix as weights. The pooled one where they cannot be
    told apart, as of two judges."""
    inside = np.eye(int(cells.judge.max()) + 1)[cells.judge].T
    inside = inside[inside.any(axis=1)]
    mixed = inside @ remainder**2 @ inside.T
    if np.linalg.matrix_rank(mixed, tol=1e-9) < len(mixed):
        return pooled
    noise = np.diag(remainder @ cells.covariance @ remainder.T)
    likings = np.linalg.solve(mixed, inside @ ((remainder @ cells.mean) ** 2 - noise))
    own = (inside @ row**2) * np.maximum(likings, 0.0)
    variance = float(own.sum()) + float(row @ cells.covariance @ row)
    # What belongs to which judge, for the degrees of freedom: each has as many as its cells leave.
    parts = own + inside @ (row**2 * np.diag(cells.covariance))
    left = np.maximum(inside @ np.diag(remainder), 1.0)
    total = float((parts**2 / left).sum())
    freedom = min(float(parts.sum() ** 2) / total, pooled.freedom) if total > 0 else pooled.freedom
    return Effect(pooled.value, math.sqrt(max(variance, 0.0)), freedom)


def _indicators(judge: NDArray[np.int64], system: NDArray[np.int64]) -> Floats:
    columns = [np.ones(len(judge))]
    for codes in (judge, system):
        columns += [codes == code for code in np.unique(codes)[1:]]
    return np.column_stack(columns).astype(np.float64)
