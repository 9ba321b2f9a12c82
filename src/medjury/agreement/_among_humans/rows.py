"""The judge among humans: the humans' own agreement on the same items, and what the judge changes."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medjury.agreement._agreement_table import AgreementRow, Counts
from medjury.agreement._among_humans.additional_rater import judge_as_rater
from medjury.agreement._among_humans.alternative_annotator import alternative_annotator_test
from medjury.agreement._among_humans.non_inferiority import non_inferiority
from medjury.agreement._among_humans.pairwise import mean_over_pairs
from medjury.agreement._design import JURY, Design
from medjury.agreement._groups.icc import icc_statistics
from medjury.agreement._groups.icc_standardised import standardised_statistics
from medjury.agreement._groups.many_raters import MANY_RATER_STATISTICS, ON_LEVELS, many_raters
from medjury.agreement._pairs.correlation import correlation_statistics
from medjury.agreement._pairs.rows import group_counts
from medjury.agreement._pairs.statistics import ALPHAS, grade_statistics
from medjury.errors import MedjuryError
from medjury.statistics import Estimate, Floats, Options, Statistics, combined, replicates, undefined
from medjury.tables import Grades, Grid

EACH, OTHERS, AMONG = "each reference", "the other references", "among references"
CHANGES = tuple(f"{form}_change_{kind}" for form in ("icc_2_1", "icc_3_k") for kind in ("added", "replaced"))


def human_rows(grid: Grid, design: Design) -> list[AgreementRow]:
    """Rows about the references as a group; none where there is only one."""
    if len(design.reference) < 2 or design.level == "system":
        return []
    table = np.column_stack([grid.scores[name] for name in design.reference])
    clusters = _clusters(grid)
    everyone = " + ".join(design.reference)
    two = (~np.isnan(table)).sum(axis=1) >= 2
    counts = group_counts(grid, design.reference, None, two)
    rows = [
        AgreementRow(grid.dimension, everyone, AMONG, name, estimate, counts)
        for name, estimate in group_estimates(table, grid.scale, clusters, design).items()
        if design.settings.wants(name)
    ]
    rows += _average_rows(grid, table, None, OTHERS, design)
    others = [name for name in design.compare if name not in design.reference and name not in design.metrics]
    for judge in [*others, *([JURY] if design.jury else [])]:
        rows += _average_rows(grid, table, judge, judge, design)
        seen = ~np.isnan(grid.scores[judge])
        if (two & ~seen).any():
            # The humans' own agreement on the very items that this judge scored.
            only = grid.where(seen)
            rows += _average_rows(only, table[seen], None, f"{OTHERS}, on items of {judge}", design)
        rows += _change_rows(grid, table, judge, everyone, design)
        rows += _alternative_rows(grid, table, judge, everyone, design)
    return rows


def group_estimates(
    table: Floats, grades: Grades | None, clusters: NDArray[Any] | None, design: Design
) -> dict[str, Estimate]:
    """Coefficients of all references together; missing cells are allowed where the coefficient allows them.
    Those that count grades see the nearest grades, the others the scores as they are."""
    options: Options = {"resamples": design.settings.resamples, "seed": design.settings.seed}
    if clusters is not None:
        options["clusters"] = clusters
    levels = [*ALPHAS[:2], *ON_LEVELS]
    wanted = [name for name in MANY_RATER_STATISTICS if design.settings.wants(name)]
    plain = [name for name in wanted if name not in levels]
    found = many_raters(table, statistics=plain, **options)
    if grades is not None:
        counted = [name for name in wanted if name in levels]
        found |= many_raters(grades.grade(table), scale=grades.values, statistics=counted, **options)
    return {name: found[name] for name in wanted if name in found}


def average_statistics(grades: Grades | None) -> Statistics:
    """Two-rater coefficients that may be averaged over pairs of raters."""
    parts = [
        correlation_statistics(["pearson", "spearman"]),
        icc_statistics(["icc_2_1", "icc_3_1", "icc_3_k"]),
        standardised_statistics(np.arange(2)),
    ]
    if grades is not None:
        parts.append(grade_statistics(grades))
    return combined(*parts)


def _average_rows(
    grid: Grid, table: Floats, judge: str | None, compare: str, design: Design
) -> list[AgreementRow]:
    """Mean agreement of the humans with one another, or of the judge with each human."""
    count, settings = table.shape[1], design.settings
    statistics = average_statistics(grid.scale)
    said = None if judge is None else grid.scores[judge]
    if said is None:
        rows, pairs = table, list(combinations(range(count), 2))
        usable = (~np.isnan(table)).sum(axis=1) >= 2
    else:
        rows, pairs = np.column_stack([table, said]), [(human, count) for human in range(count)]
        usable = ~np.isnan(said) & (~np.isnan(table)).any(axis=1)
    clusters = _clusters(grid)
    counts = group_counts(grid, design.reference, judge, usable)
    if not usable.any():
        nothing = undefined("no item was scored by two of them", 0, "mean over pairs of raters")
        return [AgreementRow(grid.dimension, EACH, compare, "spearman", nothing, counts)]
    made = replicates(
        rows[usable],
        mean_over_pairs(statistics, pairs),
        clusters=None if clusters is None else clusters[usable],
        resamples=settings.resamples,
        seed=settings.seed,
    )
    kind = f"mean over {len(pairs)} pairs of raters"
    found = []
    for name in made.observed:
        if settings.wants(name):
            estimate = made.estimate(name, reason="a rater does not vary")
            named = replace(estimate, method=f"{kind}; {estimate.method}")
            found.append(AgreementRow(grid.dimension, EACH, compare, name, named, counts))
    if said is not None and design.margin is not None:
        found += _non_inferiority_rows(grid, table, said, compare, statistics, counts, design)
    return found


def _non_inferiority_rows(
    grid: Grid,
    table: Floats,
    said: Floats,
    compare: str,
    statistics: Statistics,
    counts: Counts,
    design: Design,
) -> list[AgreementRow]:
    assert design.margin is not None
    try:
        results = non_inferiority(
            table,
            said,
            statistics,
            margin=design.margin,
            names=("spearman", "icc_2_1", "kappa_quadratic"),
            clusters=_clusters(grid),
            resamples=design.settings.resamples,
            seed=design.settings.seed,
        )
    except MedjuryError as error:
        nothing = undefined(str(error), 0, "non-inferiority")
        return [AgreementRow(grid.dimension, EACH, compare, "non_inferiority", nothing, counts)]
    rows = []
    for name, result in results.items():
        verdict = {True: "non-inferior", False: "not shown to be non-inferior", None: "no verdict"}
        method = (
            f"judge-human minus human-human, same items, lower end one-sided at {result.confidence:.0%}; "
            f"margin {result.margin:g}: {verdict[result.non_inferior]}; {result.difference.method}"
        )
        estimate = replace(result.difference, method=method)
        rows.append(
            AgreementRow(
                grid.dimension,
                EACH,
                compare,
                f"non_inferiority_{name}",
                estimate,
                replace(counts, n=estimate.n),
                p_value=result.p_value,
            )
        )
    return rows


def _change_rows(grid: Grid, table: Floats, judge: str, everyone: str, design: Design) -> list[AgreementRow]:
    if not design.settings.wants_any(CHANGES):
        return []
    complete = ~np.isnan(table).any(axis=1) & ~np.isnan(grid.scores[judge])
    counts = group_counts(grid, design.reference, judge, complete)
    changes = judge_as_rater(
        table,
        grid.scores[judge],
        names=design.reference,
        clusters=_clusters(grid),
        resamples=design.settings.resamples,
        seed=design.settings.seed,
    )
    rows = []
    for change in changes:
        name = f"{change.form}_change_{change.kind}"
        if not design.settings.wants(name):
            continue
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
        if design.settings.wants(name)
    ]


def _clusters(grid: Grid) -> NDArray[Any] | None:
    return grid.clusters if len(np.unique(grid.clusters)) < len(grid.clusters) else None
