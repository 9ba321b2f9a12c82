"""Which columns of a table describe the case or the answer, so that its groups can be looked at one by one.

A column of the rater (the clinician's own specialty) is not a column of the case. Ids, dates, texts and scores tell
no groups apart."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from medjury.intake.cases import SAME_TEXT
from medjury.store.ratings import PROFILE, Rating
from medjury.tables._marks import CASE, CRITERION, POINTS
from medjury.tables._pairs import SHOWN_FIRST

if TYPE_CHECKING:
    import polars

# The usual names of what tells groups of cases apart.
CASE_PARTS = (
    "specialty", "site", "department", "setting", "group", "patient_group", "sex", "gender", "age", "age_group",
    "ethnicity", "language", "length", "date",
)  # fmt: skip
FEWEST_GROUPS, MOST_GROUPS = 2, 40
_LONGEST = 60  # characters; more are a text
_ANSWER = ("item", "system")
_MADE = (
    "status", "patient", "cluster", "row", "off_scale", "content_hash", "vendor", SHOWN_FIRST, SAME_TEXT,
)  # fmt: skip
# A profile says these of a rater and nobody says them of a case; a specialty may be either's: its values decide.
_OF_RATERS = frozenset(PROFILE) - set(CASE_PARTS)
_IDENTIFIES = re.compile(
    r"(.*[\W_])?(id|ids|uuid|guid|key|hash|mrn|number|nr|no|phone|email|address|postcode|zip|dob|birth\w*|date|time"
    r"|timestamp)|.*[a-z](Id|ID)|(.*[\W_])?(patient|first|last|full|sur|given|family)[\W_]?name"
    r"|(.*[\W_])?(author|doctor|clinician|physician|nurse|rater|reader|reviewer)([\W_]?name)?|draft_fail\w*",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{4}[-/.]\d\d?([-/.]\d\d?.*)?|\d\d?[-/.]\d\d?[-/.]\d{2,4}.*")


def tells_groups(name: str, values: Collection[str], clusters: int) -> bool:
    """Whether a column of this name with these different values makes groups of cases: few values, short ones, each
    shared by two or more of the `clusters` (patients, else cases) on average; not an id, a date or a text."""
    return (
        FEWEST_GROUPS <= len(values) <= MOST_GROUPS
        and 2 * len(values) <= clusters
        and not identifies(name)
        and not any(_is_text(each) for each in values)
        and not all(_DATE.fullmatch(each) for each in values)
    )


def identifies(name: str) -> bool:
    """Whether a column of this name names somebody, something or a moment."""
    return _IDENTIFIES.fullmatch(name.strip()) is not None


def found_columns(rows: polars.DataFrame, asked: Collection[str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """The columns of these rows that describe cases or answers and, by column, why one that could have been a part
    is not; `asked` are those that the rules name as parts."""
    import polars as pl

    usual = {*CASE_PARTS, *asked}
    own = {*(each.name for each in fields(Rating)), *_MADE}
    if CASE in rows.columns:  # what a mark is of, and what that is worth, is no part of the cases
        own |= {CASE, CRITERION, POINTS, "text", "tags"}
    kinds = (pl.String, pl.Categorical, pl.Enum, pl.Boolean)
    candidates = [
        name
        for name, kind in rows.schema.items()
        if name not in (*own, "date")
        and (name in asked or not (name.startswith("own ") or name in _OF_RATERS or identifies(name)))
        and (kind.is_numeric() or kind in kinds)
    ]
    if not candidates:
        return (), {}
    texts = rows.select(*_ANSWER, "rater", "cluster", *(_as_text(name) for name in candidates))
    answers = texts.group_by(_ANSWER).agg(pl.col(name).drop_nulls().n_unique() for name in candidates)
    raters = texts.group_by("rater").agg(pl.col(name).drop_nulls().n_unique() for name in candidates)
    clusters = rows["cluster"].n_unique()
    names: list[str] = []
    left_out: dict[str, str] = {}
    for name in candidates:
        values = texts[name].drop_nulls().unique().to_list()
        if len(values) < FEWEST_GROUPS:
            continue
        differ = answers.filter(pl.col(name) > 1).height
        if differ:
            why = (
                f"raters of one answer have different values in it (on {differ:,} of {answers.height:,} answers), "
                "so it does not describe the case"
            )
        elif _of_the_rater(texts, raters, name):
            why = (
                "every rater has one value in it and no answer has it from two raters, so it may describe the "
                "rater; add it to every rater's rows, or to the cases"
            )
        else:
            numbers = all(_number(each) is not None for each in values)
            few = len(values) <= MOST_GROUPS and not any(_is_text(each) for each in values)
            if numbers or (few and (name in usual or tells_groups(name, values, clusters))):
                names.append(name)
            continue
        if name in usual:
            left_out[name] = why
    return tuple(names), left_out


def _of_the_rater(texts: polars.DataFrame, raters: polars.DataFrame, name: str) -> bool:
    """Whether the column follows from the rater as well as from the answer, so that nobody can say whose it is."""
    import polars as pl

    own = raters.filter(pl.col(name) > 0)
    if own.height < FEWEST_GROUPS or own[name].max() != 1:
        return False
    known = texts.filter(pl.col(name).is_not_null())
    return bool((known.group_by(_ANSWER).agg(pl.col("rater").n_unique())["rater"] == 1).all())


def _as_text(name: str) -> polars.Expr:
    """The values as text, numbers in one form (64 is 64.0) and empty ones missing."""
    import polars as pl

    text = pl.col(name).cast(pl.String).str.strip_chars()
    number = text.cast(pl.Float64, strict=False)
    plain = pl.when(number.is_not_null()).then(number.cast(pl.String)).otherwise(text)
    return pl.when((text != "") & ~number.is_nan().fill_null(value=False)).then(plain).alias(name)


def _is_text(value: str) -> bool:
    return len(value) > _LONGEST or "\n" in value


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None
