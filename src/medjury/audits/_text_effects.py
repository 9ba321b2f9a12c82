"""Length, verbosity and format: does a judge pay for the look of an answer?

Longer answers may simply be better. So the slope of the score on the feature stands beside two that take the
clinicians' (reference) scores of the same answers into account.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from medjury.audits._audit import Audit, Finding, names
from medjury.audits._multiplicity import Adjustment, adjusted
from medjury.audits._regression import BEYOND, GIVEN, SLOPE, slope_replicates
from medjury.audits._resampled import check_confidence, two_sided_p
from medjury.audits._table import count_unscored, dimensions_of, per_answer, read_table, with_unscored
from medjury.audits._text_features import FEATURES
from medjury.errors import MedjuryError

if TYPE_CHECKING:
    import polars

VERDICTS = ("rewards it", "punishes it", "not shown")
METHOD = "least squares, all features at once; intervals resample cases"


def text_effects(
    ratings: object,
    features: polars.DataFrame | None = None,
    *,
    columns: Sequence[str] | None = None,
    reference: Sequence[str] = (),
    within_systems: bool = False,
    raters: Sequence[str] | None = None,
    dimensions: Sequence[str] | None = None,
    adjustment: Adjustment = "holm",
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
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

    check_confidence(confidence)
    frame, audited = read_table(ratings, raters=raters, reference=reference, dimensions=dimensions)
    table, chosen = _features(frame, features, columns)
    answers = per_answer(frame).join(table, on=["item", "system"], how="inner")
    if not answers.height:
        raise MedjuryError(
            "no rated answer has features: the items and systems of the two tables do not meet."
        )
    rated = answers.filter(pl.col("rater").is_in(audited))
    warnings = []
    whole = per_answer(frame).filter(pl.col("rater").is_in(audited)).height
    if whole > rated.height:
        warnings.append(
            f"{whole - rated.height} of {whole} rated answers have no text features and are left out"
        )
    if not reference:
        warnings.append(
            "no reference raters: a slope is an association, not a bias, for longer may be better"
        )
    findings: list[Finding] = []
    for dimension in dimensions_of(frame):
        part = answers.filter(pl.col("dimension") == dimension)
        for rater in audited:
            rows = _with_reference(part, rater, reference)
            if rows.height:
                findings += _slopes(
                    rows,
                    chosen,
                    rater,
                    dimension,
                    bool(reference),
                    within_systems,
                    confidence,
                    resamples,
                    seed,
                )
    frame = frame.filter(pl.col("rater").is_in(audited))
    return Audit(
        "text_effects",
        with_unscored(_judged(findings, adjustment, confidence), frame),
        rated.height,
        count_unscored(frame),
        METHOD + (", within systems" if within_systems else ""),
        tuple(warnings),
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


def _with_reference(part: polars.DataFrame, rater: str, reference: Sequence[str]) -> polars.DataFrame:
    import polars as pl

    mine = part.filter(pl.col("rater") == rater)
    if not reference:
        return mine
    mean = (
        part.filter(pl.col("rater").is_in(list(reference)))
        .group_by("item", "system")
        .agg(pl.col("score").mean().alias("reference"))
    )
    return mine.join(mean, on=["item", "system"], how="inner")


def _slopes(
    rows: polars.DataFrame,
    features: Sequence[str],
    rater: str,
    dimension: str,
    with_reference: bool,
    within_systems: bool,
    confidence: float,
    resamples: int,
    seed: int,
) -> list[Finding]:
    drawn = slope_replicates(
        rows["score"].to_numpy(),
        rows.select(features).to_numpy(),
        features,
        reference=rows["reference"].to_numpy() if with_reference else None,
        systems=rows["system"].to_list() if within_systems else None,
        clusters=rows["cluster"].to_list(),
        resamples=resamples,
        seed=seed,
    )
    findings = []
    for name in drawn.observed:
        statistic, feature = name.split(" ", 1)
        reason = f"{feature} does not vary, or cannot be told apart from the other features"
        estimate = replace(drawn.estimate(name, confidence=confidence, reason=reason), n=rows.height)
        p_value = (
            two_sided_p(drawn.observed[name], drawn.resampled[name], drawn.n)
            if estimate.low is not None
            else None
        )
        findings.append(Finding(statistic, estimate, rater, dimension, feature, p_value=p_value))
    return findings


def _judged(findings: Sequence[Finding], adjustment: Adjustment, confidence: float) -> list[Finding]:
    made: dict[tuple[str, str, str, str], Finding] = {}
    for statistic in (SLOPE, GIVEN, BEYOND):
        family = [each for each in findings if each.statistic == statistic]
        judged = adjusted(family, adjustment, confidence=confidence, verdicts=VERDICTS)
        made |= {(statistic, each.rater, each.dimension, each.group): each for each in judged}
    result = []
    for each in findings:
        about = (each.rater, each.dimension, each.group)
        given, beyond = made.get((GIVEN, *about)), made.get((BEYOND, *about))
        verdict = ""
        if each.statistic == BEYOND and given is not None and beyond is not None:
            verdict = beyond.verdict if given.verdict == beyond.verdict else VERDICTS[2]
        stands_out = verdict not in ("", VERDICTS[2])
        result.append(replace(made[(each.statistic, *about)], verdict=verdict, stands_out=stands_out))
    return result
