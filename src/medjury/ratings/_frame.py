"""Ratings as a polars table and back, exactly.

A table holds text as the store does: see `escape` for the few characters it cannot hold as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from medjury.instruments import Reason
from medjury.ratings._escaping import unescape
from medjury.ratings._rating import Rating
from medjury.ratings._statements import RATING_COLUMNS

if TYPE_CHECKING:
    import polars

_REAL = frozenset({"score", "seconds", "cost"})
_INTEGER = frozenset({"repeat", "tokens_in", "tokens_out"})


def frame_of_rows(blocks: Iterable[list[tuple[Any, ...]]]) -> polars.DataFrame:
    """One table of blocks of rows, each row in the order of the rating's fields."""
    import polars

    schema = rating_schema()
    frames = [polars.DataFrame(rows, schema=schema, orient="row") for rows in blocks]
    return polars.concat(frames) if frames else polars.DataFrame(schema=schema)


def rating_schema() -> dict[str, Any]:
    """Column names and types of a table of ratings."""
    import polars

    return {
        name: polars.Float64 if name in _REAL else polars.Int64 if name in _INTEGER else polars.String
        for name in RATING_COLUMNS
    }


def rating_of_row(row: Iterable[Any]) -> Rating:
    """The rating that a row of the store or of a table holds."""
    values: list[Any] = [unescape(value) if type(value) is str else value for value in row]
    if values[9] is not None:
        values[9] = Reason(values[9])
    return Rating(*values)
