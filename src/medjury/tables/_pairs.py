"""Preferences between two answers as ratings: the pair is the `system`, in the order shown; here one of its two
names serves for both orders.

`beta vs alpha` with the score 1 says that the second, alpha, is better; it becomes `alpha vs beta` with -1, beta
being `shown_first`. So the two orders of a judge are two repeats on one unit, all on one scale.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import PAIR_COLUMNS, PREFERENCE, pair_name, pair_of, read_preference

if TYPE_CHECKING:
    import polars

# The system that was shown first, on the rows of pairs.
SHOWN_FIRST = "shown_first"
# The instrument whose grades a table of pairs has.
PAIRS = "pairs"


def with_pairs(frame: polars.DataFrame) -> polars.DataFrame:
    """The rows of clean text and numbers, those of pairs turned to the order of the names; without pairs as they
    are."""
    import polars as pl

    if SHOWN_FIRST in frame.columns:
        return frame
    chosen = frame.filter(pl.col("dimension") == PREFERENCE)["system"].unique().to_list()
    pairs = {system: pair for system in chosen if (pair := pair_of(system)) is not None}
    if not pairs:
        return frame
    first = {system: pair[0] for system, pair in pairs.items()}
    turned = {system: pair_name(*sorted(pair)) for system, pair in pairs.items()}
    system, own = pl.col("system"), pl.col("dimension") == PREFERENCE
    back = own & system.is_in([name for name, other in turned.items() if name != other])
    return frame.with_columns(
        pl.when(own).then(system.replace(turned)).otherwise(system).alias("system"),
        pl.when(back & (pl.col("score") != 0.0))
        .then(-pl.col("score"))
        .otherwise(pl.col("score"))
        .alias("score"),
        # Both orders of the same repeat are two of it: even in the order of the names, odd in the other.
        pl.when(own & system.is_in(list(pairs)))
        .then(2 * pl.col("repeat") + back.cast(pl.Int64))
        .otherwise(pl.col("repeat"))
        .alias("repeat"),
        pl.when(own)
        .then(system.replace_strict(first, default=None, return_dtype=pl.String))
        .alias(SHOWN_FIRST),
    )


def from_pairs(frame: polars.DataFrame) -> polars.DataFrame:
    """Ratings from a table `item, first, second, preferred` (and `rater`, where there are several). `first` and
    `second` name the systems in the order shown; `preferred` is one of the two, "first", "second", "tie", or empty
    where there was no answer."""
    import polars as pl

    stated = frame.select(pl.col(PAIR_COLUMNS[1:]).cast(pl.String).str.strip_chars().fill_null(""))
    scores = []
    for number, row in enumerate(stated.iter_rows(), start=1):
        try:
            scores.append(read_preference(*row))
        except ValueError as error:
            raise MedjuryError(f"row {number}: {error}.") from None
    rater = () if "rater" in frame.columns else (pl.lit("judge").alias("rater"),)
    return frame.with_columns(
        *rater,
        pl.Series("system", [pair_name(first, second) for first, second, _ in stated.iter_rows()]),
        pl.Series("score", scores, dtype=pl.Float64),
        pl.lit(PREFERENCE).alias("dimension"),
        pl.lit(PAIRS).alias("instrument"),
    ).drop(PAIR_COLUMNS[1:])
