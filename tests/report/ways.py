"""Runs in which the same answers are judged in several ways of known quality and price."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import polars as pl
from tests.report.planted import planted_frame


class Planted(NamedTuple):
    """A way of judging: the spread of its error, and what one answer takes."""

    strategy: str
    spread: float
    calls: int
    cost: float
    seconds: float = 1.0


# The panel is far better; asking twice is paid for and gives nothing; the fool is dear and poor.
WAYS = {
    "twice": Planted("repeats", 1.2, 2, 0.002),
    "plain": Planted("single", 1.2, 1, 0.001),
    "panel": Planted("deliberation", 0.4, 9, 0.012, 14.0),
    "fool": Planted("claims", 3.0, 5, 0.006),
}


def ways_frame(ways: Mapping[str, Planted] = WAYS, **options: Any) -> pl.DataFrame:
    """Ratings by these ways, with all that an answer takes on the row of its first dimension."""
    ratings = planted_frame(judges={name: way.spread for name, way in ways.items()}, **options)
    first = pl.col("dimension") == ratings["dimension"][0]
    columns = []
    for amount in ("calls", "cost", "seconds"):
        each = pl.col("rater").replace_strict(
            {name: float(getattr(way, amount)) for name, way in ways.items()},
            default=None,
            return_dtype=pl.Float64,
        )
        judged = pl.col("rater_kind") == "judge"
        others = pl.col(amount) if amount in ratings.columns else None
        columns.append(
            pl.when(judged & first).then(each).when(judged).then(0.0).otherwise(others).alias(amount)
        )
    return ratings.with_columns(columns).with_columns(pl.col("calls").cast(pl.Int64))


def judges_of(ways: Mapping[str, Planted] = WAYS) -> list[dict[str, Any]]:
    """Their entries in the manifest."""
    return [
        {
            "name": name,
            "models": [
                {"kind": "openai", "name": name, "vendor": "example", "host": "127.0.0.1", "model": "m"}
            ],
            "settings_hash": name * 8,
            "strategy": way.strategy,
            "temperature": 0.0,
            "seed": 0,
            "rounds": {"most": way.calls},
        }
        for name, way in ways.items()
    ]
