"""Rows that put a judge beside the humans: its mean agreement with single humans, theirs with one another on the
same items, and whether it is inferior."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from medjury.analysis.agreement._agreement_row import AgreementRow
from medjury.analysis.agreement._among_humans.non_inferiority import AmongHumans, NonInferiority, among_humans
from medjury.analysis.agreement._design import Design
from medjury.analysis.agreement._groups.icc import icc_statistics
from medjury.analysis.agreement._groups.icc_standardised import standardised_statistics
from medjury.analysis.agreement._pairs.correlation import correlation_statistics
from medjury.analysis.agreement._pairs.kappa import NAMES as KAPPAS
from medjury.analysis.agreement._pairs.pair import Settings
from medjury.analysis.agreement._pairs.rows import grid_clusters, group_counts
from medjury.analysis.agreement._pairs.statistics import grade_statistics
from medjury.statistics import Estimate, Statistics, combined, undefined
from medjury.tables import Grades, Grid

EACH, OTHERS = "each reference", "the other references"
# What the non-inferiority of a judge is tested on: grades where there is a scale, absolute agreement, order.
TESTED = ("kappa_quadratic", "icc_2_1", "spearman")
_VERDICTS = {True: "non-inferior", False: "not shown to be non-inferior", None: "no verdict"}


def beside_humans(grid: Grid, design: Design) -> AmongHumans | None:
    """The references' own agreement and every judge beside it, on one dimension: the one computation of these
    means. None where there is one reference only, or nothing of it is wanted."""
    settings = design.settings
    statistics = average_statistics(grid.scale, settings)
    if len(design.reference) < 2 or design.level == "system" or statistics is None:
        return None
    return among_humans(
        np.column_stack([grid.scores[name] for name in design.reference]),
        {name: grid.scores[name] for name in design.beside_humans},
        statistics,
        margin=design.margin,
        grades=grid.scale,
        clusters=grid_clusters(grid),
        resamples=settings.resamples,
        seed=settings.seed,
        confidence=settings.confidence,
    )


def tested(found: Mapping[str, NonInferiority]) -> dict[str, NonInferiority]:
    """The statistics on which non-inferiority is tested."""
    return {name: found[name] for name in TESTED if name in found}


def average_statistics(grades: Grades | None, settings: Settings) -> Statistics | None:
    """Two-rater coefficients that may be averaged over pairs of raters, as far as they are wanted."""

    def wanted(*names: str) -> list[Any]:
        return [name for name in names if settings.wants_any((name, f"non_inferiority_{name}"))]

    parts: list[Statistics] = []
    if names := wanted("pearson", "spearman"):
        parts.append(correlation_statistics(names))
    if names := wanted("icc_2_1", "icc_3_1", "icc_3_k"):
        parts.append(icc_statistics(names))
    if wanted("icc_3_k_z"):
        parts.append(standardised_statistics(np.arange(2)))
    if grades is not None and (names := wanted("exact_match", *KAPPAS.values())):
        parts.append(grade_statistics(grades, names))
    return combined(*parts) if parts else None


def own_rows(grid: Grid, found: AmongHumans, design: Design) -> list[AgreementRow]:
    """Mean agreement of the references with one another."""
    two = (~np.isnan(np.column_stack([grid.scores[name] for name in design.reference]))).sum(axis=1) >= 2
    return _mean_rows(grid, OTHERS, None, two, found.own, design)


def beside_rows(grid: Grid, judge: str, found: AmongHumans, design: Design) -> list[AgreementRow]:
    """Mean agreement of the judge with each reference, that of the references on the same items where these are
    not all of theirs, and the difference where a margin was stated."""
    table = np.column_stack([grid.scores[name] for name in design.reference])
    two = (~np.isnan(table)).sum(axis=1) >= 2
    usable = two & ~np.isnan(grid.scores[judge])
    beside = found.beside[judge]
    rows = _mean_rows(
        grid, judge, judge, usable, {name: each.judge_human for name, each in beside.items()}, design
    )
    if (two & ~usable).any():
        own = {name: each.human_human for name, each in beside.items()}
        rows += _mean_rows(grid, f"{OTHERS}, on items of {judge}", None, usable, own, design)
    if design.margin is None:
        return rows
    counts = group_counts(grid, design.reference, judge, usable)
    for name, result in tested(beside).items():
        method = (
            f"judge-human minus human-human, same items, lower end one-sided at {result.confidence:.0%}, with "
            f"caution; margin {design.margin:g}: {_VERDICTS[result.non_inferior]}; {result.difference.method}"
        )
        estimate = replace(result.difference, method=method)
        statistic = f"non_inferiority_{name}"
        rows.append(
            AgreementRow(grid.dimension, EACH, judge, statistic, estimate, counts, p_value=result.p_value)
        )
    return rows


def _mean_rows(
    grid: Grid,
    rater: str,
    judge: str | None,
    usable: np.ndarray[tuple[int], np.dtype[np.bool_]],
    means: Mapping[str, Estimate],
    design: Design,
) -> list[AgreementRow]:
    counts = group_counts(grid, design.reference, judge, usable)
    if not means:
        who = "two references" if judge is None else f"{judge} and two references"
        nothing = undefined(f"no item was scored by {who}", 0, "over pairs of raters")
        return [AgreementRow(grid.dimension, EACH, rater, "spearman", nothing, counts)]
    return [
        AgreementRow(grid.dimension, EACH, rater, name, estimate, counts) for name, estimate in means.items()
    ]
