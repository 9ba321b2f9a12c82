"""A second panel re-scored the same answers: who is nearer to the reference, before and after calibration, and who
makes fewer severe errors?"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from medjury.analysis.agreement import compare_paired_rates, compare_rates, severe_errors, win_rates
from medjury.foundation.errors import MedjuryError
from medjury.statistics import (
    Estimate,
    Floats,
    Printable,
    Result,
    Row,
    flat,
    percent,
    side_by_side,
    text_table,
)  # fmt: skip
from medjury.tables import (
    SCORED,
    Grid,
    Measured,
    Names,
    RatingTable,
    Roles,
    mean_of_raters,
    named,
    rating_table,
)

# Calibration is imported where there is a second panel.
if TYPE_CHECKING:
    from medjury.analysis.calibration import CalibrationStudy

AS_SCORED, CALIBRATED = "as scored", "calibrated"


@dataclass(frozen=True, slots=True)
class PanelWin(Row):
    """One rater beside the second panel by one metric: the share of resamples of cases in which the rater is nearer
    to the reference (ties half), and `delta`, how much nearer, positive where the rater is better."""

    dimension: str
    rater: str
    stage: str
    metric: str
    win_rate: float | None
    delta: Estimate
    n: int

    def as_dict(self) -> dict[str, Any]:
        return {**flat(self), "method": self.delta.method, "reason": self.delta.reason}


@dataclass(frozen=True, slots=True)
class PanelSafety(Row):
    """Severe errors of a rater and of the panel, each of the dangerous answers it scored, and the posterior
    probability that the rater's rate is lower, under a flat and under Jeffreys's prior: each on its own answers,
    and on those that both scored (None where a side has none). Where the priors differ, the prior speaks."""

    dimension: str
    rater: str
    errors: int
    dangerous: int
    rate: Estimate
    panel_errors: int
    panel_dangerous: int
    panel_rate: Estimate
    lower_flat: float | None
    lower_jeffreys: float | None
    both: int
    lower_paired_flat: float | None
    lower_paired_jeffreys: float | None


@dataclass(frozen=True, slots=True)
class PanelComparison(Result[PanelWin]):
    """`rows` are the win rates, `safety` the severe errors; `panel` names the second panel's members, `reference`
    the first's."""

    rows: tuple[PanelWin, ...]
    safety: tuple[PanelSafety, ...]
    panel: tuple[str, ...]
    reference: tuple[str, ...]
    warnings: tuple[str, ...]

    def to_json(self) -> str:
        """An object of `wins` and `safety`; what does not exist is null."""
        parts = {
            "wins": [dict(row.as_dict()) for row in self.rows],
            "safety": [row.as_dict() for row in self.safety],
        }
        return json.dumps(parts, indent=1, ensure_ascii=False, allow_nan=False)

    def text(self) -> str:
        wins: list[Mapping[str, Printable]] = [
            {
                "dimension": row.dimension,
                "rater": row.rater,
                "stage": row.stage,
                "metric": row.metric,
                "win rate": percent(row.win_rate),
                "delta": row.delta,
                "n": row.n,
            }
            for row in self.rows
        ]
        safety: list[Mapping[str, Printable]] = [
            {
                "dimension": row.dimension,
                "rater": row.rater,
                "severe errors": f"{row.errors} of {row.dangerous}",
                "panel's": f"{row.panel_errors} of {row.panel_dangerous}",
                "P(lower), flat": row.lower_flat,
                "Jeffreys": row.lower_jeffreys,
                "same answers, flat": row.lower_paired_flat,
            }
            for row in self.safety
        ]
        who = f"nearer to {', '.join(self.reference)} than {', '.join(self.panel)}"
        lines = [*(f"! {each}" for each in self.warnings), f"share of resamples in which a rater is {who}"]
        return "\n".join([*lines, *text_table(wins), "", "severe errors", *text_table(safety)])


