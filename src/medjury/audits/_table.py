"""The ratings an audit reads: who is audited, one score per rater and answer, and what had none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from medjury.audits._audit import Finding, names
from medjury.errors import MedjuryError
from medjury.tables import clean_rows

if TYPE_CHECKING:
    import polars

KEY = ("item", "system", "rater", "dimension")
MACHINES = ("judge", "jury", "metric")


def rating_rows(ratings: object) -> polars.DataFrame:
    """Clean rows (see `clean_rows`) with every other column of the table kept beside them."""
    import polars as pl

    if isinstance(ratings, pl.LazyFrame):
        ratings = ratings.collect()
    clean = clean_rows(ratings)
    if not isinstance(ratings, pl.DataFrame):
        return clean
    others = [name for name in ratings.columns if name not in clean.columns]
    if not others:
        return clean
    return clean.join(
        ratings.select(others).with_row_index("row", offset=1), on="row", how="left", maintain_order="left"
    )


def read_table(
    ratings: object,
    *,
    raters: Sequence[str] | None = None,
    reference: Sequence[str] = (),
    dimensions: Sequence[str] | None = None,
    kinds: Sequence[str] = MACHINES,
) -> tuple[polars.DataFrame, list[str]]:
    """Clean rows (all raters, chosen dimensions) and the names of the raters to audit.

    Without `raters`, the audited are those whose `rater_kind` is one of `kinds`; where no kind is given, all
    raters but the reference.
    """
    import polars as pl

    frame = rating_rows(ratings)
    if dimensions is not None:
        _must_exist("dimension", dimensions, frame["dimension"].unique().to_list())
        frame = frame.filter(pl.col("dimension").is_in(list(dimensions)))
    present = sorted(frame["rater"].unique().to_list())
    _must_exist("rater", reference, present)
    if raters is not None:
        _must_exist("rater", raters, present)
        chosen = list(dict.fromkeys(raters))
    else:
        kind = frame.filter(pl.col("rater_kind").is_not_null())
        if kind.height:
            present = sorted(kind.filter(pl.col("rater_kind").is_in(list(kinds)))["rater"].unique().to_list())
        chosen = [rater for rater in present if rater not in reference]
    if not chosen:
        raise MedjuryError(
            f"no rater is left to audit: none has the kind {' or '.join(kinds)}. Name the raters to audit."
        )
    if not frame.filter(pl.col("rater").is_in(chosen) & (pl.col("status") == "scored")).height:
        raise MedjuryError(f"no rating of {names(chosen)} has a score, so there is nothing to audit.")
    return frame, chosen


def per_answer(frame: polars.DataFrame) -> polars.DataFrame:
    """One row per rater, answer and dimension: the mean of the scored repeats; answers without one are
    absent."""
    import polars as pl

    return (
        frame.filter(pl.col("status") == "scored")
        .group_by(*KEY, maintain_order=True)
        .agg(pl.col("score").mean(), pl.col("cluster").first())
        .sort(*KEY)
    )


def count_unscored(frame: polars.DataFrame) -> int:
    """How many rows have no score though one was asked for."""
    import polars as pl

    return frame.filter(pl.col("status") == "unscored").height


def with_unscored(findings: Sequence[Finding], frame: polars.DataFrame) -> tuple[Finding, ...]:
    """The findings, each with the number of ratings without a score behind it."""
    import polars as pl

    lost: dict[tuple[str, str], int] = {}
    rows = frame.filter(pl.col("status") == "unscored").group_by("rater", "dimension").len()
    for rater, dimension, count in rows.iter_rows():
        for key in ((rater, dimension), (rater, ""), ("", dimension), ("", "")):
            lost[key] = lost.get(key, 0) + count
    return tuple(replace(each, n_unscored=lost.get((each.rater, each.dimension), 0)) for each in findings)


def dimensions_of(frame: polars.DataFrame) -> list[str]:
    return [str(name) for name in frame["dimension"].unique().sort().to_list()]


def attribute(frame: polars.DataFrame, column: str, of: str) -> dict[str, str]:
    """The one value of a column for each name in `of`, such as the vendor of each system; "" where none."""
    import polars as pl

    if column not in frame.columns:
        return {}
    text = pl.col(column).cast(pl.String).str.strip_chars()
    value = text.filter(text != "").drop_nulls().unique()
    found: dict[str, str] = {}
    for name, values in frame.group_by(of).agg(value.sort().alias("values")).iter_rows():
        if len(values) > 1:
            raise MedjuryError(
                f"{of} {name!r} has {len(values)} values in the column {column!r}: {names(values, 3)}. "
                "Give it one."
            )
        found[name] = values[0] if values else ""
    return found


def _must_exist(what: str, wanted: Sequence[str], present: Sequence[str]) -> None:
    absent = [name for name in wanted if name not in present]
    if absent:
        raise MedjuryError(
            f"there is no {what} {absent[0]!r} in the ratings; there are {names(sorted(present), 12)}."
        )
