"""Stability: does a judge say the same when it is asked the same again, and how often must one ask?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from medjury.audits._audit import Audit, Finding
from medjury.audits._resampled import Floats, Read, check_confidence, sums_by_cluster
from medjury.audits._table import count_unscored, read_table, with_unscored
from medjury.errors import MedjuryError
from medjury.statistics import Estimate, Replicates, replicates

if TYPE_CHECKING:
    import polars

STATISTICS = ("sd", "within_sd", "cv", "flip_rate", "changed_share")
METHOD = "repeats of the same judge on the same answer; intervals resample cases"


def stability(
    ratings: object,
    *,
    width: float = 0.5,
    threshold: float | None = None,
    raters: Sequence[str] | None = None,
    dimensions: Sequence[str] | None = None,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Audit:
    """Audit every rater that rated the same answers more than once, per dimension.

    Findings: `sd`, the mean over answers of the standard deviation of the repeats (n − 1); `within_sd`, the
    root of the mean variance, which does not shrink with few repeats; `cv`, the mean of SD / mean over
    answers whose mean is above zero; `flip_rate`, the probability that two repeats differ (with a
    `threshold`: that they fall on different sides of it, "score ≥ threshold"); `changed_share`, the share of
    answers whose repeats are not all alike (it grows with the number of repeats); `repeats_needed`, the
    smallest number of repeats r for which the interval of an answer's mean, 2·z·within_sd/√r, is at most
    `width` wide; `repeats_needed_worst_tenth`, the same for the answer at the 90th percentile of the standard
    deviation."""
    import polars as pl

    check_confidence(confidence)
    if width <= 0:
        raise MedjuryError(f"The width of an interval is above zero, not {width:g}.")
    frame, audited = read_table(ratings, raters=raters, dimensions=dimensions)
    frame = frame.filter(pl.col("rater").is_in(audited))
    scored = frame.filter(pl.col("status") == "scored")
    decision = pl.col("score") if threshold is None else (pl.col("score") >= threshold)
    level = scored.with_columns(decision.alias("level"))
    key = ["rater", "dimension", "item", "system"]
    same = (
        level.group_by(*key, "level")
        .len()
        .group_by(key)
        .agg((pl.col("len") * (pl.col("len") - 1)).sum().alias("alike"), pl.len().alias("levels"))
    )
    answers = (
        level.group_by(key)
        .agg(
            pl.len().alias("repeats"),
            pl.col("score").mean().alias("mean"),
            pl.col("score").std().alias("sd"),
            pl.col("cluster").first(),
        )
        .join(same, on=key)
        .sort(key)
    )
    repeated = answers.filter(pl.col("repeats") > 1)
    if not repeated.height:
        raise MedjuryError(
            "no rater rated any answer twice, so stability cannot be seen. Run the judges with 2 repeats or "
            "more, and number them in the column `repeat`."
        )
    findings: list[Finding] = []
    for (rater, dimension), part in repeated.group_by("rater", "dimension", maintain_order=True):
        drawn = _replicates(part, resamples, seed)
        group = "" if threshold is None else f"score ≥ {threshold:g}"
        n = part.height
        for name in STATISTICS:
            estimate = drawn.estimate(name, confidence=confidence, reason="every answer's mean score is zero")
            about = group if name in ("flip_rate", "changed_share") else ""
            findings.append(Finding(name, replace(estimate, n=n), str(rater), str(dimension), about))
        within = next(each.estimate for each in reversed(findings) if each.statistic == "within_sd")
        for name, estimate in _needed(within, part["sd"].to_numpy(), width, confidence).items():
            findings.append(Finding(name, estimate, str(rater), str(dimension), f"interval ≤ {width:g} wide"))
    warnings = []
    if single := answers.height - repeated.height:
        warnings.append(f"{single} answers were scored only once by their rater and say nothing on stability")
    silent = [rater for rater in audited if rater not in set(repeated["rater"].to_list())]
    if silent:
        warnings.append(f"without any repeat: {', '.join(silent)}")
    few = (
        repeated.group_by("rater", "dimension")
        .agg(pl.col("cluster").n_unique())
        .filter(pl.col("cluster") < 10)
    )
    if few.height:
        warnings.append("fewer than 10 cases have repeats for some raters: their intervals are rough")
    used = scored.join(repeated.select(key), on=key, how="semi").height
    return Audit(
        "stability", with_unscored(findings, frame), used, count_unscored(frame), METHOD, tuple(warnings)
    )


def _replicates(part: polars.DataFrame, resamples: int, seed: int) -> Replicates:
    repeats = part["repeats"].to_numpy().astype(np.float64)
    sd, mean = part["sd"].to_numpy(), part["mean"].to_numpy()
    flips = 1.0 - part["alike"].to_numpy() / (repeats * (repeats - 1.0))
    changed = (part["levels"].to_numpy() > 1).astype(np.float64)
    has_mean = mean > 0
    cv = np.where(has_mean, sd / np.where(has_mean, mean, 1.0), 0.0)
    features = np.column_stack([np.ones_like(sd), sd, sd**2, cv, has_mean, flips, changed])
    table = sums_by_cluster(features, part["cluster"].to_list())

    def statistics(rows: Floats) -> Read:
        def read(weights: Floats) -> Mapping[str, Floats]:
            n, sd, variance, cv, with_cv, flips, changed = (weights @ rows).T
            return {
                "sd": sd / n,
                "within_sd": np.sqrt(variance / n),
                "cv": cv / with_cv,
                "flip_rate": flips / n,
                "changed_share": changed / n,
            }

        return read

    return replicates(table, statistics, clusters=range(len(table)), resamples=resamples, seed=seed)


def _needed(within: Estimate, spreads: Floats, width: float, confidence: float) -> dict[str, Estimate]:
    from scipy.special import ndtri

    z = float(ndtri(0.5 + confidence / 2.0))

    def repeats(sd: float | None) -> float | None:
        # Rounded first, so that an exact whole number does not become the next one.
        return None if sd is None else float(max(1, math.ceil(round((2.0 * z * sd / width) ** 2, 9))))

    ends = repeats(within.low), repeats(within.high)
    worst = float(np.quantile(spreads, 0.9))
    return {
        "repeats_needed": Estimate(
            repeats(within.value), *ends, within.n, f"(2·z·within_sd/width)² rounded up; {within.method}"
        ),
        "repeats_needed_worst_tenth": Estimate(
            repeats(worst),
            None,
            None,
            within.n,
            "no interval: (2·z·SD/width)² at the 90th percentile of the SD",
        ),
    }
