"""Position: in pairwise judgements, does the place of an answer decide, and not the answer?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from medjury.analysis.audits._finding import Adjustment, Audit, Finding, adjusted
from medjury.analysis.audits._what_is_audited import check_confidence, resampled_p, sums_by_cluster
from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import pair_of
from medjury.statistics import Floats, Read, Replicates, replicates
from medjury.tables import SHOWN_FIRST, Names, RatingTable, rating_table

if TYPE_CHECKING:
    import polars

# Pairs come in a table of their own, which states no number of resamples.
RESAMPLES = 2000
METHOD = "pairwise judgements; intervals resample cases (patients where one has several)"
VERDICTS = {"first_place_bias": ("prefers the first place", "prefers the second place", "not shown")}
ONE_ORDER = "no pair of answers was judged in both orders"


def position(
    table: object,
    *,
    raters: Names | None = None,
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
    adjustment: Adjustment = "holm",
) -> Audit:
    """Audit pairwise judgements: the ratings of a study of pairs, or a table `item, first, second, preferred` and,
    where there are several, `rater` (see `medjury rank`).

    Findings: `first_place_bias` over pairs judged in both orders, where quality cancels: the share won by the
    first place (a tie is half) less one half. `consistent`: the same verdict in both orders; `reversed`: the
    other answer won when the order was turned. `first_place_share` over all judgements, which is a bias only
    where every pair is shown in both orders or the order was drawn by lot.
    """
    import polars as pl

    check_confidence(confidence)
    table = rating_table(table)
    if not table.pairs:
        raise MedjuryError("give --pairs, a table with the columns item, first, second, preferred")
    frame, lost = _read(table, raters)
    findings: list[Finding] = []
    warnings = []
    for (rater,), part in frame.group_by("rater", maintain_order=True):
        both = part.group_by("cluster", "item", "low", "high", maintain_order=True).agg(
            pl.col("low_wins").filter(pl.col("low_first")).mean().alias("shown_first"),
            pl.col("low_wins").filter(~pl.col("low_first")).mean().alias("shown_second"),
        )
        paired = both.drop_nulls()
        if alone := both.height - paired.height:
            warnings.append(f"{rater}: {alone} of {both.height} pairs were judged in one order only")
        drawn = _replicates(part, paired, RESAMPLES if resamples is None else resamples, table.seed(seed))
        for name in drawn.observed:
            n = part.height if name == "first_place_share" else paired.height
            found_as = name if name in VERDICTS else "win_rate"  # a share has no end below 0 or above 1
            made = drawn.estimate(name, confidence=confidence, reason=ONE_ORDER, statistic=found_as)
            estimate = replace(made, n=n)
            tested = name in VERDICTS
            p_value = resampled_p(drawn, name, estimate, paired["cluster"].n_unique()) if tested else None
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


def _read(table: RatingTable, raters: Names | None) -> tuple[polars.DataFrame, dict[str, int]]:
    """Judgements with the two systems in a fixed order, `low_wins` 1, ½ or 0, and the unscored by rater."""
    import polars as pl

    rows = table.rows.filter(pl.col(SHOWN_FIRST).is_not_null(), pl.col("rater_kind").ne_missing("jury"))
    if raters is not None:
        rows = rows.filter(pl.col("rater").is_in([raters] if isinstance(raters, str) else list(raters)))
    lost = dict(rows.filter(pl.col("score").is_null()).group_by("rater").len().iter_rows())
    kept = rows.drop_nulls("score")
    if not kept.height:
        raise MedjuryError("no pairwise judgement has a preferred answer.")
    names = {name: pair for name in kept["system"].unique().to_list() if (pair := pair_of(name))}
    low, high = (
        pl.col("system").replace_strict({name: pair[side] for name, pair in names.items()}) for side in (0, 1)
    )
    low_wins = (1.0 - pl.col("score").sign()) / 2.0
    frame = kept.with_columns(low.alias("low"), high.alias("high"), low_wins.alias("low_wins")).with_columns(
        (pl.col(SHOWN_FIRST) == pl.col("low")).alias("low_first")
    )
    first_wins = pl.when("low_first").then("low_wins").otherwise(1.0 - pl.col("low_wins"))
    return (
        frame.with_columns(first_wins.alias("first_wins")).sort(
            "rater", "item", "low", "high", maintain_order=True
        ),
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
    table = sums_by_cluster(
        np.vstack([both, every]), [*paired["cluster"].to_list(), *part["cluster"].to_list()]
    )

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
