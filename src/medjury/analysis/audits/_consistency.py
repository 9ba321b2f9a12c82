"""Internal consistency: do the dimensions of one rater hang together as they do for the clinicians?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from scipy.sparse import csr_array

from medjury.analysis.agreement import cronbach_alpha, two_rater_statistics
from medjury.analysis.audits._finding import Audit, Finding
from medjury.analysis.audits._what_is_audited import Asked, Audited, audited, two_sided_p
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Floats, Read, combined, replicates, side_by_side, undefined
from medjury.tables import CRITERION

if TYPE_CHECKING:
    import polars

METHOD = "Spearman's correlation of every two dimensions over answers; intervals resample cases"
LESS_REFERENCE = "spearman_less_reference"
VERDICTS = {
    LESS_REFERENCE: (
        "closer together than for the reference",
        "further apart than for the reference",
        "not shown",
    )
}


def internal_consistency(
    table: object,
    **asked: Unpack[Asked],
) -> Audit:
    """The correlation matrix between dimensions of each rater, and of the reference raters' mean.

    Findings: `spearman` for every pair, one dimension in `dimension` and the other in `group`;
    `mean_correlation` over all pairs (near 1, the judge gives one grade under many names: a halo);
    `cronbach_alpha`; with `reference` raters `spearman_less_reference`, the difference on the same resamples.
    Answers that lack one of two dimensions do not count for that pair.
    """
    # A text metric has one number under every name.
    about = audited(table, **asked, kinds=("judge", "jury"))
    if len(about.dimensions) < 2:
        raise MedjuryError("internal consistency needs two dimensions or more; the ratings have one.")
    if CRITERION in about.table.rows.columns:
        raise MedjuryError("these are marks of criteria, and no criterion has two dimensions")
    tables = {rater: _table(about, [rater]) for rater in about.raters}
    whose = "reference" if len(about.reference) > 1 else "".join(about.reference)
    if about.reference:
        tables[whose] = _table(about, about.reference)
    found = side_by_side([partial(_matrix, about, rater, wide) for rater, wide in tables.items()])
    apart = side_by_side(
        [
            partial(_differences, about, rater, tables[rater], tables[whose])
            for rater in (about.raters if about.reference else ())
        ]
    )
    warnings = [
        f"{rater}: {name} has the same score for every answer, so it correlates with nothing"
        for rater, wide in tables.items()
        for name in about.dimensions
        if wide[f"dimension {name}"].drop_nulls().n_unique() == 1
    ]
    findings = [finding for each in (*found, *apart) for finding in each]
    return about.result("internal_consistency", about.judged(findings, VERDICTS), METHOD, warnings)


def _table(about: Audited, raters: Sequence[str]) -> polars.DataFrame:
    """Answers in rows, dimensions in columns (as "dimension NAME", since a dimension may be called item); the
    mean where there are several raters."""
    import polars as pl

    key = ["item", "system"]
    mean = (
        about.answers.filter(pl.col("rater").is_in(list(raters)))
        .group_by(*key, "cluster", "dimension")
        .agg(pl.col("score").mean())
        .with_columns((pl.lit("dimension ") + pl.col("dimension")).alias("dimension"))
    )
    wide = mean.pivot("dimension", index=[*key, "cluster"], values="score").sort(key)
    columns = [f"dimension {name}" for name in about.dimensions]
    return wide.with_columns(
        pl.lit(None, dtype=pl.Float64).alias(name) for name in columns if name not in wide.columns
    )


def _matrix(about: Audited, rater: str, table: polars.DataFrame) -> list[Finding]:
    listed, confidence = about.dimensions, about.confidence
    rows = _numbers(table, listed)
    pairs = list(combinations(range(len(listed)), 2))
    clusters = table["cluster"].to_list()
    settings: dict[str, Any] = {"clusters": clusters, "resamples": about.resamples, "seed": about.seed}
    drawn = replicates(rows, _correlations(pairs), **settings)
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
        alpha = cronbach_alpha(rows, confidence=confidence, **settings)
    findings.append(Finding("cronbach_alpha", alpha, rater))
    return findings


def _differences(
    about: Audited, rater: str, table: polars.DataFrame, reference: polars.DataFrame
) -> list[Finding]:
    listed = about.dimensions
    joined = table.join(reference, on=["item", "system", "cluster"], how="inner", suffix=" of reference")
    rows = _numbers(joined, [*listed, *(f"{name} of reference" for name in listed)])
    width = len(listed)
    pairs = list(combinations(range(width), 2))
    shifted = [(first + width, second + width) for first, second in pairs]
    clusters = joined["cluster"].to_list()
    drawn = replicates(
        rows,
        _correlations([*pairs, *shifted]),
        clusters=clusters,
        resamples=about.resamples,
        seed=about.seed,
    )
    findings = []
    for mine, theirs in zip(pairs, shifted, strict=True):
        names_of = _name(*mine), _name(*theirs)
        estimate = drawn.difference(*names_of, confidence=about.confidence)
        p_value = None
        if estimate.low is not None:
            one, two = (drawn.resampled[name] for name in names_of)
            p_value = two_sided_p(estimate.value or 0.0, one - two, len(set(clusters)))
        first, second = (listed[place] for place in mine)
        findings.append(Finding(LESS_REFERENCE, estimate, rater, first, second, p_value=p_value))
    return findings


def _correlations(pairs: Sequence[tuple[int, int]]) -> Callable[[Floats], Read]:
    one = two_rater_statistics(["spearman"])
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
