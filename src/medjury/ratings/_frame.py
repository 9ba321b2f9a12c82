"""Ratings as a polars table and back, exactly.

A table holds text as the store does: see `escape` for the few characters that it cannot hold as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from medjury.errors import MedjuryError
from medjury.instruments import Reason
from medjury.ratings._escaping import escape, is_escaped, unescape
from medjury.ratings._rating import Rating
from medjury.ratings._statements import LATER_COLUMNS, RATING_COLUMNS

if TYPE_CHECKING:
    import polars

_REAL = frozenset({"score", "seconds", "cost", "probability"})
_INTEGER = frozenset({"repeat", "tokens_in", "tokens_out", "calls"})
_ROWS_AT_ONCE = 2_000
_VALUES = attrgetter(*RATING_COLUMNS)


def rating_frame(ratings: Iterable[Rating]) -> polars.DataFrame:
    """A table with one row per rating and one column per field."""
    import polars

    frames = list(rating_frames(ratings))
    return polars.concat(frames) if frames else polars.DataFrame(schema=rating_schema())


def rating_frames(ratings: Iterable[Rating]) -> Iterator[polars.DataFrame]:
    """The same as a stream of small tables."""
    remaining = iter(ratings)
    while block := list(islice(remaining, _ROWS_AT_ONCE)):
        yield frame_of_rows([row_of_rating(rating) for rating in block])


def ratings_from_frame(frame: polars.DataFrame) -> list[Rating]:
    """The ratings that a table with the columns of `rating_frame` holds.

    >>> from medjury.ratings import rating_frame, ratings_from_frame
    >>> ratings_from_frame(rating_frame([]))
    []
    """
    frame = with_later_columns(frame)
    if missing := [name for name in RATING_COLUMNS if name not in frame.columns]:
        raise MedjuryError(
            f"the table lacks the column{'s' if len(missing) > 1 else ''} {', '.join(missing)}; a table of "
            f"ratings has {', '.join(RATING_COLUMNS)}. Tables of another shape are read from a file with "
            "read_ratings."
        )
    ratings = []
    for number, row in enumerate(frame.select(RATING_COLUMNS).iter_rows(), start=1):
        try:
            ratings.append(rating_of_row(row))
        except ValueError as error:
            raise MedjuryError(f"row {number} of the table is not a rating: {error}") from None
    return ratings


def with_later_columns(frame: polars.DataFrame) -> polars.DataFrame:
    """A table that was written before a column existed, with that column empty."""
    import polars

    absent = [name for name in RATING_COLUMNS if name in LATER_COLUMNS and name not in frame.columns]
    schema = rating_schema()
    return frame.with_columns([polars.lit(None, dtype=schema[name]).alias(name) for name in absent])


def frame_of_rows(rows: list[tuple[Any, ...]]) -> polars.DataFrame:
    """A table of rows whose values stand in the order of a rating's fields."""
    import polars

    return polars.DataFrame(rows, schema=rating_schema(), orient="row")


def rating_schema() -> dict[str, Any]:
    """Column names and types of a table of ratings."""
    import polars

    return {
        name: polars.Float64 if name in _REAL else polars.Int64 if name in _INTEGER else polars.String
        for name in RATING_COLUMNS
    }


def rating_of_row(row: Sequence[Any]) -> Rating:
    """The rating that a row of the store or of a table holds."""
    if row[9] is None and not is_escaped("".join([value for value in row if type(value) is str])):
        return Rating(*row)  # as nearly always: one look does for all of its texts
    values: list[Any] = [unescape(value) if type(value) is str else value for value in row]
    if values[9] is not None:
        values[9] = Reason(values[9])
    return Rating(*values)


def row_of_rating(rating: Rating) -> tuple[Any, ...]:
    """The values of a rating in the order of its columns, as a store or a table holds them."""
    row: tuple[Any, ...] = _VALUES(rating)
    texts = (
        f"{rating.item}{rating.system}{rating.rater}{rating.instrument}{rating.dimension}{rating.explanation}"
        f"{rating.created_at}{rating.key}{rating.model_asked}{rating.model_answered}"
    )
    if rating.reason is None and escape(texts) is texts:  # as nearly always: one look does for all of them
        return row
    return tuple(escape(str(value)) if isinstance(value, str) else value for value in row)
