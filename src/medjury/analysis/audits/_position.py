"""Position: in pairwise judgements, does the place of an answer decide, and not the answer?"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from medjury.analysis.audits._finding import Adjustment, Audit, Finding, adjusted
from medjury.analysis.audits._what_is_audited import check_confidence, resampled_p, sums_by_cluster
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Floats, Read, Replicates, replicates
from medjury.tables import Names, read_plain_table

if TYPE_CHECKING:
    import polars

# Pairs come in a table of their own, which states no number of resamples.
RESAMPLES = 2000
REQUIRED = ("item", "first", "second", "preferred")
TIE = ("tie", "both", "equal")
METHOD = "pairwise judgements; intervals resample items"
VERDICTS = {"first_place_bias": ("prefers the first place", "prefers the second place", "not shown")}
ONE_ORDER = "no pair of answers was judged in both orders"


def position(
    pairs: polars.DataFrame,
    *,
    raters: Names | None = None,
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
    adjustment: Adjustment = "holm",
) -> Audit:
    """Audit pairwise judgements: a table `item, first, second, preferred` and, where there are several,
    `rater`.

    `first` and `second` name the systems in the order shown; `preferred` is one of the two names, "first",
    "second", "tie", or empty where the judge gave no answer (counted as unscored).

    Findings: `first_place_bias` over pairs judged in both orders, where quality cancels: the share won by the
    first place (a tie is half) less one half. `consistent`: the same verdict in both orders; `reversed`: the
    other answer won when the order was turned. `first_place_share` over all judgements, which is a bias only
    where every pair is shown in both orders or the order was drawn by lot.
    """
    import polars as pl

    check_confidence(confidence)
    frame, lost = _read(pairs, raters)
    findings: list[Finding] = []
    warnings = []
    for (rater,), part in frame.group_by("rater", maintain_order=True):
        both = part.group_by("item", "low", "high", maintain_order=True).agg(
            pl.col("low_wins").filter(pl.col("low_first")).mean().alias("shown_first"),
            pl.col("low_wins").filter(~pl.col("low_first")).mean().alias("shown_second"),
        )
        paired = both.drop_nulls()
        if alone := both.height - paired.height:
            warnings.append(f"{rater}: {alone} of {both.height} pairs were judged in one order only")
        drawn = _replicates(part, paired, RESAMPLES if resamples is None else resamples, seed or 0)
        for name in drawn.observed:
            n = part.height if name == "first_place_share" else paired.height
            estimate = replace(drawn.estimate(name, confidence=confidence, reason=ONE_ORDER), n=n)
            tested = name in VERDICTS
            p_value = resampled_p(drawn, name, estimate, paired["item"].n_unique()) if tested else None
            findings.append(
                Finding(
                    name,
                    estimate,
                    str(rater),
                    n_unscored=lost.get(str(rater), 0),
                    p_value=p_value,
                    audit="position",
                )
            )
    judged = adjusted(findings, adjustment, confidence=confidence, verdicts=VERDICTS)
    return Audit("position", tuple(judged), frame.height, sum(lost.values()), METHOD, tuple(warnings))


def read_pairs(path: str | os.PathLike[str]) -> polars.DataFrame:
    """The pairwise judgements in a file."""
    frame = read_plain_table(path)
    if frame is None:
        raise MedjuryError(f"{path}: no CSV, Parquet, JSONL or Excel table can be read there")
    return frame


def holds_pairs(path: str | os.PathLike[str]) -> bool:
    """Whether a file holds pairwise judgements and not ratings."""
    frame = read_plain_table(path)
    return frame is not None and set(REQUIRED) <= set(frame.columns) and "score" not in frame.columns


def _read(preferences: polars.DataFrame, raters: Names | None) -> tuple[polars.DataFrame, dict[str, int]]:
    """Judgements with the two systems in a fixed order, `low_wins` 1, ½ or 0, and the unscored by rater."""
    import polars as pl

    absent = [name for name in REQUIRED if name not in preferences.columns]
    if absent:
        raise MedjuryError(
            f"pairwise judgements need the columns {', '.join(REQUIRED)}; {', '.join(absent)} is missing."
        )
    frame = preferences.with_row_index("row", offset=1)
    if "rater" not in frame.columns:
        frame = frame.with_columns(pl.lit("judge").alias("rater"))
    frame = frame.with_columns(
        *(pl.col(name).cast(pl.String).str.strip_chars() for name in (*REQUIRED, "rater"))
    )
    if raters is not None:
        frame = frame.filter(pl.col("rater").is_in([raters] if isinstance(raters, str) else list(raters)))
    same = frame.filter(pl.col("first") == pl.col("second"))
    if same.height:
        raise MedjuryError(
            f"row {same['row'][0]}: first and second are the same system, {same['first'][0]!r}."
        )
    stated, first = pl.col("preferred"), pl.col("first")
    word = stated.str.to_lowercase()
    first_wins = (
        pl.when((stated == first) | (word == "first"))
        .then(1.0)
        .when((stated == pl.col("second")) | (word == "second"))
        .then(0.0)
        .when(word.is_in(list(TIE)))
        .then(0.5)
    )
    frame = frame.with_columns(first_wins.alias("first_wins"))
    empty = stated.is_null() | (stated == "")
    odd = frame.filter(pl.col("first_wins").is_null() & ~empty)
    if odd.height:
        raise MedjuryError(
            f"row {odd['row'][0]}: preferred is {odd['preferred'][0]!r}; it must be {odd['first'][0]!r}, "
            f"{odd['second'][0]!r}, first, second, tie or empty."
        )
    lost = dict(frame.filter(empty).group_by("rater").len().iter_rows())
    kept = frame.filter(~empty)
    if not kept.height:
        raise MedjuryError("no pairwise judgement has a preferred answer.")
    low_first = first < pl.col("second")
    return (
        kept.with_columns(
            low_first.alias("low_first"),
            pl.min_horizontal("first", "second").alias("low"),
            pl.max_horizontal("first", "second").alias("high"),
            pl.when(low_first)
            .then(pl.col("first_wins"))
            .otherwise(1.0 - pl.col("first_wins"))
            .alias("low_wins"),
        ).sort("rater", "item", "low", "high", maintain_order=True),
        {str(rater): int(count) for rater, count in lost.items()},
    )


def _replicates(part: polars.DataFrame, paired: polars.DataFrame, resamples: int, seed: int) -> Replicates:
    shown_first, shown_second = paired["shown_first"].to_numpy(), paired["shown_second"].to_numpy()
    # The low name won as first with one share and as second with the other; their difference is the place's.
    bias = (shown_first - shown_second) / 2.0
    consistent = np.isclose(shown_first, shown_second)
    opposite = (shown_first - 0.5) * (shown_second - 0.5) < 0
    both = np.column_stack([np.ones(len(bias)), bias, consistent, opposite, np.zeros((len(bias), 2))])
    wins = part["first_wins"].to_numpy()
    every = np.column_stack([np.zeros((len(wins), 4)), np.ones(len(wins)), wins])
    table = sums_by_cluster(np.vstack([both, every]), [*paired["item"].to_list(), *part["item"].to_list()])

    def statistics(rows: Floats) -> Read:
        def read(weights: Floats) -> Mapping[str, Floats]:
            pairs, bias, consistent, opposite, judgements, wins = (weights @ rows).T
            return {
                "first_place_bias": bias / pairs,
                "consistent": consistent / pairs,
                "reversed": opposite / pairs,
                "first_place_share": wins / judgements,
            }

        return read

    return replicates(table, statistics, clusters=range(len(table)), resamples=resamples, seed=seed)
