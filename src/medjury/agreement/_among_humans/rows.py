"""The judge among humans: the humans' own agreement on the same items, and what the judge changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from medjury.agreement._agreement_row import AgreementRow
from medjury.agreement._among_humans.additional_rater import judge_as_rater
from medjury.agreement._among_humans.alternative_annotator import alternative_annotator_test
from medjury.agreement._among_humans.beside_rows import beside_rows, own_rows
from medjury.agreement._among_humans.non_inferiority import AmongHumans
from medjury.agreement._design import Design
from medjury.agreement._groups.icc import FORMS
from medjury.agreement._groups.icc_mixed import mixed_model_icc
from medjury.agreement._groups.many_raters import MANY_RATER_STATISTICS, ON_LEVELS, many_raters
from medjury.agreement._pairs.rows import grid_clusters, group_counts
from medjury.agreement._pairs.statistics import ALPHAS
from medjury.statistics import Estimate, Floats, Options
from medjury.tables import Grid

AMONG = "among references"
CHANGES = tuple(f"{form}_change_{kind}" for form in ("icc_2_1", "icc_3_k") for kind in ("added", "replaced"))


def human_rows(grid: Grid, among: AmongHumans | None, design: Design) -> list[AgreementRow]:
    """Rows about the references as a group; none where there is only one, or nothing to compare."""
    if len(design.reference) < 2 or design.level == "system" or not len(grid.items):
        return []
    table = np.column_stack([grid.scores[name] for name in design.reference])
    everyone = " + ".join(design.reference)
    counts = group_counts(grid, design.reference, None, (~np.isnan(table)).sum(axis=1) >= 2)
    rows = [
        AgreementRow(grid.dimension, everyone, AMONG, name, estimate, counts)
        for name, estimate in group_estimates(table, grid, design).items()
    ]
    if among is not None:
        rows += own_rows(grid, among, design)
    for judge in design.beside_humans:
        if among is not None:
            rows += beside_rows(grid, judge, among, design)
        rows += _change_rows(grid, table, judge, everyone, design)
        rows += _alternative_rows(grid, table, judge, everyone, design)
    return rows


def group_estimates(table: Floats, grid: Grid, design: Design) -> dict[str, Estimate]:
    """Coefficients of all references together; missing cells are allowed where the coefficient allows them, and the
    ICCs of a table with gaps come from a mixed model of all its cells. Those that count grades see the nearest
    grades, the others the scores as they are."""
    settings, grades, clusters = design.settings, grid.scale, grid_clusters(grid)
    options: Options = {
        "resamples": settings.resamples,
        "seed": settings.seed,
        "confidence": settings.confidence,
    }
    if clusters is not None:
        options["clusters"] = clusters
    levels = [*ALPHAS[:2], *ON_LEVELS]
    wanted = [name for name in MANY_RATER_STATISTICS if settings.wants(name)]
    plain = [name for name in wanted if name not in levels]
    found: dict[str, Estimate] = {}
    if np.isnan(table).any():
        forms = [form for form in FORMS if form in plain]
        plain = [name for name in plain if name not in forms]
        found = mixed_model_icc(
            table, forms, clusters=clusters, confidence=settings.confidence, seed=settings.seed
        )
    found |= many_raters(table, statistics=plain, **options)
    if grades is not None:
        counted = [name for name in wanted if name in levels]
        found |= many_raters(grades.grade(table), scale=grades.values, statistics=counted, **options)
    return {name: found[name] for name in wanted if name in found}


def _change_rows(grid: Grid, table: Floats, judge: str, everyone: str, design: Design) -> list[AgreementRow]:
    if not design.settings.wants_any(CHANGES):
        return []
    complete = ~np.isnan(table).any(axis=1) & ~np.isnan(grid.scores[judge])
    counts = group_counts(grid, design.reference, judge, complete)
    changes = judge_as_rater(
        table,
        grid.scores[judge],
        names=design.reference,
        clusters=grid_clusters(grid),
        resamples=design.settings.resamples,
        seed=design.settings.seed,
        confidence=design.settings.confidence,
    )
    rows = []
    for change in changes:
        name = f"{change.form}_change_{change.kind}"
        estimate = change.change
        if estimate.value is not None and change.before.value is not None and change.after.value is not None:
            ends = f"from {change.before.value:.3f} to {change.after.value:.3f}"
            estimate = replace(estimate, method=f"{ends}; {estimate.method}")
        reference = everyone if change.kind == "added" else change.human
        rows.append(
            AgreementRow(grid.dimension, reference, judge, name, estimate, counts, p_value=change.p_value)
        )
    return rows


def _alternative_rows(
    grid: Grid, table: Floats, judge: str, everyone: str, design: Design
) -> list[AgreementRow]:
    if len(design.reference) < 3:
        return []
    result = alternative_annotator_test(table, grid.scores[judge], names=design.reference)
    usable = ~np.isnan(grid.scores[judge]) & ((~np.isnan(table)).sum(axis=1) >= 2)
    counts = group_counts(grid, design.reference, judge, usable)
    named = {"alternative_annotator_winning_rate": result.winning_rate, "average_advantage": result.advantage}
    return [
        AgreementRow(grid.dimension, everyone, judge, name, estimate, counts)
        for name, estimate in named.items()
    ]
