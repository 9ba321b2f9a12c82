"""Internal consistency: do the dimensions of one rater hang together as they do for the clinicians?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from medjury.agreement import correlation_statistics, cronbach_alpha
from medjury.audits._audit import Audit, Finding
from medjury.audits._multiplicity import Adjustment, adjusted
from medjury.audits._resampled import Floats, Read, check_confidence, two_sided_p
from medjury.audits._table import count_unscored, dimensions_of, per_answer, read_table, with_unscored
from medjury.errors import MedjuryError
from medjury.statistics import combined, replicates, undefined

if TYPE_CHECKING:
    import polars

METHOD = "Spearman's correlation of every two dimensions over answers; intervals resample cases"
VERDICTS = ("closer together than for the reference", "further apart than for the reference", "not shown")


def internal_consistency(
    ratings: object,
    *,
    reference: Sequence[str] = (),
    raters: Sequence[str] | None = None,
    dimensions: Sequence[str] | None = None,
    adjustment: Adjustment = "holm",
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Audit:
    """The correlation matrix between dimensions of each rater, and of the reference raters' mean.

    Findings: `spearman` for every pair, one dimension in `dimension` and the other in `group`;
    `mean_correlation` over all pairs (near 1, the judge gives one grade under many names: a halo);
    `cronbach_alpha`; with `reference` raters `spearman_less_reference`, the difference on the same resamples.
    Answers that lack one of two dimensions do not count for that pair.
    """
    import polars as pl

    check_confidence(confidence)
    frame, audited = read_table(ratings, raters=raters, reference=reference, dimensions=dimensions)
    listed = dimensions_of(frame)
    if len(listed) < 2:
        raise MedjuryError("internal consistency needs two dimensions or more; the ratings have one.")
    answers = per_answer(frame)
    tables = {rater: _table(answers, [rater], listed) for rater in audited}
    whose = "reference" if len(reference) > 1 else "".join(reference)
    if reference:
        tables[whose] = _table(answers, reference, listed)
    findings: list[Finding] = []
    for rater, table in tables.items():
        findings += _matrix(rater, table, listed, confidence, resamples, seed)
    differences: list[Finding] = []
    for rater in audited if reference else ():
        differences += _differences(rater, tables[rater], tables[whose], listed, confidence, resamples, seed)
    findings += adjusted(differences, adjustment, confidence=confidence, verdicts=VERDICTS)
    used = frame.filter(pl.col("rater").is_in([*audited, *reference]))
    warnings = [
        f"{rater}: {name} has the same score for every answer, so it correlates with nothing"
        for rater, table in tables.items()
        for name in listed
        if table[f"dimension {name}"].drop_nulls().n_unique() == 1
    ]
    return Audit(
        "internal_consistency",
        with_unscored(findings, used),
        answers.filter(pl.col("rater").is_in([*audited, *reference])).height,
        count_unscored(used),
        METHOD,
        tuple(warnings),
    )


def _table(answers: polars.DataFrame, raters: Sequence[str], listed: Sequence[str]) -> polars.DataFrame:
    """Answers in rows, dimensions in columns (as "dimension NAME", since a dimension may be called item); the
    mean where there are several raters."""
    import polars as pl

    key = ["item", "system"]
    mean = (
        answers.filter(pl.col("rater").is_in(list(raters)))
        .group_by(*key, "cluster", "dimension")
        .agg(pl.col("score").mean())
        .with_columns((pl.lit("dimension ") + pl.col("dimension")).alias("dimension"))
    )
    wide = mean.pivot("dimension", index=[*key, "cluster"], values="score").sort(key)
    columns = [f"dimension {name}" for name in listed]
    return wide.with_columns(
        pl.lit(None, dtype=pl.Float64).alias(name) for name in columns if name not in wide.columns
    )


def _matrix(
    rater: str, table: polars.DataFrame, listed: Sequence[str], confidence: float, resamples: int, seed: int
) -> list[Finding]:
    rows = _numbers(table, listed)
    pairs = list(combinations(range(len(listed)), 2))
    clusters = table["cluster"].to_list()
    drawn = replicates(rows, _correlations(pairs), clusters=clusters, resamples=resamples, seed=seed)
    findings = []
    for first, second in pairs:
        n = int(np.count_nonzero(~np.isnan(rows[:, [first, second]]).any(axis=1)))
        estimate = drawn.estimate(
            _name(first, second), confidence=confidence, reason="one of the two dimensions never varies"
        )
        findings.append(Finding("spearman", replace(estimate, n=n), rater, listed[first], listed[second]))
    mean = drawn.estimate("mean", confidence=confidence, reason="a correlation in the mean does not exist")
    findings.append(Finding("mean_correlation", mean, rater))
    if np.isnan(rows).all(axis=0).any():
        alpha = undefined("a dimension has no scores", len(rows), "Cronbach's alpha")
    else:
        alpha = cronbach_alpha(rows, clusters=clusters, resamples=resamples, seed=seed, confidence=confidence)
    findings.append(Finding("cronbach_alpha", alpha, rater))
    return findings


def _differences(
    rater: str,
    table: polars.DataFrame,
    reference: polars.DataFrame,
    listed: Sequence[str],
    confidence: float,
    resamples: int,
    seed: int,
) -> list[Finding]:
    joined = table.join(reference, on=["item", "system", "cluster"], how="inner", suffix=" of reference")
    rows = _numbers(joined, [*listed, *(f"{name} of reference" for name in listed)])
    width = len(listed)
    pairs = list(combinations(range(width), 2))
    shifted = [(first + width, second + width) for first, second in pairs]
    statistics = _correlations([*pairs, *shifted])
    clusters = joined["cluster"].to_list()
    drawn = replicates(rows, statistics, clusters=clusters, resamples=resamples, seed=seed)
    findings = []
    for mine, theirs in zip(pairs, shifted, strict=True):
        names_of = _name(*mine), _name(*theirs)
        estimate = drawn.difference(*names_of, confidence=confidence)
        p_value = None
        if estimate.low is not None:
            one, two = (drawn.resampled[name] for name in names_of)
            p_value = two_sided_p(estimate.value or 0.0, one - two, len(set(clusters)))
        first, second = (listed[place] for place in mine)
        findings.append(Finding("spearman_less_reference", estimate, rater, first, second, p_value=p_value))
    return findings


def _correlations(pairs: Sequence[tuple[int, int]]) -> Callable[[Floats], Read]:
    one = correlation_statistics(["spearman"])
    parts = combined(*(_collapsed(one, pair) for pair in pairs))

    def statistics(rows: Floats) -> Read:
        inner = parts(rows)

        def read(weights: Floats) -> dict[str, Floats]:
            found = dict(inner(weights))
            found["mean"] = np.mean(list(found.values()), axis=0)
            return found

        return read

    return statistics


def _collapsed(statistics: Callable[[Floats], Read], pair: tuple[int, int]) -> Callable[[Floats], Read]:
    """The statistic of two columns, on their distinct pairs of values: on a rating scale there are few."""

    def prepare(rows: Floats) -> Read:
        cells, cell_of = np.unique(rows[:, pair], axis=0, return_inverse=True)
        shape = (len(rows), len(cells))
        into = csr_array((np.ones(len(rows)), cell_of.ravel(), np.arange(len(rows) + 1)), shape=shape)
        inner = statistics(cells)

        def read(weights: Floats) -> dict[str, Floats]:
            found = inner(np.asarray(weights @ into))
            return {f"{pair[0]} {pair[1]} {name}": values for name, values in found.items()}

        return read

    return prepare


def _name(first: int, second: int) -> str:
    return f"{first} {second} spearman"


def _numbers(table: polars.DataFrame, dimensions: Sequence[str]) -> Floats:
    import polars as pl

    columns = [pl.col(f"dimension {name}") for name in dimensions]
    return table.select(column.cast(pl.Float64).fill_null(float("nan")) for column in columns).to_numpy()
