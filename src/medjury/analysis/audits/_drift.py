"""Drift: the same anchor cases, rated at two times or by two versions of a judge. What changed, beyond noise?

A judge asked twice differs from itself. Only what exceeds that is drift, so repeats at both times are worth
their price: without them a shift of the mean can be seen, but not whether single cases moved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Unpack

import numpy as np
from scipy import special

from medjury.analysis.audits._finding import Audit, Finding, names
from medjury.analysis.audits._what_is_audited import Asked, Audited, audited, resampled_p, sums_by_cluster
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate, Floats, Read, Replicates, proportion, side_by_side, undefined
from medjury.tables import rating_table

if TYPE_CHECKING:
    import polars


# Anchors: the same answers in two tables of ratings, side by side.

KEY = ["item", "system"]


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


def same_content(
    before: polars.DataFrame, after: polars.DataFrame
) -> tuple[polars.DataFrame, polars.DataFrame, list[str]]:
    """An id that means another text is another case: such answers are left out, and counted."""
    import polars as pl

    hashes = [
        each.filter(pl.col("content_hash").is_not_null()).select(*KEY, "content_hash").unique()
        for each in (before, after)
    ]
    different = (
        hashes[0]
        .join(hashes[1], on=KEY, suffix="_later")
        .filter(pl.col("content_hash") != pl.col("content_hash_later"))
        .select(KEY)
        .unique()
    )
    if not different.height:
        return before, after, []
    listed = names(sorted(different["item"].to_list()))
    warning = f"{different.height} answers have a different text now and are left out: items {listed}"
    return before.join(different, on=KEY, how="anti"), after.join(different, on=KEY, how="anti"), [warning]


def pair_answers(
    before: polars.DataFrame, after: polars.DataFrame, old: str, rater: str, dimension: str
) -> polars.DataFrame | None:
    """One row per answer that was put to the rater both times, with what its scores say."""
    import polars as pl

    def side(frame: polars.DataFrame, name: str, suffix: str) -> polars.DataFrame:
        score = pl.col("score").drop_nulls()
        return (
            frame.filter((pl.col("rater") == name) & (pl.col("dimension") == dimension))
            .group_by(KEY)
            .agg(
                score.alias(f"scores_{suffix}"),
                score.len().alias(f"n_{suffix}"),
                score.mean().alias(f"mean_{suffix}"),
                score.var().alias(f"variance_{suffix}"),
                (pl.col("status") == "unscored").sum().alias(f"unscored_{suffix}"),
                pl.len().alias(f"rows_{suffix}"),
                pl.col("cluster").first().alias(f"cluster_{suffix}"),
            )
        )

    joined = side(before, old, "x").join(side(after, rater, "y"), on=KEY, how="inner").sort(KEY)
    if not joined.height:
        return None
    changed, noise = [], []
    for x, y in zip(joined["scores_x"].to_list(), joined["scores_y"].to_list(), strict=True):
        changed.append(_differ(x, y))
        own = [each for each in (_differ_within(x), _differ_within(y)) if each is not None]
        noise.append(sum(own) / len(own) if own else None)
    return joined.with_columns(
        pl.Series("changed", changed, dtype=pl.Float64), pl.Series("noise", noise, dtype=pl.Float64)
    )


def _differ(first: Sequence[float], second: Sequence[float]) -> float | None:
    """The probability that a score of one differs from a score of the other."""
    if not first or not second:
        return None
    return float(np.mean(~np.isclose(np.array(first)[:, np.newaxis], np.array(second))))


def _differ_within(scores: Sequence[float]) -> float | None:
    """The probability that two different repeats differ."""
    n = len(scores)
    return None if n < 2 else (_differ(scores, scores) or 0.0) * n / (n - 1)


# Beyond noise: which single answers moved further than repeats of the same rater explain?

NO_REPEATS = "no answer has two repeats, so noise is unknown: rate the anchors twice or more"
NO_OVERLAP = "no answer was scored at both times"
# From fewer degrees of freedom the noise of repeats is too badly known to judge single answers by.
FEW_REPEATS = 10


def beyond_noise(scored: polars.DataFrame, confidence: float) -> Finding:
    """Answers whose mean moved further than the pooled variance of repeats explains.

    The limit is Student's, for the variance is itself estimated, with Bonferroni over answers.
    """
    name, n = "answers_beyond_noise", scored.height
    n_x, n_y = (scored[each].to_numpy().astype(np.float64) for each in ("n_x", "n_y"))
    freedom = np.maximum(n_x - 1, 0).sum() + np.maximum(n_y - 1, 0).sum()

    def none(reason: str) -> Finding:
        return Finding(name, undefined(reason, n, "repeats"))

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
    beyond = -float(special.stdtrit(freedom, (1.0 - confidence) / (2.0 * n)))
    limit = beyond * np.sqrt(within * (1.0 / n_x + 1.0 / n_y))
    moved = np.flatnonzero(np.abs(difference) > limit + 1e-12)
    largest = sorted(moved.tolist(), key=lambda place: -abs(difference[place]))
    items, systems = scored["item"].to_list(), scored["system"].to_list()
    largest_moves = [
        f"{items[k]}{f' ({systems[k]})' if systems[k] else ''} {difference[k]:+.2g}" for k in largest
    ]
    method = (
        f"no interval: change beyond {math.sqrt(within):.3g} within-answer SD ({freedom:g} degrees of freedom), "
        f"Bonferroni over {n} answers"
    )
    estimate = Estimate(float(len(moved)), None, None, n, method)
    return Finding(name, estimate, verdict=names(largest_moves), stands_out=bool(largest_moves))


METHOD = "paired differences on the same answers, later less earlier; intervals resample cases"
# What is tested, with its verdicts: above zero, below zero, neither.
TESTED = {
    "shift": ("moved up", "moved down", "not shown"),
    "excess_change": ("answers changed beyond noise", "not shown", "not shown"),
    "unscored_share_change": ("more without a score", "fewer without a score", "not shown"),
}


def drift(
    earlier: object,
    later: object,
    *,
    bound: float = 0.25,
    same_raters: Mapping[str, str] | None = None,
    **asked: Unpack[Asked],
) -> Audit:
    """Audit each rater that rated the same answers in both tables, per dimension.

    `same_raters` maps a name in the later table to its name in the earlier one, where a new version got a new
    name. Findings: `shift`, the mean difference, with a verdict that also says whether it is shown to stay
    within ±`bound` (both one-sided tests at 1 − confidence: Schuirmann (1987) J Pharmacokinet Biopharm
    15:657-680); `changed_share`, the probability that an earlier and a later score of one answer differ;
    `noise_share`, that two repeats at the same time do; `excess_change`, the first less the second;
    `answers_beyond_noise`, how many answers moved further than repeats explain (Bonferroni over answers; the
    verdict names the largest); `unscored_share_change`, the change in the share of ratings without a score.
    """
    if bound <= 0:
        raise MedjuryError(f"The bound of equivalence is above zero, not {bound:g}.")
    about = audited(later, **asked, formed_jury=False)
    before, after, warnings = same_content(rating_table(earlier).rows, about.rows)
    old_name = _old_names(about, before, same_raters or {}, warnings)
    pairs = [
        (rater, dimension, joined)
        for rater, dimension in product(old_name, about.dimensions)
        if (joined := pair_answers(before, after, old_name[rater], rater, dimension)) is not None
    ]
    if not pairs:
        raise MedjuryError(
            "the two tables have no answer (item and system) in common: drift needs the same anchors."
        )
    made = side_by_side(
        [
            partial(_of_pair, about, joined, rater, dimension, old_name[rater], bound)
            for rater, dimension, joined in pairs
        ]
    )
    findings = about.judged([finding for found, _ in made for finding in found], TESTED)
    same = {
        (rater, dimension) for (rater, dimension, _), (_, within) in zip(pairs, made, strict=True) if within
    }
    return Audit(
        "drift",
        tuple(_in_words(each, (each.rater, each.dimension) in same, bound) for each in findings),
        sum(int((joined["n_x"] + joined["n_y"]).sum()) for *_, joined in pairs),
        sum(_missing(joined) for *_, joined in pairs),
        METHOD,
        (*about.table.warnings, *warnings),
    )


def _old_names(
    about: Audited, before: polars.DataFrame, same_raters: Mapping[str, str], warnings: list[str]
) -> dict[str, str]:
    """Every audited rater that has a past, with its earlier name; who has none is named in the warnings."""
    unknown = [name for name in same_raters if name not in about.table.raters]
    if unknown:
        raise MedjuryError(f"there is no rater {unknown[0]!r} in the later ratings.")
    present = set(before["rater"].to_list())
    old_name = {rater: same_raters.get(rater, rater) for rater in about.raters}
    if strangers := [rater for rater, old in old_name.items() if old not in present]:
        warnings.append(f"not in the earlier ratings, so not compared: {names(strangers)}")
    if len(strangers) == len(old_name):
        raise MedjuryError(
            f"no rater of the later ratings ({names(about.raters)}) is in the earlier ones "
            f"({names(sorted(present))}). Where a new version has a new name, say which old one it follows."
        )
    return {rater: old for rater, old in old_name.items() if old in present}


def _of_pair(
    about: Audited, joined: polars.DataFrame, rater: str, dimension: str, old: str, bound: float
) -> tuple[list[Finding], bool]:
    """The findings on one rater and dimension, and whether the shift is shown to lie within ±bound."""
    drawn = about.drawn(*_sums(joined))
    made = _findings(joined, drawn, about.confidence)
    group = f"{old} → {rater}" if old != rater else ""
    return [
        replace(
            each, audit="drift", rater=rater, dimension=dimension, group=group, n_unscored=_missing(joined)
        )
        for each in made
    ], _shown_same(joined, drawn, bound, about.confidence, _span(about, dimension))


def _span(about: Audited, dimension: str) -> float | None:
    grades = about.table.dimension(dimension).grades
    return None if grades is None else float(grades.highest - grades.lowest)


def _missing(joined: polars.DataFrame) -> int:
    return int((joined["unscored_x"] + joined["unscored_y"]).sum())


def _sums(table: polars.DataFrame) -> tuple[Floats, Callable[[Floats], Read]]:
    """Of every case the sums that the statistics are made of, and how to read them."""

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

    return sums, statistics


def _findings(table: polars.DataFrame, drawn: Replicates, confidence: float) -> list[Finding]:
    scored = table.filter((table["n_x"] > 0) & (table["n_y"] > 0))
    repeated = scored.filter(scored["noise"].is_not_null())
    # What a statistic rests on: its answers, and the cases that hold them.
    behind = dict.fromkeys(("shift", "changed_share"), scored) | {"unscored_share_change": table}
    findings = []
    for name in drawn.observed:
        reason = NO_REPEATS if name in ("noise_share", "excess_change") and scored.height else NO_OVERLAP
        rows = behind.get(name, repeated)
        estimate = replace(drawn.estimate(name, confidence=confidence, reason=reason), n=rows.height)
        cases = rows["cluster_y"].n_unique()
        p_value = resampled_p(drawn, name, estimate, cases) if name in TESTED else None
        findings.append(Finding(name, estimate, p_value=p_value))
    return [*findings, beyond_noise(scored, confidence)]


def _shown_same(
    table: polars.DataFrame, drawn: Replicates, bound: float, confidence: float, span: float | None
) -> bool:
    """Whether the shift is shown to lie within ±bound.

    Both one-sided tests at the level 1 − confidence are one interval with twice that outside. Where every case
    moved by the same no resample tells how many others would not: of n such cases a share of
    1 − (1 − confidence)^(1/n) could, by the whole scale (`span`; where none is known, by what lies between the
    scores seen).
    """
    import polars as pl

    scored = table.filter((pl.col("n_x") > 0) & (pl.col("n_y") > 0))
    level = 2.0 * confidence - 1.0
    found = drawn.estimate("shift", confidence=level, reason=NO_OVERLAP)
    low, high = found.low, found.high
    if found.value is not None and "the same in all" in found.method:
        seen = np.concatenate([scored[name].to_numpy() for name in ("mean_x", "mean_y")])
        could = proportion(0, scored["cluster_y"].n_unique(), confidence=level).high or 1.0
        reach = could * (float(np.ptp(seen)) if span is None else span)
        low, high = found.value - reach, found.value + reach
    return low is not None and high is not None and -bound < low and high < bound


def _in_words(finding: Finding, within: bool, bound: float) -> Finding:
    """A shift may be shown to be small, and answers that change less than noise are not drift."""
    if finding.statistic == "excess_change" and (finding.estimate.value or 0.0) <= 0:
        return replace(finding, stands_out=False)
    if finding.statistic != "shift" or not finding.verdict:
        return finding
    if finding.stands_out:
        return replace(finding, verdict=finding.verdict + (f", by less than {bound:g}" if within else ""))
    neither = "neither a shift nor its absence is shown"
    return replace(finding, verdict=f"the same within ±{bound:g}" if within else neither)
