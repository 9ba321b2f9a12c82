"""Drift: the same anchor cases, rated at two times or by two versions of a judge. What changed, beyond noise?

A judge asked twice differs from itself. Only what exceeds that is drift, so repeats at both times are worth
their price: without them a shift of the mean can be seen, but not whether single cases moved.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from medjury.audits._anchors import pair_answers, same_content
from medjury.audits._audit import Audit, Finding, names
from medjury.audits._multiplicity import Adjustment, adjust
from medjury.audits._resampled import Floats, Read, check_confidence, sums_by_cluster, two_sided_p
from medjury.audits._table import dimensions_of, read_table
from medjury.errors import MedjuryError
from medjury.statistics import Estimate, Replicates, replicates, undefined

if TYPE_CHECKING:
    import polars

METHOD = "paired differences on the same answers, later less earlier; intervals resample cases"
NO_REPEATS = "no answer has two repeats, so noise is unknown: rate the anchors twice or more"
# From fewer cases than this no interval is trusted to show that nothing changed.
FEW_CASES = 10
# From fewer degrees of freedom the noise of repeats is too badly known to judge single answers by.
FEW_REPEATS = 10
NO_OVERLAP = "no answer was scored at both times"


def drift(
    earlier: object,
    later: object,
    *,
    bound: float = 0.25,
    same_rater: Mapping[str, str] | None = None,
    raters: Sequence[str] | None = None,
    dimensions: Sequence[str] | None = None,
    adjustment: Adjustment = "holm",
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Audit:
    """Audit each rater that rated the same answers in both tables, per dimension.

    `same_rater` maps a name in the later table to its name in the earlier one, where a new version got a new
    name. Findings: `shift`, the mean difference, with a verdict that also says whether it is shown to stay
    within ±`bound` (both one-sided tests at 1 − confidence: Schuirmann (1987) J Pharmacokinet Biopharm
    15:657-680); `changed_share`, the probability that an earlier and a later score of one answer differ;
    `noise_share`, that two repeats at the same time do; `excess_change`, the first less the second;
    `answers_beyond_noise`, how many answers moved further than repeats explain (Bonferroni over answers; the
    verdict names the largest); `unscored_share_change`, the change in the share of ratings without a score.
    """
    import polars as pl

    check_confidence(confidence)
    if bound <= 0:
        raise MedjuryError(f"The bound of equivalence is above zero, not {bound:g}.")
    before, _ = read_table(earlier, dimensions=dimensions, raters=None)
    after, audited = read_table(later, dimensions=dimensions, raters=raters)
    before, after, warnings = same_content(before, after)
    old_name = dict(same_rater or {})
    unknown = [name for name in old_name if name not in set(after["rater"].to_list())]
    if unknown:
        raise MedjuryError(f"there is no rater {unknown[0]!r} in the later ratings.")
    present = set(before["rater"].to_list())
    pairs = [
        (rater, old_name.get(rater, rater)) for rater in audited if old_name.get(rater, rater) in present
    ]
    if not pairs:
        raise MedjuryError(
            f"no rater of the later ratings ({names(audited)}) is in the earlier ones "
            f"({names(sorted(present))}). "
            "Where a new version has a new name, say which old one it follows."
        )
    if strangers := [rater for rater in audited if old_name.get(rater, rater) not in present]:
        warnings.append(f"not in the earlier ratings, so not compared: {names(strangers)}")
    findings: list[Finding] = []
    same: set[tuple[str, str]] = set()
    used = lost = 0
    for rater, old in pairs:
        for dimension in dimensions_of(after):
            table = pair_answers(before, after, old, rater, dimension)
            if table is None:
                continue
            group = f"{old} → {rater}" if old != rater else ""
            drawn = _replicates(table, resamples, seed)
            made = _findings(table, drawn, rater, dimension, group, confidence)
            if _shown_same(table, drawn, bound, confidence):
                same.add((rater, dimension))
            missing = int(table.select(pl.sum_horizontal(pl.col("unscored_x", "unscored_y").sum())).item())
            findings += [replace(each, n_unscored=missing) for each in made]
            used += int(table.select(pl.sum_horizontal(pl.col("n_x", "n_y").sum())).item())
            lost += missing
    if not findings:
        raise MedjuryError(
            "the two tables have no answer (item and system) in common: drift needs the same anchors."
        )
    return Audit(
        "drift", _judged(findings, same, adjustment, confidence, bound), used, lost, METHOD, tuple(warnings)
    )


def split_by(
    ratings: polars.DataFrame, column: str, earlier: str, later: str
) -> tuple[polars.DataFrame, ...]:
    """One table with a column that tells two versions or dates apart, as two tables."""
    import polars as pl

    if column not in ratings.columns:
        raise MedjuryError(f"there is no column {column!r}; there are {names(ratings.columns, 20)}.")
    values = ratings.with_columns(pl.col(column).cast(pl.String))
    parts = []
    for name in (earlier, later):
        part = values.filter(pl.col(column) == name)
        if not part.height:
            there = names(sorted(values[column].drop_nulls().unique().to_list()), 8)
            raise MedjuryError(f"no rating has {column} = {name!r}; there are {there}.")
        parts.append(part)
    return tuple(parts)


def _replicates(table: polars.DataFrame, resamples: int, seed: int) -> Replicates:
    def column(name: str) -> Floats:
        return table[name].cast(float).fill_null(float("nan")).to_numpy()

    difference = column("mean_y") - column("mean_x")
    changed, noise = column("changed"), column("noise")
    both = ~np.isnan(difference)
    noisy = both & ~np.isnan(noise)
    features = [both, np.where(both, difference, 0.0), np.where(both, changed, 0.0)]
    features += [noisy, np.where(noisy, noise, 0.0), np.where(noisy, changed, 0.0)]
    features += [column(name) for name in ("rows_x", "unscored_x", "rows_y", "unscored_y")]
    sums = sums_by_cluster(np.column_stack(features).astype(np.float64), table["cluster_y"].to_list())

    def statistics(rows: Floats) -> Read:
        def read(weights: Floats) -> Mapping[str, Floats]:
            n, shift, changed, n_noise, noise, changed_there, rows_x, lost_x, rows_y, lost_y = (
                weights @ rows
            ).T
            return {
                "shift": shift / n,
                "changed_share": changed / n,
                "noise_share": noise / n_noise,
                "excess_change": (changed_there - noise) / n_noise,
                "unscored_share_change": lost_y / rows_y - lost_x / rows_x,
            }

        return read

    return replicates(sums, statistics, clusters=range(len(sums)), resamples=resamples, seed=seed)


def _findings(
    table: polars.DataFrame,
    drawn: Replicates,
    rater: str,
    dimension: str,
    group: str,
    confidence: float,
) -> list[Finding]:
    import polars as pl

    scored = table.filter((pl.col("n_x") > 0) & (pl.col("n_y") > 0))
    repeated = scored.filter(pl.col("noise").is_not_null())
    # What a statistic rests on: its answers, and the cases that hold them.
    behind = dict.fromkeys(("shift", "changed_share"), scored) | {"unscored_share_change": table}
    findings = []
    for name in drawn.observed:
        reason = NO_REPEATS if name in ("noise_share", "excess_change") and scored.height else NO_OVERLAP
        rows = behind.get(name, repeated)
        estimate = replace(drawn.estimate(name, confidence=confidence, reason=reason), n=rows.height)
        tested = name in ("shift", "excess_change", "unscored_share_change") and estimate.low is not None
        cases = rows["cluster_y"].n_unique()
        p_value = two_sided_p(drawn.observed[name], drawn.resampled[name], cases) if tested else None
        findings.append(Finding(name, estimate, rater, dimension, group, p_value=p_value))
    findings.append(_beyond_noise(scored, rater, dimension, group, confidence))
    return findings


def _shown_same(table: polars.DataFrame, drawn: Replicates, bound: float, confidence: float) -> bool:
    """Whether the shift is shown to lie within ±bound.

    Both one-sided tests at the level 1 − confidence are one interval with twice that outside.
    """
    import polars as pl

    cases = table.filter((pl.col("n_x") > 0) & (pl.col("n_y") > 0))["cluster_y"].n_unique()
    narrow = drawn.estimate("shift", confidence=2.0 * confidence - 1.0, reason=NO_OVERLAP)
    if narrow.low is None or narrow.high is None or cases < FEW_CASES:
        return False
    return -bound < narrow.low and narrow.high < bound


def _beyond_noise(
    scored: polars.DataFrame, rater: str, dimension: str, group: str, confidence: float
) -> Finding:
    """Answers whose mean moved further than the pooled variance of repeats explains.

    The limit is Student's, for the variance is itself estimated, with Bonferroni over answers.
    """
    from scipy.special import stdtrit

    name, n = "answers_beyond_noise", scored.height
    n_x, n_y = (scored[each].to_numpy().astype(np.float64) for each in ("n_x", "n_y"))
    freedom = np.maximum(n_x - 1, 0).sum() + np.maximum(n_y - 1, 0).sum()

    def none(reason: str) -> Finding:
        return Finding(name, undefined(reason, n, "repeats"), rater, dimension, group)

    if not n or freedom == 0:
        return none(NO_REPEATS if n else NO_OVERLAP)
    if freedom < FEW_REPEATS:
        return none(
            f"noise is known from {freedom:g} further repeats only, of {FEW_REPEATS} needed: rate the anchors more "
            "often"
        )
    variances = (scored[f"variance_{side}"].fill_null(0.0).to_numpy() for side in "xy")
    within = (
        sum(float(v @ np.maximum(k - 1, 0)) for v, k in zip(variances, (n_x, n_y), strict=True)) / freedom
    )
    if within <= 0.0:
        return none("no two repeats differ, so there is no noise to compare with: see changed_share")
    difference = scored["mean_y"].to_numpy() - scored["mean_x"].to_numpy()
    beyond = -float(stdtrit(freedom, (1.0 - confidence) / (2.0 * n)))
    limit = beyond * np.sqrt(within * (1.0 / n_x + 1.0 / n_y))
    moved = np.flatnonzero(np.abs(difference) > limit + 1e-12)
    largest = sorted(moved.tolist(), key=lambda place: -abs(difference[place]))
    items, systems = scored["item"].to_list(), scored["system"].to_list()
    said = [f"{items[k]}{f' ({systems[k]})' if systems[k] else ''} {difference[k]:+.2g}" for k in largest]
    method = (
        f"no interval: change beyond {math.sqrt(within):.3g} within-answer SD ({freedom:g} degrees of freedom), "
        f"Bonferroni over {n} answers"
    )
    estimate = Estimate(float(len(moved)), None, None, n, method)
    return Finding(name, estimate, rater, dimension, group, verdict=names(said), stands_out=bool(said))


def _judged(
    findings: Sequence[Finding],
    same: set[tuple[str, str]],
    adjustment: Adjustment,
    confidence: float,
    bound: float,
) -> tuple[Finding, ...]:
    made = list(findings)
    for statistic in ("shift", "excess_change", "unscored_share_change"):
        places = [place for place, each in enumerate(made) if each.statistic == statistic]
        for place, p in zip(places, adjust([made[k].p_value for k in places], adjustment), strict=True):
            each = made[place]
            if p is None or each.estimate.value is None:
                continue
            shown, up = p <= 1.0 - confidence, each.estimate.value > 0
            if statistic == "shift":
                verdict = _shift_verdict(shown, up, (each.rater, each.dimension) in same, bound)
            elif statistic == "excess_change":
                shown = shown and up
                verdict = "answers changed beyond noise" if shown else "not shown"
            else:
                verdict = ("more" if up else "fewer") + " without a score" if shown else "not shown"
            made[place] = replace(each, p_adjusted=p, verdict=verdict, stands_out=shown)
    return tuple(made)


def _shift_verdict(shown: bool, up: bool, within: bool, bound: float) -> str:
    if shown:
        return f"moved {'up' if up else 'down'}" + (f", by less than {bound:g}" if within else "")
    return f"the same within ±{bound:g}" if within else "neither a shift nor its absence is shown"
