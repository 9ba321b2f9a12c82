"""Reading what is to be ranked: a table of benchmark scores, of item scores, or of ratings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from medjury.audits import rating_rows
from medjury.errors import MedjuryError
from medjury.instruments import Composite
from medjury.ranking._composite import add_composite
from medjury.ranking._paired import ANSWER, whole_answers
from medjury.ranking._scores import WHOLE, Missing, Scores, from_benchmark_scores, from_items

if TYPE_CHECKING:
    import polars

RATING, BENCHMARK = ("item", "rater", "dimension", "score"), ("system", "benchmark", "score")


def read_scores(
    table: object,
    *,
    raters: Sequence[str] | None = None,
    reference: Sequence[str] = (),
    dimensions: Sequence[str] | None = None,
    composites: Sequence[Composite] = (),
    lower_is_better: Sequence[str] = (),
    scale: tuple[float, float] | None = None,
    missing: Missing = "refuse",
) -> Scores:
    """Scores from a table of `system, benchmark, score` (one row each, or one per `item`), or of ratings.

    In a table of ratings every dimension is a benchmark of the same items, or, where there is a column
    `benchmark`, every benchmark holds the mean of its dimensions, as MedHELM's jury does; an answer that lacks
    one which the same item has for another system is left out. `raters` are those whose scores rank the
    systems: by default the jury's own rows, else all judges, else everyone but the `reference`. With
    `composites` these alone are ranked. `lower_is_better` dimensions (or benchmarks) are turned around on the
    `scale`.
    """
    import polars as pl

    if not isinstance(table, pl.DataFrame) or all(name in table.columns for name in RATING):
        return _from_ratings(
            table, raters, reference, dimensions, composites, lower_is_better, scale, missing
        )
    absent = [name for name in BENCHMARK if name not in table.columns]
    if absent:
        raise MedjuryError(
            f"the table has the columns {', '.join(table.columns)}; a ranking needs {', '.join(BENCHMARK)}, or "
            f"ratings with {', '.join(RATING)} and system."
        )
    if raters or reference or composites or dimensions:
        raise MedjuryError(
            "raters, reference, dimensions and composites belong to a table of ratings, not of benchmark scores."
        )
    columns = ("system", "benchmark", *(name for name in ("item", "patient") if name in table.columns))
    rows = table.select(*columns, "score").with_row_index("row", offset=1)
    rows = rows.with_columns(*(pl.col(name).cast(pl.String).str.strip_chars() for name in columns))
    for name in ("system", "benchmark"):
        empty = rows.filter(pl.col(name).is_null() | (pl.col(name) == ""))
        if empty.height:
            raise MedjuryError(f"row {empty['row'][0]}: there is no {name}.")
    rows = rows.with_columns(_numbers(rows).alias("score"))
    rows = _turn(rows, "benchmark", lower_is_better, scale)
    if "item" not in columns:
        return from_benchmark_scores(rows, missing=missing)
    empty = rows.filter(pl.col("item").is_null() | (pl.col("item") == ""))
    if empty.height:
        raise MedjuryError(f"row {empty['row'][0]}: there is no item.")
    # A prefix keeps a patient called 7 apart from an item called 7.
    cluster = pl.lit("item ") + pl.col("item")
    if "patient" in columns:
        cluster = pl.coalesce(pl.lit("patient ") + pl.col("patient"), cluster)
    rows = rows.with_columns(
        pl.col("benchmark").alias("block"), pl.lit(WHOLE).alias("rater"), cluster.alias("cluster")
    )
    scored = pl.col("score").is_not_null()
    return from_items(rows.filter(scored), rows.filter(~scored), missing=missing)


def _from_ratings(
    table: object,
    raters: Sequence[str] | None,
    reference: Sequence[str],
    dimensions: Sequence[str] | None,
    composites: Sequence[Composite],
    lower_is_better: Sequence[str],
    scale: tuple[float, float] | None,
    missing: Missing,
) -> Scores:
    import polars as pl

    frame = rating_rows(table)
    chosen = ranking_raters(frame, raters, reference)
    frame = frame.filter(pl.col("rater").is_in(chosen))
    frame = _turn(frame, "dimension", lower_is_better, scale)
    if composites:
        frame = pl.concat([add_composite(frame, each) for each in composites], how="diagonal")
    if dimensions is not None:
        unknown = sorted(set(dimensions) - set(frame["dimension"].to_list()))
        if unknown:
            raise MedjuryError(f"there is no dimension {unknown[0]!r} among the ratings to rank by.")
        frame = frame.filter(pl.col("dimension").is_in(list(dimensions)))
    if (frame["system"] == "").all():
        raise MedjuryError("a ranking needs to know who answered: the ratings have no column `system`.")
    if "benchmark" in frame.columns:
        if frame["benchmark"].null_count():
            raise MedjuryError(
                f"{frame['benchmark'].null_count()} ratings have no benchmark; fill the column."
            )
        frame = frame.with_columns(pl.col("benchmark").cast(pl.String), pl.col("benchmark").alias("block"))
    else:
        frame = frame.with_columns(pl.col("dimension").alias("benchmark"), pl.lit(WHOLE).alias("block"))
    score = pl.col("score").filter(pl.col("status") == "scored")
    by_dimension = frame.group_by(*ANSWER, "dimension").agg(
        score.mean(), ((score.len() == 0) & (pl.col("status") == "unscored").any()).alias("lost")
    )
    answers, warnings = whole_answers(by_dimension)
    unscored = frame.filter(pl.col("status") == "unscored")
    return from_items(answers, unscored, missing=missing, warnings=warnings)


def ranking_raters(
    frame: polars.DataFrame, raters: Sequence[str] | None, reference: Sequence[str]
) -> list[str]:
    """Whose scores rank the systems."""
    import polars as pl

    present = sorted(frame["rater"].unique().to_list())
    for name in (*(raters or ()), *reference):
        if name not in present:
            raise MedjuryError(
                f"there is no rater {name!r} in the ratings; there are {', '.join(present[:12])}."
            )
    if raters is not None:
        return list(dict.fromkeys(raters))
    for kind in ("jury", "judge"):
        found = frame.filter((pl.col("rater_kind") == kind) & ~pl.col("rater").is_in(list(reference)))
        if found.height:
            return sorted(found["rater"].unique().to_list())
    left = [name for name in present if name not in reference]
    if not left:
        raise MedjuryError("no rater is left to rank by: all are the reference.")
    return left


def _numbers(rows: polars.DataFrame) -> polars.Series:
    import polars as pl

    raw = rows["score"]
    numbers = raw.cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
    words = raw.cast(pl.String).str.strip_chars()
    odd = rows.filter(numbers.is_null() & words.is_not_null() & (words != ""))
    if odd.height:
        raise MedjuryError(f"row {odd['row'][0]}: the score {odd['score'][0]!r} is not a number.")
    wrong = rows.filter(numbers.is_nan() | numbers.is_infinite())
    if wrong.height:
        raise MedjuryError(
            f"row {wrong['row'][0]}: the score is not finite; leave it empty where there is none."
        )
    return numbers


def _turn(
    frame: polars.DataFrame, column: str, names: Sequence[str], scale: tuple[float, float] | None
) -> polars.DataFrame:
    import polars as pl

    if not names:
        return frame
    unknown = [name for name in names if name not in set(frame[column].to_list())]
    if unknown:
        raise MedjuryError(f"there is no {column} {unknown[0]!r} to turn around.")
    if scale is None:
        raise MedjuryError(
            f"to turn {names[0]!r} around (lower is better) give the scale, such as --scale 1 5."
        )
    turned = pl.when(pl.col(column).is_in(list(names))).then(sum(scale) - pl.col("score"))
    return frame.with_columns(turned.otherwise(pl.col("score")).alias("score"))


def composite_of(text: str) -> Composite:
    """A composite from `NAME=PART:WEIGHT,PART:WEIGHT`.

    >>> composite_of("quality=diagnosis:0.4,differential:0.2,safety:0.4").weights["differential"]
    0.2
    """
    name, equals, parts = text.partition("=")
    weights: dict[str, float] = {}
    for part in parts.split(",") if equals else ():
        dimension, _, weight = part.rpartition(":")
        try:
            weights[dimension.strip()] = float(weight)
        except ValueError:
            weights = {}
            break
    if (
        not name.strip()
        or not weights
        or "" in weights
        or min(weights.values()) < 0
        or sum(weights.values()) <= 0
    ):
        raise MedjuryError(f"{text!r} is no composite; write NAME=DIMENSION:WEIGHT,DIMENSION:WEIGHT.")
    total = sum(weights.values())
    return Composite(name.strip(), {part: weight / total for part, weight in weights.items()})