def against_panel(
    table: object,
    *,
    raters: Names | None = None,
    reference: Names | None = None,
    second_panel: Names | None = None,
    dimensions: Names | None = None,
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
) -> PanelComparison:
    """Compare judges and jury with a second panel, both against the reference, on the answers that all three
    scored: `win_rates` by offset, RMSE, Spearman's rho and weighted kappa, as scored and calibrated (isotonic, out
    of fold; the jury's own score, and the mean of calibrated judges, `jury_of_calibrated`), and the posterior of
    severe errors (`compare_rates`), as Rouillard et al. (2026) do.

    `second_panel` names its members, by default those of the table; several are averaged. The reference are the
    other clinicians unless it is named.
    """
    ratings = rating_table(table)
    panel = ratings.people.second_panel
    if second_panel is not None:
        panel = named(second_panel, ratings.raters, "member of the second panel")
    if not panel:
        raise MedjuryError("there is no second panel to compare with; name its members (--panel).")
    yardstick = (reference,) if isinstance(reference, str) else reference or ()
    aside = [name for name in panel if name not in yardstick]
    roles = ratings.roles(raters, reference, kinds=("judge", "jury"), aside=aside)
    if shared := sorted({*panel} & {*roles.reference}):
        raise MedjuryError(
            f"{shared[0]!r} is in the second panel and in the reference; it cannot be in both."
        )
    chosen = [
        each
        for each in ratings.chosen(dimensions, derived=False)
        if each.grades is not None and not each.derived
    ]
    from medjury.analysis.calibration import calibrate

    warnings = list(ratings.warnings)
    study: CalibrationStudy | None = None
    try:
        study = calibrate(
            ratings, raters=raters, reference=roles.reference, dimensions=dimensions, seed=ratings.seed(seed)
        )
        warnings += [str(each) for each in study.refused]
    except MedjuryError as error:
        warnings.append(f"not calibrated: {error}")
    how: dict[str, Any] = {
        "confidence": confidence,
        "resamples": ratings.resamples(resamples),
        "seed": ratings.seed(seed),
    }
    tasks = [
        partial(_wins, grid, each, name, stage, text, reference_scores, beside, how)
        for each in chosen
        for grid in [ratings.grid(each.name, roles)]
        for reference_scores in [ratings.reference_scores(grid, roles.reference)]
        for beside in [_panel_scores(grid, panel)]
        for name, stage, text in _stages(grid, each, roles, study)
    ]
    wins = [row for part in side_by_side(tasks) for row in part]
    safety = [
        row
        for each in chosen
        for row in _safety(ratings, ratings.grid(each.name, roles), each, roles, panel, confidence)
    ]
    return PanelComparison(tuple(wins), tuple(safety), panel, roles.reference, tuple(warnings))


def _panel_scores(grid: Grid, panel: Sequence[str]) -> Floats:
    return mean_of_raters(np.column_stack([grid.scores[name] for name in panel]))


def _stages(
    grid: Grid, dimension: Measured, roles: Roles, study: CalibrationStudy | None
) -> list[tuple[str, str, Floats]]:
    """Every rater's scores as they are, then calibrated, each by a map that never saw its case."""
    from medjury.analysis.calibration import JURY_OF_CALIBRATED

    found = [(name, AS_SCORED, grid.scores[name]) for name in roles.raters]
    if study is None:
        return found
    # What follows from other dimensions is in another order of answers; it is not compared here.
    for each in study.compared:
        aligned = each in study.calibrations or each.rater == JURY_OF_CALIBRATED
        if aligned and each.dimension == dimension.name:
            pairs = each.pairs
            found.append((each.rater, CALIBRATED, np.where(pairs.known, pairs.calibrated, np.nan)))
    return found


def _wins(
    grid: Grid,
    dimension: Measured,
    rater: str,
    stage: str,
    scores: Floats,
    reference: Floats,
    panel: Floats,
    how: Mapping[str, Any],
) -> list[PanelWin]:
    assert dimension.grades is not None
    n = int((~np.isnan(np.column_stack([reference, scores, panel])).any(axis=1)).sum())
    if not n:
        return []
    clusters = grid.clusters if len(np.unique(grid.clusters)) < len(grid.clusters) else None
    found = win_rates(reference, scores, panel, scale=dimension.grades, clusters=clusters, **how)
    rows = []
    for metric, result in found.items():
        rate, delta = (None, result) if isinstance(result, Estimate) else (result.rate, result.delta)
        rows.append(PanelWin(dimension.name, rater, stage, metric.removeprefix("absolute_"), rate, delta, n))
    return rows


def _safety(
    table: RatingTable,
    grid: Grid,
    dimension: Measured,
    roles: Roles,
    panel: Sequence[str],
    confidence: float,
) -> list[PanelSafety]:
    limits = dimension.claimed_danger(table.rules)
    if limits is None:
        return []
    seen = table.danger_word(grid, dimension, roles.reference)
    options: dict[str, Any] = {
        "threshold": limits[0],
        "gap": limits[1],
        "clusters": grid.clusters,
        "confidence": confidence,
    }
    other = severe_errors(seen, dimension.oriented(_panel_scores(grid, panel)), **options)
    if not other.dangerous:
        return []
    known = ~np.isnan(_panel_scores(grid, panel))
    rows = []
    for name in roles.raters:
        own = severe_errors(seen, dimension.oriented(grid.scores[name]), **options)
        apart = compare_rates(own.errors, own.dangerous, other.errors, other.dangerous, confidence=confidence)
        both = own.danger & known & (grid.states[name] == SCORED)
        one, two = own.flags[both], other.flags[both]
        counts = ((one & two), (one & ~two), (two & ~one), (~one & ~two))
        paired = compare_paired_rates(*(int(each.sum()) for each in counts), confidence=confidence)
        there, together = own.dangerous > 0, int(both.sum())
        rows.append(
            PanelSafety(
                dimension.name,
                name,
                own.errors,
                own.dangerous,
                own.rate,
                other.errors,
                other.dangerous,
                other.rate,
                apart.flat if there else None,
                apart.jeffreys if there else None,
                together,
                paired.flat if together else None,
                paired.jeffreys if together else None,
            )
        )
    return rows
