"""The joint error model: does judge − clinician depend on specialty, system, and the length of notes and answer?

One model of all attributes and physicians at once, so that each effect holds the others fixed (Croxford et al.
2025, npj Digit Med): error ~ specialty + system + lengths + (1 | physician) + (1 | component).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Unpack

import numpy as np

from medjury.analysis.audits._finding import Audit, Finding
from medjury.analysis.audits._what_is_audited import Asked, Audited, audited
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate, Floats, fit_mixed_model, identified
from medjury.tables import Measured, RatingTable, rating_table

if TYPE_CHECKING:
    import polars

EFFECT, MEAN = "error_effect", "error_mean"
VERDICTS = ("kinder", "stricter", "not shown")
# Per doubling, whatever they count; the others are groups.
LENGTHS = {"length": "length of the answer", "note_length": "length of the notes", "tokens_in": "tokens read"}
USUAL = ("specialty",)
# Without one of these columns the ratings hold nothing for the model that other audits do not show.
ERROR_COLUMNS = (*USUAL, "length", "note_length")
FEWEST_CLUSTERS = 10
METHOD = (
    "judge − clinician of every clinician, answer and graded dimension, turned so that above zero is too kind; one "
    "linear mixed model of all effects at once; intervals allow for what the ratings of one case share"
)


def error_model(
    table: object,
    features: polars.DataFrame | None = None,
    *,
    groups: Mapping[str, Mapping[str, str] | None] | None = None,
    **asked: Unpack[Asked],
) -> Audit:
    """Audit every rater's error against single clinicians by a joint mixed model.

    `features` is a table `item, system` with `length` and `note_length` (words), as `case_features` makes it;
    without it, columns of these names in the ratings serve, or else the tokens that judges read. `groups` are
    columns of the ratings, or maps from item to level; `specialty` is one where it is known, and the system where
    there are several. A group's effect is that of a level against its most frequent level, a length's is per
    doubling. Where nothing is known but systems and tokens, other audits say more, and this one refuses.

    Findings of every rater: `error_mean`, the mean error at the most frequent levels and mean lengths;
    `error_effect`, `group` naming the effect; and the variances of physicians, components and the residual.
    The dimensions are those of the commonest scale, yes/no questions left out. `resamples` and `seed` have no
    part in it."""
    ratings = rating_table(table)
    about = audited(ratings, **asked, kinds=("judge", "jury"))
    if not about.reference:
        raise MedjuryError("an error needs clinicians to compare with: name them (reference=RATER).")
    chosen = _same_scale([ratings.dimension(name) for name in about.dimensions])
    named, lengths = _factors(ratings, groups or {}), _lengths(about, features)
    if not {*named, *lengths} - {"system", "tokens_in"}:
        raise MedjuryError(
            "nothing is known about the answers except their systems: give the cases (--cases), for their "
            "lengths, or a "
            "group such as specialty (--group)."
        )
    findings: list[Finding] = []
    warnings = [f"not in the model, on another scale: {', '.join(left)}"] if (
        left := [name for name in about.dimensions if name not in {each.name for each in chosen}]
    ) else []  # fmt: skip
    for rater in about.raters:
        errors = _errors(about, chosen, rater)
        made, notes = _fit(about, rater, errors, named, lengths)
        findings += made
        warnings += [f"{rater}: {each}" for each in notes]
    judged = about.judged(findings, {EFFECT: VERDICTS}, family=lambda finding: finding.rater)
    return about.result("error_model", judged, METHOD, list(dict.fromkeys(warnings)))


def _same_scale(dimensions: Sequence[Measured]) -> list[Measured]:
    """Graded dimensions of the commonest scale."""
    graded = [each for each in dimensions if each.grades is not None and len(each.grades.values) > 2]
    if not graded:
        raise MedjuryError(
            "the error model needs graded dimensions, and the scale of none is known (--scale)."
        )
    commonest = Counter(each.grades.values for each in graded if each.grades is not None).most_common(1)[0][0]
    return [each for each in graded if each.grades is not None and each.grades.values == commonest]


def _factors(
    table: RatingTable, groups: Mapping[str, Mapping[str, str] | None]
) -> dict[str, dict[tuple[str, str], str]]:
    """Of every grouping the level of each answer that has one."""
    found: dict[str, dict[tuple[str, str], str]] = {}
    answers = table.rows.select("item", "system").unique().rows()
    for name in dict.fromkeys((*USUAL, *groups)):
        levels = groups.get(name)
        if levels is None:
            if name not in table.rows.columns:
                if name in groups:
                    raise MedjuryError(f"there is no column {name!r} to group by.")
                continue
            known = table.rows.select("item", name).drop_nulls().unique(["item"], keep="first").rows()
            levels = {item: str(value).strip() for item, value in known if str(value).strip()}
        found[name] = {answer: levels[answer[0]] for answer in answers if answer[0] in levels}
    if len(table.systems) > 1:
        found["system"] = {answer: answer[1] for answer in answers if answer[1]}
    return {name: levels for name, levels in found.items() if len(set(levels.values())) > 1}


def _lengths(about: Audited, features: polars.DataFrame | None) -> dict[str, dict[tuple[str, str], float]]:
    """Of every length the binary logarithm of each answer's."""
    import polars as pl

    rows = about.table.rows
    source = rows if features is None else features
    names: list[str] = [name for name in ("length", "note_length") if name in source.columns]
    if not names and "tokens_in" in rows.columns:
        source, names = rows.filter(pl.col("rater_kind") == "judge"), ["tokens_in"]
    found: dict[str, dict[tuple[str, str], float]] = {}
    for name in names:
        number = pl.col(name).cast(pl.Float64, strict=False)
        means = source.group_by("item", "system").agg(number.mean()).filter(pl.col(name) > 0)
        values = {(item, system): float(np.log2(value)) for item, system, value in means.iter_rows()}
        if len({round(value, 9) for value in values.values()}) > 1:
            found[name] = values
    return found


