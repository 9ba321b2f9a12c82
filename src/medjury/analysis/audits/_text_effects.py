"""Length, verbosity and format: does a judge pay for the look of an answer?

Longer answers may simply be better. So the slope of the score on the feature stands beside two that take the
clinicians' (reference) scores of the same answers into account.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

from medjury.analysis.audits._audit import Audit, Finding, names
from medjury.analysis.audits._audited import Audited, audited
from medjury.analysis.audits._multiplicity import Adjustment, adjusted
from medjury.analysis.audits._regressions.regression import BEYOND, GIVEN, SLOPE, slopes
from medjury.analysis.audits._resampled import resampled_p
from medjury.analysis.audits._text_features import FEATURES
from medjury.foundation.errors import MedjuryError
from medjury.statistics import side_by_side
from medjury.tables import Names, rating_table

if TYPE_CHECKING:
    import polars

VERDICTS = ("rewards it", "punishes it", "not shown")
METHOD = "least squares, all features at once; intervals resample cases"


def text_effects(
    table: object,
    features: polars.DataFrame | None = None,
    *,
    raters: Names | None = None,
    reference: Names | None = None,
    dimensions: Names | None = None,
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
    columns: Sequence[str] | None = None,
    within_systems: bool = False,
    adjustment: Adjustment = "holm",
) -> Audit:
    """Audit how scores move with features of the answer's text, per rater and dimension.

    `features` is a table `item, system` and numeric columns, as `case_features` makes it; without it the
    ratings themselves must hold the columns. `columns` picks the columns (default: those of `case_features`
    that are there); they enter one regression, so each slope holds the others fixed. `within_systems` adds a
    fixed effect of every system: does the judge prefer the longer answer of the same system?

    Findings, `group` naming the feature: `slope` (per unit; for `length` per doubling, whatever it counts);
    with `reference` raters `slope_given_reference` (the reference score held fixed) and
    `slope_beyond_reference` (the slope of judge − reference). The first of these errs upwards where better
    answers are longer and the reference is noisy, the second downwards where the judge uses less of the scale
    than the reference: the verdict needs both."""
    import polars as pl

    about = audited(
        rating_table(table),
        raters=raters,
        reference=reference,
        dimensions=dimensions,
        confidence=confidence,
        resamples=resamples,
        seed=seed,
    )
    measured, chosen = _features(about.rows, features, columns)
    scored = about.answers.filter(pl.col("rater").is_in(about.raters)).height
    parts = {
        (rater, dimension): (
            about.beside_reference(rater, dimension) if about.reference else about.of(rater, dimension)
        ).join(measured, on=["item", "system"], how="inner", maintain_order="left")
        for dimension, rater in product(about.dimensions, about.raters)
    }
    used = about.answers.filter(pl.col("rater").is_in(about.raters)).join(
        measured, on=["item", "system"], how="semi"
    )
    if not used.height:
        raise MedjuryError(
            "no rated answer has features: the items and systems of the two tables do not meet."
        )
    warnings = []
    if lost := scored - used.height:
        warnings.append(f"{lost} of {scored} rated answers have no text features and are left out")
    if not about.reference:
        warnings.append(
            "no reference raters: a slope is an association, not a bias, for longer may be better"
        )
    found = side_by_side(
        [
            partial(_slopes, about, rows, chosen, rater, dimension, within_systems)
            for (rater, dimension), rows in parts.items()
            if rows.height
        ]
    )
    findings = [finding for each in found for finding in each]
    return about.result(
        "text_effects",
        _judged(findings, adjustment, confidence),
        METHOD + (", within systems" if within_systems else ""),
        warnings,
        n=used.height,
    )


def _features(
    frame: polars.DataFrame, features: polars.DataFrame | None, columns: Sequence[str] | None
) -> tuple[polars.DataFrame, list[str]]:
    import polars as pl

    source = frame if features is None else features
    chosen = list(columns or [name for name in FEATURES if name in source.columns])
    absent = [name for name in chosen if name not in source.columns]
    if absent or not chosen:
        raise MedjuryError(
            f"there is no column {', '.join(absent) or ' or '.join(FEATURES)} to audit. Give the cases, so "
            "that lengths can be counted, or ratings with such a column."
        )
    source = source.with_columns(_as_numbers(source[name]) for name in chosen)
    if "system" not in source.columns:
        source = source.with_columns(pl.lit("").alias("system"))
    key = [pl.col("item").cast(pl.String), pl.col("system").cast(pl.String).fill_null("")]
    table = source.select(*key, *(pl.col(name).cast(pl.Float64) for name in chosen)).drop_nulls().unique()
    twice = table.group_by("item", "system").len().filter(pl.col("len") > 1).sort("item")
    if twice.height:
        raise MedjuryError(
            f"{twice.height} answers have two different values of {names(chosen)}; the first is item "
            f"{twice['item'][0]!r}."
        )
    if "length" in chosen:
        if (table["length"] <= 0).any():
            raise MedjuryError(
                "a length is zero or less; give lengths above zero, in words or in characters."
            )
        table = table.with_columns(pl.col("length").log(2))
    return table, chosen


def _as_numbers(column: polars.Series) -> polars.Series:
    """A column of numbers, also where a file gave them as text; anything else is refused."""
    import polars as pl

    numbers = column.cast(pl.Float64, strict=False)
    empty = column.is_null() | (column.cast(pl.String).str.strip_chars() == "")
    if not (numbers.is_not_null() & numbers.is_finite() | empty).all():
        raise MedjuryError(f"the column {column.name!r} holds something that is not a number.")
    return numbers


def _slopes(
    about: Audited,
    rows: polars.DataFrame,
    features: Sequence[str],
    rater: str,
    dimension: str,
    within_systems: bool,
) -> list[Finding]:
    drawn = about.drawn(
        *slopes(
            rows["score"].to_numpy(),
            rows.select(features).to_numpy(),
            features,
            reference=rows["reference"].to_numpy() if about.reference else None,
            systems=rows["system"].to_list() if within_systems else None,
            clusters=rows["cluster"].to_list(),
        )
    )
    findings = []
    for name in drawn.observed:
        statistic, feature = name.split(" ", 1)
        reason = f"{feature} does not vary, or cannot be told apart from the other features"
        estimate = replace(drawn.estimate(name, confidence=about.confidence, reason=reason), n=rows.height)
        p_value = resampled_p(drawn, name, estimate)
        findings.append(Finding(statistic, estimate, rater, dimension, feature, p_value=p_value))
    return findings


def _judged(findings: Sequence[Finding], adjustment: Adjustment, confidence: float) -> list[Finding]:
    """A bias is shown where both slopes that look past the reference agree; the plain one only describes."""
    tested = dict.fromkeys((SLOPE, GIVEN, BEYOND), VERDICTS)
    judged = adjusted(findings, adjustment, confidence=confidence, verdicts=tested)
    given = {
        (each.rater, each.dimension, each.group): each.verdict for each in judged if each.statistic == GIVEN
    }
    result = []
    for each in judged:
        verdict = ""
        if each.statistic == BEYOND and each.verdict:
            agreed = given.get((each.rater, each.dimension, each.group)) == each.verdict
            verdict = each.verdict if agreed else VERDICTS[2]
        result.append(replace(each, verdict=verdict, stands_out=verdict not in ("", VERDICTS[2])))
    return result
