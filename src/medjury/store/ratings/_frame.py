"""Ratings column by column, and as a polars table and back, exactly.

A table holds text as the store does: see `escape` for the few characters that it cannot hold as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, starmap
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from medjury.instruments import Reason
from medjury.store.ratings._rating import RaterKind, Rating, Status
from medjury.store.ratings._store.escaping import escape, is_escaped, unescape
from medjury.store.ratings._store.statements import RATING_COLUMNS

if TYPE_CHECKING:
    import polars


_ROWS_AT_ONCE = 2_000


class RatingColumns(NamedTuple):
    """Some ratings, each field of all of them in a column. They are checked as a whole where they become a table:
    to make a `Rating` of each would take most of the time."""

    item: Sequence[str]
    system: Sequence[str]
    rater: Sequence[str]
    rater_kind: Sequence[RaterKind]
    instrument: Sequence[str]
    dimension: Sequence[str]
    repeat: Sequence[int]
    score: Sequence[float | None]
    status: Sequence[Status]
    reason: Sequence[Reason | None]
    explanation: Sequence[str]
    seconds: Sequence[float | None]
    tokens_in: Sequence[int | None]
    tokens_out: Sequence[int | None]
    cost: Sequence[float | None]
    created_at: Sequence[str]
    key: Sequence[str]
    calls: Sequence[int | None]
    model_asked: Sequence[str | None]
    model_answered: Sequence[str | None]
    probability: Sequence[float | None]

    @property
    def height(self) -> int:
        """How many ratings there are."""
        return len(self.item)

    def ratings(self) -> Iterator[Rating]:
        """The same one by one."""
        return starmap(Rating, zip(*self, strict=True))

    def part(self, start: int, stop: int | None = None, step: int = 1) -> RatingColumns:
        """Some of them, as a slice of a list has them."""
        columns: list[Any] = [column[start:stop:step] for column in self]
        return RatingColumns(*columns)

    @staticmethod
    def joined(blocks: Sequence[RatingColumns]) -> RatingColumns:
        """All ratings of several blocks, of which there is at least one."""
        if len(blocks) == 1:
            return blocks[0]
        columns: list[Any] = [list(chain.from_iterable(parts)) for parts in zip(*blocks, strict=True)]
        return RatingColumns(*columns)

    def at(self, places: Sequence[int]) -> RatingColumns:
        """Those at these places, in this order."""
        columns: list[Any] = [list(map(column.__getitem__, places)) for column in self]
        return RatingColumns(*columns)


def rating_blocks(ratings: Iterable[Rating]) -> Iterator[RatingColumns]:
    """Ratings in blocks, as many at a time as are quick to handle."""
    remaining = iter(ratings)
    while some := list(islice(remaining, _ROWS_AT_ONCE)):
        yield RatingColumns(*zip(*map(_FIELDS, some), strict=True))


_FIELDS = attrgetter(*RatingColumns._fields)


REAL = frozenset({"score", "seconds", "cost", "probability"})
INTEGER = frozenset({"repeat", "tokens_in", "tokens_out", "calls"})
_NUMBERS = REAL | INTEGER
_TEXTS = tuple(place for place, name in enumerate(RATING_COLUMNS) if name not in _NUMBERS)
_TEXT_OR_NONE = {str, type(None)}
_MANY_TEXTS = frozenset({"item", "explanation", "key"})  # of all others few differ
_VALUES = attrgetter(*RATING_COLUMNS)


def rating_frame(ratings: Iterable[Rating]) -> polars.DataFrame:
    """A table with one row per rating and one column per field."""
    import polars

    frames = list(rating_frames(ratings))
    return polars.concat(frames) if frames else polars.DataFrame(schema=rating_schema())


def rating_frames(ratings: Iterable[Rating]) -> Iterator[polars.DataFrame]:
    """The same as a stream of small tables."""
    return map(frame_of_block, rating_blocks(ratings))


def frame_of_block(block: RatingColumns) -> polars.DataFrame:
    """The same for ratings column by column."""
    frame = _frame_of_columns(
        [
            list(map(_escaped, column)) if name not in _NUMBERS and _needs_escaping(name, column) else column
            for name, column in zip(RATING_COLUMNS, block, strict=True)
        ]
    )
    _require_ratings(frame)
    return frame


def frame_of_rows(rows: list[tuple[Any, ...]]) -> polars.DataFrame:
    """A table of rows whose values are in the order of a rating's fields."""
    return (
        _frame_of_columns(zip(*rows, strict=True)) if rows else _frame_of_columns([()] * len(RATING_COLUMNS))
    )


def _frame_of_columns(columns: Iterable[Sequence[Any]]) -> polars.DataFrame:
    import polars

    return polars.DataFrame(
        [
            polars.Series(name, values, dtype=kind)
            for (name, kind), values in zip(rating_schema().items(), columns, strict=True)
        ]
    )


def _needs_escaping(name: str, column: Sequence[Any]) -> bool:
    """Whether a text of a column cannot be in a table as it is; one look does for nearly all columns."""
    texts = column if name in _MANY_TEXTS else set(column)
    if not set(map(type, texts)) <= _TEXT_OR_NONE:
        return True
    together = "".join(filter(None, texts))
    return escape(together) is not together


def _escaped(value: Any) -> Any:
    return escape(str(value)) if isinstance(value, str) else value


def _require_ratings(frame: polars.DataFrame) -> None:
    """Every row must be a rating: a finite score where it is scored, and a reason where it is unscored."""
    import polars

    score, status = polars.col("score"), polars.col("status")
    scored = (status == "scored") == score.is_finite().fill_null(False)
    none = score.is_null() | score.is_finite()
    unscored = (status == "unscored") == polars.col("reason").is_not_null()
    if not frame.select((scored & none & unscored).all()).item():
        raise ValueError("a row that is neither scored nor unscored with its reason cannot be a rating")


def rating_schema() -> dict[str, Any]:
    """Column names and types of a table of ratings."""
    import polars

    return {
        name: polars.Float64 if name in REAL else polars.Int64 if name in INTEGER else polars.String
        for name in RATING_COLUMNS
    }


def stored_columns(rows: Sequence[tuple[Any, ...]]) -> RatingColumns:
    """Rows of a store with their texts as they were written."""
    columns = RatingColumns(*zip(*rows, strict=True))
    no_reasons = columns.reason.count(None) == len(rows)
    if no_reasons and not any(_holds_escaped(columns[place]) for place in _TEXTS):
        return columns  # as nearly always
    return RatingColumns(*zip(*map(_unescaped, rows), strict=True))


def _holds_escaped(column: Sequence[Any]) -> bool:
    """Whether a text of a column is escaped, or may be."""
    try:
        return is_escaped("".join(filter(None, column)))
    except TypeError:  # not all are texts: somebody has changed the store
        return True


def rating_of_row(row: Sequence[Any]) -> Rating:
    """The rating that a row of the store or of a table holds."""
    if row[9] is None and not is_escaped("".join([value for value in row if type(value) is str])):
        return Rating(*row)  # as nearly always: one look does for all of its texts
    return Rating(*_unescaped(row))


def _unescaped(row: Sequence[Any]) -> list[Any]:
    values: list[Any] = [unescape(value) if type(value) is str else value for value in row]
    if values[9] is not None:
        values[9] = Reason(values[9])
    return values


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