def _errors(about: Audited, dimensions: Sequence[Measured], rater: str) -> polars.DataFrame:
    """A row for every judge − clinician difference: its size, whose it is, and the answer with its cluster."""
    import polars as pl

    parts = []
    for dimension in dimensions:
        grid = about.table.grid(dimension.name, about.roles)
        given = dimension.oriented(grid.scores[rater])
        for physician in about.reference:
            gap = given - dimension.oriented(grid.scores[physician])
            known = ~np.isnan(gap)
            here = grid.where(known)
            units = {
                "error": gap[known],
                "item": here.items,
                "system": here.systems,
                "cluster": here.clusters,
            }
            names = {"physician": pl.lit(physician), "component": pl.lit(dimension.name)}
            parts.append(pl.DataFrame(units).with_columns(**names))
    return pl.concat(parts)


def _fit(
    about: Audited,
    rater: str,
    errors: polars.DataFrame,
    factors: Mapping[str, Mapping[tuple[str, str], str]],
    lengths: Mapping[str, Mapping[tuple[str, str], float]],
) -> tuple[list[Finding], list[str]]:
    answers = errors.select("item", "system").rows()
    known = np.array(
        [all(answer in each for each in (*factors.values(), *lengths.values())) for answer in answers]
    )
    if not len(answers) or not known.any():
        raise MedjuryError(f"{rater} and the clinicians scored no answer in common whose groups are known.")
    rows = errors.filter(known)
    kept = rows.select("item", "system").rows()
    columns: dict[str, Floats] = {}
    for name, levels in factors.items():
        values = [levels[answer] for answer in kept]
        usual, *others = [level for level, _ in Counter(values).most_common()]
        for level in others:
            columns[f"{name}: {level} against {usual}"] = np.array(
                [value == level for value in values], dtype=float
            )
    for name, sizes in lengths.items():
        column = np.array([sizes[answer] for answer in kept])
        columns[f"{LENGTHS[name]}, per doubling"] = column - column.mean()
    notes = (
        [] if known.all() else [f"{int((~known).sum())} of {len(known)} differences lack a group or length"]
    )
    design = np.column_stack([np.ones(len(kept)), *columns.values()])
    apart = identified(design)
    if lost := [name for name, there in zip(columns, apart[1:], strict=True) if not there]:
        notes.append(f"cannot be told apart from other effects, so left out: {', '.join(lost)}")
    columns = {name: column for name, column in columns.items() if name not in lost}
    if (cases := rows["cluster"].n_unique()) < FEWEST_CLUSTERS:
        raise MedjuryError(f"the error model needs {FEWEST_CLUSTERS} cases or more; there are {cases}.")
    crossed = {name: rows[name].to_list() for name in ("physician", "component") if rows[name].n_unique() > 1}
    if not crossed:
        raise MedjuryError("one clinician and one dimension leave nothing for random intercepts.")
    fitted = fit_mixed_model(
        rows["error"].to_numpy(),
        np.column_stack([np.ones(len(kept)), *columns.values()]),
        [MEAN, *columns],
        crossed,
        clusters=rows["cluster"].to_list(),
    )
    findings = [Finding(MEAN, fitted.estimate(MEAN, about.confidence), rater)]
    findings += [
        Finding(
            EFFECT, fitted.estimate(name, about.confidence), rater, group=name, p_value=fitted.p_value(name)
        )
        for name in columns
    ]
    for name, value in fitted.variances.items():
        method = f"no interval: variance component, {fitted.method}"
        findings.append(Finding(f"{name}_variance", Estimate(value, None, None, fitted.n, method), rater))
    return findings, [*notes, *fitted.warnings]
