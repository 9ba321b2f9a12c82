"""Two raters on answers that were drawn with unequal probabilities: every row counts as one over its own.

The weighted table of pairs estimates that of all answers (Horvitz & Thompson 1952, J Am Stat Assoc 47:663-685), so
whatever is read from shares of pairs (exact match, differences, kappas, correlations) is estimated by reading it
from the weighted table. Where one rater scored all answers, the table is made to fit that rater's scores of all
(`PostStrata`). Intervals resample whole cases with their weights, read or not. What counts rows instead (ICC,
signed ranks) has no weighted form here and says so.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from medjury.analysis.agreement._pairs.correlation import (
    Correlation,
    correlation_statistics,
    no_spread_reason,
)
from medjury.analysis.agreement._pairs.differences import Difference, absolute_offset, difference_statistics
from medjury.analysis.agreement._pairs.kappa import NAMES as KAPPAS
from medjury.analysis.agreement._pairs.pair import Pair, Settings, counted
from medjury.analysis.agreement._pairs.statistics import BY_SYSTEM, ORDER, grade_statistics
from medjury.statistics import (
    Estimate,
    by_last_column,
    by_strata,
    combined,
    effective_n,
    replicates,
    undefined,
    weighted_proportion,
)

NOT_WEIGHTED = (
    "the answers were drawn with unequal probabilities, and this statistic has no weighted form here"
)
_OF_SCORES: tuple[Difference, ...] = ("offset", "mae", "rmse")
_CORRELATIONS: tuple[Correlation, ...] = ("pearson", "spearman")
WEIGHTED = ("exact_match", *_OF_SCORES, "absolute_offset", *_CORRELATIONS, *KAPPAS.values())


def weighted_estimates(pair: Pair, settings: Settings) -> dict[str, tuple[Estimate, float | None]]:
    """What can be weighted, with its interval, and why there is nothing of the rest."""
    assert pair.weights is not None
    on = counted(pair)
    said = f"; weighted by 1/probability, {len(pair.rows)} ratings are worth {effective_n(pair.weights):.1f}"
    parts = [difference_statistics(_OF_SCORES), correlation_statistics(_CORRELATIONS)]
    if on.grades is not None:
        parts.append(grade_statistics(on.grades))
    # Only shares count, so that the weights may be put on any footing: one of 1 is the mean.
    weights, strata = pair.weights / pair.weights.mean(), pair.strata
    made = replicates(
        np.column_stack([pair.rows, weights]) if strata is None else strata.rows(pair.rows),
        by_last_column(combined(*parts)) if strata is None else by_strata(combined(*parts)),
        clusters=pair.clusters if strata is None else strata.clusters,
        resamples=settings.resamples,
        seed=settings.seed,
        n=len(pair.rows),
    )
    if strata is not None:
        said += strata.said
    found: dict[str, Estimate] = {}
    for name in made.observed:
        estimate = made.estimate(name, confidence=settings.confidence, reason=no_spread_reason(pair.rows))
        note = on.note if name in ("exact_match", *KAPPAS.values()) else ""
        found[name] = replace(estimate, method=estimate.method + note + said)
    if on.grades is not None:
        same = (on.grades.grade(pair.rows) == on.grades.grade(pair.rows[:, ::-1])).all(axis=1)
        share = weighted_proportion(same, weights, pair.clusters, confidence=settings.confidence)
        found["exact_match"] = replace(share, method=share.method + on.note)
        found |= _of_a_constant_rater(pair, found)
    found["absolute_offset"] = absolute_offset(found["offset"])
    systems = BY_SYSTEM if pair.systems is not None else ()
    for name in (*ORDER, *systems):
        found.setdefault(name, undefined(NOT_WEIGHTED, len(pair.rows), "none"))
    scaleless = _CORRELATIONS if pair.metric else (*ORDER, *systems)
    return {name: (found[name], None) for name in scaleless if name in found and settings.wants(name)}


def _of_a_constant_rater(pair: Pair, found: dict[str, Estimate]) -> dict[str, Estimate]:
    names = [
        who for who, column in zip(("reference", "rater"), pair.rows.T, strict=True) if np.ptp(column) == 0
    ]
    if not names:
        return {}
    said = f"the {' and the '.join(names)} gave every item the same score"
    return {name: undefined(said, len(pair.rows), "none") for name in KAPPAS.values() if name in found}
