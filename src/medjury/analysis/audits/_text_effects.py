"""Length, verbosity and format: does a judge pay for the look of an answer?

Longer answers may simply be better. So the slope of the score on the feature comes with two that take the
clinicians' (reference) scores of the same answers into account.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Unpack

import numpy as np

from medjury.analysis.audits._finding import Audit, Finding, names
from medjury.analysis.audits._what_is_audited import Asked, Audited, audited, resampled_p, sums_by_cluster
from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import Case
from medjury.statistics import Floats, Read, identified, independent, side_by_side
from medjury.tables import case_column

if TYPE_CHECKING:
    import polars


# What a judge may reward in a text besides what it says: length, repetition, lists, headings, bold type.

_WORD = re.compile(r"\w+(?:['’]\w+)*")
_LIST_ITEM = re.compile(r"^\s*(?:[-*•–]|\d+[.)])\s+\S")
_HEADING = re.compile(r"^\s*(?:#{1,6}\s+\S|\*\*[^*]+\*\*:?\s*$)")
_BOLD = re.compile(r"\*\*[^*\n]+\*\*|__[^_\n]+__")

FEATURES = ("length", "repetition", "lists", "headings", "bold")


def text_features(text: str) -> dict[str, float]:
    """The features of a text: `length` in words; `repetition`, the share of words that came before; `lists` and
    `headings`, shares of the lines that are not empty; `bold`, bold stretches per 100 words. None without a word.

    >>> found = text_features("# Plan\\n- rest\\n- rest and fluids")
    >>> {name: round(value, 2) for name, value in found.items()}
    {'length': 5.0, 'repetition': 0.2, 'lists': 0.67, 'headings': 0.33, 'bold': 0.0}
    """
    words = [word.casefold() for word in _WORD.findall(text)]
    if not words:
        return {}
    lines = [line for line in text.splitlines() if line.strip()]
    return {
        "length": float(len(words)),
        "repetition": 1.0 - len(set(words)) / len(words),
        "lists": sum(bool(_LIST_ITEM.match(line)) for line in lines) / len(lines),
        "headings": sum(bool(_HEADING.match(line)) for line in lines) / len(lines),
        "bold": 100.0 * len(_BOLD.findall(text)) / len(words),
    }


def case_features(
    cases: Iterable[Case], groups: Sequence[str] = (), *, notes: bool = False
) -> tuple[polars.DataFrame, dict[str, dict[str, str]]]:
    """A table `item, system` and the features of every case's candidate answer (answers without words are absent),
    and of each of `groups` the value that a case's metadata give each item. With `notes` there is also
    `note_length`, the words of the notes and texts that the answer was made from (null where there are none).

    Only numbers and groups leave the cases, which are gone through once: no text is kept.
    """
    import polars as pl

    rows: list[tuple[object, ...]] = []
    values: dict[str, dict[str, str]] = {}
    for case in cases:
        found = text_features(case.candidate or "")
        if found:
            rows.append((case.id, case.system, *found.values(), *((_note_length(case),) if notes else ())))
        for name in groups:
            value = case.metadata.get(name)
            if value is not None and values.setdefault(name, {}).setdefault(case.id, str(value)) != str(
                value
            ):
                raise MedjuryError(f"the cases of item {case.id!r} have different values of {name}.")
    numbers = (*FEATURES, "note_length") if notes else FEATURES
    schema = {"item": pl.String, "system": pl.String} | dict.fromkeys(numbers, pl.Float64)
    return pl.DataFrame(rows, schema=schema, orient="row"), values


def _note_length(case: Case) -> float | None:
    texts = (*(note.text for note in case.notes), *case.texts.values())
    words = sum(len(_WORD.findall(text)) for text in texts)
    return float(words) if words else None


# Least squares on every resample of cases at once: the slopes of a score on features of the answer.

SLOPE, GIVEN, BEYOND = "slope", "slope_given_reference", "slope_beyond_reference"


def slopes(
    score: Floats,
    features: Floats,
    labels: Sequence[str],
    *,
    reference: Floats | None,
    systems: Sequence[str] | None,
    clusters: Sequence[object],
) -> tuple[Floats, Callable[[Floats], Read]]:
    """Of every case the sums that the slopes are made of, and how to read those of all features at once, named
    `STATISTIC FEATURE`.

    `slope` is that of the score; with a `reference` score `slope_given_reference` holds it fixed and
    `slope_beyond_reference` is the slope of score − reference. With `systems`, each has its own level. A feature
    that does not vary, or that the others make up, has no slope (NaN) and leaves the others alone.
    """
    # Centred and scaled once: normal equations lose digits otherwise.
    deviation = features.std(axis=0)
    unit = np.where(deviation > 0, deviation, 1.0)
    scaled = (features - features.mean(axis=0)) / unit
    levels = sorted(set(systems or ()))[1:]
    levels_in = [np.array([name == level for name in systems or ()], dtype=np.float64) for level in levels]
    base = np.column_stack([np.ones(len(score)), *levels_in, scaled])
    told_apart, kept = identified(base), independent(base)
    first = 1 + len(levels)
    place_of = {
        label: kept.index(first + place) for place, label in enumerate(labels) if told_apart[first + place]
    }
    unit_of = dict(zip(labels, unit.tolist(), strict=True))
    columns = [base[:, kept], (score - score.mean())[:, np.newaxis]]
    if reference is not None:
        gap = score - reference
        columns += [(gap - gap.mean())[:, np.newaxis], (reference - reference.mean())[:, np.newaxis]]
    design = np.hstack(columns)
    width, plain = design.shape[1], list(range(len(kept)))
    target, beyond, given = len(kept), len(kept) + 1, len(kept) + 2
    products = (design[:, :, np.newaxis] * design[:, np.newaxis, :]).reshape(len(design), -1)

    def statistics(rows: Floats) -> Read:
        def read(weights: Floats) -> Mapping[str, Floats]:
            cross = (weights @ rows).reshape(-1, width, width)
            fits = {SLOPE: _solve(cross, plain, target)}
            if reference is not None:
                fits[GIVEN] = _solve(cross, [*plain, given], target)
                fits[BEYOND] = _solve(cross, plain, beyond)
            nothing = np.full(len(weights), np.nan)
            return {
                f"{name} {label}": fit[:, place_of[label]] / unit_of[label] if label in place_of else nothing
                for name, fit in fits.items()
                for label in labels
            }

        return read

    return sums_by_cluster(products, clusters), statistics


def _solve(cross: Floats, columns: Sequence[int], target: int) -> Floats:
    """Coefficients for every resample; NaN where a resample cannot tell the columns apart."""
    left = cross[:, columns][:, :, columns]
    right = cross[:, columns, target]
    size = np.sqrt(np.maximum(np.einsum("bii->bi", left), 1e-300))
    correlation = left / (size[:, :, np.newaxis] * size[:, np.newaxis, :])
    exists = np.linalg.eigvalsh(correlation)[:, 0] > 1e-9
    found = np.full(right.shape, np.nan)
    if exists.any():
        solved = np.linalg.solve(correlation[exists], (right[exists] / size[exists])[..., np.newaxis])
        found[exists] = solved[..., 0] / size[exists]
    return found


VERDICTS = ("rewards it", "punishes it", "not shown")
METHOD = "least squares, all features at once; intervals resample cases"


def text_effects(
    table: object,
    features: polars.DataFrame | None = None,
    *,
    within_systems: bool = False,
    **asked: Unpack[Asked],
) -> Audit:
    """Audit how scores move with features of the answer's text, per rater and dimension.

    `features` is a table `item, system` and numeric columns, as `case_features` makes it; without it the ratings
    themselves must hold the columns. Those of `case_features` that are there enter one regression, so each slope
    holds the others fixed. `within_systems` adds a fixed effect of every system: does the judge prefer the longer
    answer of the same system?

    Findings, `group` naming the feature: `slope` (per unit; for `length` per doubling, whatever it counts);
    with `reference` raters `slope_given_reference` (the reference score held fixed) and
    `slope_beyond_reference` (the slope of judge − reference). The first of these errs upwards where better
    answers are longer and the reference is noisy, the second downwards where the judge uses less of the scale
    than the reference: the verdict needs both."""
    import polars as pl

    about = audited(table, **asked)
    measured, chosen = _features(about.rows, features)
    if features is not None:  # of cases, of which a mark of a criterion is one part
        units = about.rows.select("item", "system", case=case_column(about.rows)).unique()
        of_cases = measured.rename({"item": "case"})
        measured = units.join(of_cases, on=["case", "system"], maintain_order="right").drop("case")
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
            "no rated answer has features: the items and systems of the two tables do not match."
        )
    warnings = []
    if lost := scored - used.height:
        warnings.append(f"{lost} of {scored} rated answers have no text features and are left out")
    if not about.reference:
        warnings.append(
            "no reference raters: a slope is an association, not a bias, because longer may be better"
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
        _judged(about, findings),
        METHOD + (", within systems" if within_systems else ""),
        warnings,
        n=used.height,
    )


def _features(
    frame: polars.DataFrame, features: polars.DataFrame | None
) -> tuple[polars.DataFrame, list[str]]:
    import polars as pl

    source = frame if features is None else features
    chosen = [name for name in FEATURES if name in source.columns]
    if not chosen:
        raise MedjuryError(
            f"there is no column {' or '.join(FEATURES)} to audit. Give the cases, so that lengths can be counted, "
            "or ratings with such a column."
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


def _judged(about: Audited, findings: Sequence[Finding]) -> list[Finding]:
    """A bias is shown where both slopes that look past the reference agree; the plain one only describes."""
    judged = about.judged(findings, dict.fromkeys((SLOPE, GIVEN, BEYOND), VERDICTS))
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
