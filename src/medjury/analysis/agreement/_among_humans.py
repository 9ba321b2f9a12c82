"""The judge among humans: their own agreement on the same items, and what the judge changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from medjury.analysis.agreement._all_at_once import MANY_RATER_STATISTICS, ON_LEVELS, many_raters
from medjury.analysis.agreement._alternative_annotator import alternative_annotator_test
from medjury.analysis.agreement._design import Design
from medjury.analysis.agreement._icc import FORMS, IccForm, icc_statistics
from medjury.analysis.agreement._icc_mixed import mixed_model_icc
from medjury.analysis.agreement._icc_standardised import icc_3_k_z, mean_icc_3_k_z
from medjury.analysis.agreement._kappa import NAMES as KAPPAS
from medjury.analysis.agreement._non_inferiority import AmongHumans, NonInferiority, among_humans
from medjury.analysis.agreement._pair_rows import counts_of, group_counts, resampling, rows_of
from medjury.analysis.agreement._pair_statistics import ALPHAS, Settings, two_rater_statistics
from medjury.analysis.agreement._row import AgreementRow
from medjury.analysis.agreement._scores import complete_rows, read_scores
from medjury.foundation.errors import MedjuryError
from medjury.statistics import (
    RESAMPLES,
    Clusters,
    Estimate,
    Floats,
    Statistics,
    combined,
    on_columns,
    replicates,
    undefined,
)
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
        **resampling(grid, settings),
    )


def tested(found: Mapping[str, NonInferiority]) -> dict[str, NonInferiority]:
    """The statistics on which non-inferiority is tested."""
    return {name: found[name] for name in TESTED if name in found}


def average_statistics(grades: Grades | None, settings: Settings) -> Statistics | None:
    """Two-rater coefficients that may be averaged over pairs of raters, as far as they are wanted."""
    names = ["pearson", "spearman", "icc_2_1", "icc_3_1", "icc_3_k", "icc_3_k_z"]
    names += [] if grades is None else ["exact_match", *KAPPAS.values()]
    wanted = [name for name in names if settings.wants_any((name, f"non_inferiority_{name}"))]
    return two_rater_statistics(wanted, grades) if wanted else None


def beside_rows(
    grid: Grid, judge: str, beside: Mapping[str, NonInferiority], design: Design
) -> list[AgreementRow]:
    """Mean agreement of the judge with each reference, that of the references on the same items where these are
    not all of theirs, and the difference where a margin was stated."""
    table = np.column_stack([grid.scores[name] for name in design.reference])
    two = (~np.isnan(table)).sum(axis=1) >= 2
    usable = two & ~np.isnan(grid.scores[judge])
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
    return rows_of(grid, EACH, rater, means, counts)


# The judge as one more rater, and in the place of each rater: does the group's reliability change?


Kind = Literal["added", "replaced"]


@dataclass(frozen=True, slots=True)
class RaterChange:
    """The group's ICC before and after the judge joined it ("added") or took a human's place ("replaced").
    `change` is after − before on the same resamples, `p_value` the two-sided bootstrap p-value of no
    change."""

    kind: Kind
    human: str
    form: IccForm
    before: Estimate
    after: Estimate
    change: Estimate
    p_value: float | None


def judge_as_rater(
    humans: ArrayLike,
    judge: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    forms: Sequence[IccForm] = ("icc_2_1", "icc_3_k"),
    clusters: Clusters = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    confidence: float = 0.95,
) -> tuple[RaterChange, ...]:
    """Change in ICC when the judge is added to the humans and when it replaces each of them in turn.

    `humans` is items x humans; items that all humans and the judge scored count. One more rater raises an
    average form (`icc_x_k`) by arithmetic alone (Spearman-Brown), so read the single form (`icc_x_1`) for
    "added". A large p-value does not show that nothing changed: look at the interval of the change, or test
    non-inferiority.

    >>> humans = [[1, 2], [2, 2], [3, 4], [4, 4], [5, 4], [2, 1]]
    >>> added = judge_as_rater(humans, [1, 2, 4, 4, 5, 2], forms=["icc_2_1"], resamples=500)[0]
    >>> added.kind, added.change.value > 0
    ('added', True)
    """
    table, said = read_scores(humans, None, 2), read_scores(judge, None, 1)
    count = table.shape[1]
    if len(said) != len(table):
        raise MedjuryError(f"{len(table)} items were rated by the humans and {len(said)} by the judge.")
    labels = tuple(names) if names is not None else tuple(f"human {place + 1}" for place in range(count))
    rows = np.column_stack([table, said])
    kept = complete_rows(rows)
    rows = rows[kept]
    cases = None if clusters is None else np.asarray(clusters, dtype=object)[kept]
    groups: list[tuple[Kind, str, list[int]]] = [("added", "", list(range(count + 1)))]
    for place, human in enumerate(labels):
        groups.append(("replaced", human, [*(each for each in range(count) if each != place), count]))
    changes = []
    for form in forms:
        statistics = icc_statistics([form])
        for kind, human, columns in groups:
            both = combined(
                on_columns(statistics, columns, "after "),
                on_columns(statistics, list(range(count)), "before "),
            )
            made = replicates(rows, both, clusters=cases, resamples=resamples, seed=seed)
            pair = f"after {form}", f"before {form}"
            after, before = (made.estimate(name, confidence=confidence) for name in pair)
            change, p_value = made.difference(*pair, confidence=confidence), made.p_value(*pair)
            changes.append(RaterChange(kind, human, form, before, after, change, p_value))
    return tuple(changes)


# ICC(3,k) on z-scores with every rater standardised first: a rater beside the references, and they among them.

RATERS_FIRST = "icc_3_k_z_raters_first"


def standardised_rows(grid: Grid, design: Design) -> list[AgreementRow]:
    """Rows of `RATERS_FIRST`: each rater's with the references' mean z-score, and the mean over pairs of
    references. Every rater is standardised over all of his or her own items (see `icc_3_k_z`). One reference has
    no order of averaging and standardising."""
    settings = design.settings
    if len(design.reference) < 2 or design.level == "system" or not len(grid.items):
        return []
    if not settings.wants(RATERS_FIRST):
        return []
    options = resampling(grid, settings)
    table = np.column_stack([grid.scores[name] for name in design.reference])
    rows = []
    for rater in design.roles.raters:
        if rater not in design.reference:
            found = icc_3_k_z(table, grid.scores[rater], order="standardise_first", **options)
            counts = counts_of(grid, design.main_reference, rater)
            rows += rows_of(grid, design.main_reference, rater, {RATERS_FIRST: found}, counts)
    twice = (~np.isnan(table)).sum(axis=1) > 1
    if not twice.any():
        return rows
    counts = group_counts(grid, design.reference, None, twice)
    found = mean_icc_3_k_z(table, **options)
    return rows + rows_of(grid, EACH, OTHERS, {RATERS_FIRST: found}, counts)


AMONG = "among references"
ADVANTAGES = ("alternative_annotator_winning_rate", "average_advantage")
CHANGES = tuple(f"{form}_change_{kind}" for form in ("icc_2_1", "icc_3_k") for kind in ("added", "replaced"))


def human_rows(grid: Grid, among: AmongHumans | None, design: Design) -> list[AgreementRow]:
    """Rows about the references as a group; none where there is only one, or nothing to compare."""
    if len(design.reference) < 2 or design.level == "system" or not len(grid.items):
        return []
    table = np.column_stack([grid.scores[name] for name in design.reference])
    everyone = " + ".join(design.reference)
    two = (~np.isnan(table)).sum(axis=1) >= 2
    counts = group_counts(grid, design.reference, None, two)
    rows = rows_of(grid, everyone, AMONG, group_estimates(table, grid, design), counts)
    if among is not None:
        rows += _mean_rows(grid, OTHERS, None, two, among[0], design)
    for judge in design.beside_humans:
        if among is not None:
            rows += beside_rows(grid, judge, among[1][judge], design)
        rows += _change_rows(grid, table, judge, everyone, design)
        rows += _alternative_rows(grid, table, judge, everyone, design)
    return rows


def group_estimates(table: Floats, grid: Grid, design: Design) -> dict[str, Estimate]:
    """Coefficients of all references together; missing cells are allowed where the coefficient allows them, and the
    ICCs of a table with gaps come from a mixed model of all its cells. Those that count grades see the nearest
    grades, the others the scores as they are."""
    settings, grades, options = design.settings, grid.scale, resampling(grid, design.settings)
    levels = [*ALPHAS[:2], *ON_LEVELS]
    wanted = [name for name in MANY_RATER_STATISTICS if settings.wants(name)]
    plain = [name for name in wanted if name not in levels]
    found: dict[str, Estimate] = {}
    if np.isnan(table).any():
        forms = [form for form in FORMS if form in plain]
        plain = [name for name in plain if name not in forms]
        whose = {name: options[name] for name in ("clusters", "confidence", "seed")}
        found = mixed_model_icc(table, forms, **whose)
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
    options = resampling(grid, design.settings)
    rows = []
    for change in judge_as_rater(table, grid.scores[judge], names=design.reference, **options):
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
    if len(design.reference) < 3 or not design.settings.wants_any(ADVANTAGES):
        return []
    result = alternative_annotator_test(table, grid.scores[judge], names=design.reference)
    usable = ~np.isnan(grid.scores[judge]) & ((~np.isnan(table)).sum(axis=1) >= 2)
    counts = group_counts(grid, design.reference, judge, usable)
    named = dict(zip(ADVANTAGES, (result.winning_rate, result.advantage), strict=True))
    return rows_of(grid, everyone, judge, named, counts)
