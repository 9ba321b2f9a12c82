"""Groups: does a judge treat a specialty or a group of patients differently, beyond what the clinicians
see?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Unpack

import numpy as np
from scipy import special

from medjury.analysis.audits._finding import Audit, Finding, names
from medjury.analysis.audits._what_is_audited import SMALLEST, Asked, attribute, audited, sums_by_cluster
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate, Floats, undefined
from medjury.tables import case_column

if TYPE_CHECKING:
    import polars

PLAIN, BEYOND = "group_difference", "group_difference_beyond_reference"
METHOD = "group less all others, Welch's t with cases as clusters"
VERDICTS = {
    PLAIN: ("scored higher", "scored lower", "not shown"),
    BEYOND: ("scored higher than the reference would", "scored lower than the reference would", "not shown"),
}
MOST_LEVELS = 50


def group_differences(
    table: object,
    groups: Mapping[str, Mapping[str, object] | None] | Sequence[str],
    *,
    bands: Mapping[str, Sequence[float]] | None = None,
    smallest: int = 10,
    **asked: Unpack[Asked],
) -> Audit:
    """Audit differences between groups of cases, per rater and dimension, with adjusted p-values.

    `groups` names columns of the ratings (specialty, sex, age…), or maps a group's name to a value for each
    item (None: take the column). `bands` cuts a numeric group at the given points: {"age": [18, 65]}. A level
    with fewer than `smallest` cases is reported as undefined, not tested. With two levels there is one
    comparison; else every level is compared with all other cases. Nothing is resampled.

    Findings, `group` naming the level: `group_difference`, in scores (patients may truly differ); with
    `reference` raters `group_difference_beyond_reference`, the difference of (judge − reference), which is
    what a bias would be. All comparisons of one statistic are adjusted together."""
    about = audited(table, **asked)
    known = _levels(about.rows, groups, bands or {})
    items = about.rows["item"].unique().to_list()
    warnings = [
        f"{missing} of {len(items)} items have no {name} and are left out of it"
        for name, values in known.items()
        if (missing := sum(item not in values for item in items))
    ]
    findings: list[Finding] = []
    for dimension, rater in product(about.dimensions, about.raters):
        sides = {PLAIN: about.of(rater, dimension)}
        if about.reference:
            beside = about.beside_reference(rater, dimension)
            sides[BEYOND] = beside.with_columns(beside["score"] - beside["reference"])
        for statistic, rows in sides.items():
            for name, values in known.items():
                findings += _compare(
                    rows, name, values, statistic, rater, dimension, smallest, about.confidence
                )
    compared = sum(each.statistic == PLAIN for each in findings)
    return about.result(
        "group_differences",
        about.judged(findings, VERDICTS),
        f"{METHOD}; p-values adjusted by {about.adjustment.replace('_', '-')} over {compared} comparisons",
        warnings,
    )


def _levels(
    frame: polars.DataFrame,
    groups: Mapping[str, Mapping[str, object] | None] | Sequence[str],
    bands: Mapping[str, Sequence[float]],
) -> dict[str, dict[str, str]]:
    """For every group, the level of each item that has one."""
    found: dict[str, dict[str, str]] = {}
    for name in groups:
        given = groups[name] if isinstance(groups, Mapping) else None
        if given is not None:
            values = {str(item): str(value) for item, value in given.items() if value is not None}
            cases = frame.select(case=case_column(frame), item="item").unique().iter_rows()
            values = {item: values[case] for case, item in cases if case in values}
        elif name in frame.columns:
            values = attribute(frame, name, "item")
        else:
            raise MedjuryError(
                f"there is no column {name!r} to group by; there are {names(frame.columns, 20)}."
            )
        values = {item: value.strip() for item, value in values.items() if value.strip()}
        if name in bands:
            values = {item: _band(name, value, bands[name]) for item, value in values.items()}
        count = len(set(values.values()))
        if count < 2:
            raise MedjuryError(f"the group {name!r} has {count} level; a difference needs two.")
        if count > MOST_LEVELS:
            raise MedjuryError(
                f"the group {name!r} has {count} levels. Cut a number into bands, as in {name}=18,65."
            )
        found[name] = values
    unused = [name for name in bands if name not in found]
    if unused:
        raise MedjuryError(f"bands are given for {unused[0]!r}, which is not among the groups.")
    return found


def _band(name: str, value: str, cuts: Sequence[float]) -> str:
    try:
        number = float(value)
    except ValueError:
        raise MedjuryError(
            f"the group {name!r} is to be cut into bands, but {value!r} is not a number."
        ) from None
    ordered = sorted(cuts)
    place = sum(number >= cut for cut in ordered)
    if place == 0:
        return f"< {ordered[0]:g}"
    if place == len(ordered):
        return f"≥ {ordered[-1]:g}"
    return f"{ordered[place - 1]:g} to < {ordered[place]:g}"


def _compare(
    rows: polars.DataFrame,
    name: str,
    values: Mapping[str, str],
    statistic: str,
    rater: str,
    dimension: str,
    smallest: int,
    confidence: float,
) -> list[Finding]:
    level_of = np.array([values.get(item, "") for item in rows["item"].to_list()])
    scores, clusters = rows["score"].to_numpy(), np.array(rows["cluster"].to_list())
    levels = sorted(set(level_of.tolist()) - {""})
    chosen = levels[:1] if len(levels) == 2 else levels
    findings = []
    for level in chosen:
        inside, outside = level_of == level, (level_of != level) & (level_of != "")
        against = levels[1] if len(levels) == 2 else "all others"
        group = f"{name}: {level} − {against}"
        estimate, p_value = welch(
            scores[inside], clusters[inside].tolist(), scores[outside], clusters[outside].tolist(),
            smallest=smallest, confidence=confidence,
        )  # fmt: skip
        findings.append(Finding(statistic, estimate, rater, dimension, group, p_value=p_value))
    return findings


def welch(
    first: Floats,
    first_clusters: Sequence[object],
    second: Floats,
    second_clusters: Sequence[object],
    *,
    smallest: int = 2,
    confidence: float = 0.95,
) -> tuple[Estimate, float | None]:
    """Mean of the first less mean of the second, with interval and two-sided p-value.

    The variance of a mean over clusters c is G/(G − 1) · Σ(Σ_{i∈c}(x_i − x̄))²/n², with G clusters; degrees of
    freedom by Welch (1947) Biometrika 34:28-35 from the numbers of clusters. With one row per cluster it is
    Welch's t-test. Without spread on either side there is no t; p is then that of the permutation test.

    >>> found, p = welch(np.array([1., 2, 3]), "abc", np.array([2., 4, 6]), "def")
    >>> found.value, round(p, 3)
    (-2.0, 0.221)
    """
    sizes = [len(set(first_clusters)), len(set(second_clusters))]
    n = len(first) + len(second)
    if min(sizes) < max(smallest, 2):
        reason = f"{min(sizes)} cases on one side; at least {max(smallest, 2)} are needed"
        return undefined(reason, n, METHOD), None
    means, variances = [], []
    for values, clusters, size in ((first, first_clusters, sizes[0]), (second, second_clusters, sizes[1])):
        mean = float(values.mean())
        sums = sums_by_cluster((values - mean)[:, np.newaxis], clusters)[:, 0]
        means.append(mean)
        variances.append(size / (size - 1) * float(sums @ sums) / len(values) ** 2)
    value, variance = means[0] - means[1], variances[0] + variances[1]
    if variance <= 1e-24:
        estimate = Estimate(value, None, None, n, "no interval: no spread on either side")
        return estimate, _exact(value, first_clusters, second_clusters)
    freedom = variance**2 / sum(each**2 / (size - 1) for each, size in zip(variances, sizes, strict=True))
    half = -float(special.stdtrit(freedom, (1.0 - confidence) / 2.0)) * math.sqrt(variance)
    p_value = 2.0 * float(special.stdtr(freedom, -abs(value) / math.sqrt(variance)))
    method = f"{100 * confidence:g} % Welch t, {sizes[0]} against {sizes[1]} cases"
    return Estimate(value, value - half, value + half, n, method), p_value


def _exact(value: float, first: Sequence[object], second: Sequence[object]) -> float | None:
    """P-value of the permutation test where each side holds one score only: of all ways to share the clusters
    out, only this one differs as much in its direction, and the tail is doubled. None where a cluster is on both
    sides, which no permutation of clusters leaves so."""
    sides = set(first), set(second)
    if sides[0] & sides[1]:
        return None
    if abs(value) <= 1e-12:
        return 1.0
    return max(2 / math.comb(len(sides[0]) + len(sides[1]), len(sides[0])), SMALLEST)
