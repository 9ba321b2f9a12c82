"""From the grids of a rating table to the scores that a ranking rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from medjury.analysis.ranking._common_scale import CommonScale
from medjury.analysis.ranking._composite import composite_answers
from medjury.analysis.ranking._paired import whole_answers
from medjury.analysis.ranking._scores import WHOLE, Missing, SystemScores, from_items
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Composite
from medjury.tables import SCORED, UNSCORED, Grid, answers_of

if TYPE_CHECKING:
    import polars


def ranked_answers(
    grids: Iterable[Grid],
    raters: Sequence[str],
    rows: polars.DataFrame,
    scale: CommonScale,
    composites: Sequence[Composite] = (),
) -> polars.DataFrame:
    """What the raters said of every system's answers, on one scale, with the benchmark of each answer.

    Every dimension is a benchmark of the same items, or, where the ratings (`rows`) have a column `benchmark`,
    every benchmark holds its dimensions. With `composites` these alone are there.
    """
    import polars as pl

    answers = answers_of(grids, raters).filter(pl.col("system") != "")
    if answers.is_empty():
        raise MedjuryError("no rating has a score, so there is nothing to rank.")
    slopes, shifts = ({name: line[part] for name, line in scale.lines.items()} for part in (0, 1))
    turned = pl.col("score") * pl.col("dimension").replace_strict(slopes, return_dtype=pl.Float64)
    turned += pl.col("dimension").replace_strict(shifts, return_dtype=pl.Float64)
    answers = _with_benchmarks(answers.with_columns(turned.alias("score")), rows)
    if composites:
        answers = pl.concat([composite_answers(answers, each) for each in composites])
    if "benchmark" not in rows.columns:
        answers = answers.with_columns(pl.col("dimension").alias("benchmark"))
    # Numbers in place of names: sorting and grouping is then a matter of milliseconds.
    return answers.with_columns(
        pl.col(name).cast(pl.Enum(answers[name].unique().sort()))
        for name in ("item", "system", "cluster", "rater", "dimension", "benchmark", "block")
    )


def rating_scores(answers: polars.DataFrame, raters: Sequence[str], *, missing: Missing) -> SystemScores:
    """The raters' scores among the answers. Several raters are averaged, each over his own answers first; so are
    the dimensions of a benchmark, as MedHELM's jury does, and an answer that lacks one which the same item has
    for another system is left out."""
    import polars as pl

    lost = pl.col("state") == UNSCORED
    given = answers.filter(pl.col("rater").is_in(list(raters))).with_columns(lost.alias("lost"))
    rows, warnings = whole_answers(given)
    return from_items(rows, given.filter("lost"), missing=missing, warnings=warnings)


def labelled_scores(
    answers: polars.DataFrame, raters: Sequence[str], reference: Sequence[str], *, missing: Missing
) -> SystemScores:
    """The raters' mean scores of the answers that the reference scored, whichever of it did: systems unpaired, each
    on all of its labelled answers. For a reference that scored few answers, and seldom two to one case."""
    import polars as pl

    answer = ["benchmark", "item", "system"]
    lost = (pl.col("state") == UNSCORED).alias("lost")
    theirs, known = (
        whole_answers(answers.filter(pl.col("rater").is_in(list(who))).with_columns(lost))[0]
        for who in (raters, reference)
    )
    if theirs.is_empty() or known.is_empty():
        raise MedjuryError("no answer has scores of both")
    columns = [name for name in theirs.columns if name not in ("rater", "score")]
    rows = (
        theirs.join(known.select(answer).unique(), on=answer, how="semi")
        .group_by(columns)
        .agg(pl.col("score").mean())
        .with_columns(pl.lit("").alias("rater"))
    )
    return from_items(rows, rows.clear(), missing=missing, unpaired=True)


def scored_dimensions(grids: Mapping[str, Grid], raters: Sequence[str]) -> list[str]:
    """The dimensions on which any of the raters gave a score."""
    return [
        name for name, grid in grids.items() if any((grid.states[rater] == SCORED).any() for rater in raters)
    ]


def _with_benchmarks(answers: polars.DataFrame, rows: polars.DataFrame) -> polars.DataFrame:
    """Each answer with its benchmark and the block of benchmarks that share their items."""
    import polars as pl

    if "benchmark" not in rows.columns:
        return answers.with_columns(pl.lit(WHOLE).alias("benchmark"), pl.lit(WHOLE).alias("block"))
    if rows["benchmark"].null_count():
        raise MedjuryError(f"{rows['benchmark'].null_count()} ratings have no benchmark; fill the column.")
    key = ["item", "system", "dimension"]
    known = rows.select(*key, pl.col("benchmark").cast(pl.String)).unique()
    twice = known.filter(known.select(key).is_duplicated()).sort(*key, "benchmark")
    if twice.height:
        one, other = twice["benchmark"].head(2).to_list()
        raise MedjuryError(
            f"item {twice['item'][0]!r} has two benchmarks, {one!r} and {other!r}; give it one."
        )
    return answers.join(known, on=key, how="left").with_columns(pl.col("benchmark").alias("block"))
