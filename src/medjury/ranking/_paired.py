"""Only what every system answered compares systems: a mean over other items is a mean of something else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from medjury.errors import MedjuryError

if TYPE_CHECKING:
    import polars

ANSWER = ("block", "benchmark", "item", "cluster", "rater", "system")
SHOWN = 8
# Fewer cases of a system say nothing of their spread.
FEWEST_CASES = 5


def shared_items(rows: polars.DataFrame) -> tuple[polars.DataFrame, tuple[str, ...]]:
    """The rows of items that a rater scored for every system, benchmark by benchmark, and a warning about the
    rest.

    "Every system" are those that the rater scored anywhere on the benchmark: a system that lacks all of it is an
    empty cell, which is another matter.
    """
    import polars as pl

    systems = pl.col("system").n_unique()
    wanted, found = systems.over("benchmark", "rater"), systems.over("benchmark", "rater", "item")
    marked = rows.with_columns((wanted == found).alias("shared"))
    kept = marked.filter("shared")
    lost = marked.join(kept.select("benchmark", "rater").unique(), on=["benchmark", "rater"], how="anti")
    if lost.height:
        benchmark, rater = lost.sort("benchmark", "rater").select("benchmark", "rater").row(0)
        by = f" by the rater {rater!r}" if rater else ""
        raise MedjuryError(
            f"no item of {benchmark!r} has a score of every system{by}, so the systems cannot be compared on "
            "it. Let all systems answer the same items, or leave the benchmark or a system out."
        )
    if kept.height == rows.height:
        return rows, ()
    dropped = marked.filter(~pl.col("shared"))
    warning = (
        f"{dropped.height} of {rows.height} scores are of items that not every system has a score on, and are "
        f"left out: {by_system(dropped)}"
    )
    return kept.drop("shared"), (warning,)


def one_system_each(rows: polars.DataFrame) -> bool:
    """Whether every item was answered by one system alone, of two or more: a design without pairs."""
    import polars as pl

    several = rows.group_by("block", "item").agg(pl.col("system").n_unique().alias("systems"))
    return rows["system"].n_unique() > 1 and not several.filter(pl.col("systems") > 1).height


def enough_cases(rows: polars.DataFrame) -> tuple[polars.DataFrame, tuple[str, ...]]:
    """The rows of systems with enough cases on every benchmark they have, and what to tell: the systems answered
    different cases, so a difference between systems is also one between their cases."""
    import polars as pl

    cases = rows.group_by("benchmark", "system").agg(pl.col("cluster").n_unique().alias("cases"))
    least = cases.group_by("system").agg(pl.col("cases").min()).sort("system")
    few = least.filter(pl.col("cases") < FEWEST_CASES)
    kept = rows.filter(~pl.col("system").is_in(few["system"].to_list()))
    if kept["system"].n_unique() < 2:
        raise MedjuryError(
            "every case has the answer of one system, and fewer than two systems have "
            f"{FEWEST_CASES} cases or more, so they cannot be compared. Let every system answer more cases."
        )
    told = [
        "unpaired: every case has the answer of one system, so systems are compared on different cases. A system "
        "whose cases were easier looks better; draw cases at random for each system, or let all answer the same"
    ]
    if few.height:
        named = [f"{system} {count}" for system, count in few.iter_rows()]
        shown = ", ".join(named[:SHOWN]) + (" …" if len(named) > SHOWN else "")
        told.append(f"not ranked, for fewer than {FEWEST_CASES} cases: {shown}")
    return kept, tuple(told)


def whole_answers(by_dimension: polars.DataFrame) -> tuple[polars.DataFrame, tuple[str, ...]]:
    """The mean over dimensions of every answer, from a row per answer and dimension (`score`, `lost`).

    An answer that lacks a dimension on which the rater scored another system's answer to the same item is left
    out and told of: the mean of its other dimensions would compare different things.
    """
    import polars as pl

    answer = list(ANSWER)
    scored = by_dimension.filter(pl.col("score").is_not_null())
    asked = scored.group_by("benchmark", "item", "rater").agg(pl.col("dimension").n_unique().alias("asked"))
    answers = (
        by_dimension.group_by(answer)
        .agg(pl.col("score").mean(), pl.col("score").count().alias("given"), pl.col("lost").any())
        .filter(~pl.col("lost") & (pl.col("given") > 0))
        .join(asked, on=["benchmark", "item", "rater"], how="left")
    )
    short = answers.filter(pl.col("given") < pl.col("asked"))
    kept = answers.filter(pl.col("given") == pl.col("asked")).drop("given", "asked", "lost")
    if not short.height:
        return kept, ()
    gone = sorted(set(short["system"].to_list()) - set(kept["system"].to_list()))
    if gone:
        raise MedjuryError(
            f"every answer of {gone[0]!r} lacks a dimension that other systems' answers to the same items have, so "
            "it cannot be compared. Name the dimensions that all systems have, or leave the system out."
        )
    return kept, (
        f"{short.height} of {answers.height} answers lack a dimension that another system's answer to the same "
        f"item has, and are left out: {by_system(short)}",
    )


def by_system(rows: polars.DataFrame) -> str:
    counts: Sequence[tuple[str, int]] = rows.group_by("system").len().sort("system").rows()
    said = ", ".join(f"{system} {count}" for system, count in counts[:SHOWN])
    return said + (" …" if len(counts) > SHOWN else "")
