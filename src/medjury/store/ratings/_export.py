"""Writes ratings as Parquet, CSV or JSON Lines, block by block, so that a store need not fit in memory.

In CSV a spreadsheet must not run a rater's text as a formula, in a way that can be undone: a cell that starts with
one of `= + - @`, a tab or a carriage return gets a `'` in front, unless it is a plain number; so does one that
starts with `'`, which makes the way back exact.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

from medjury.foundation import limits
from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import whole_part
from medjury.store.ratings._frame import (
    RatingColumns,
    frame_of_block,
    rating_frames,
    rating_schema,
)
from medjury.store.ratings._rating import Rating

if TYPE_CHECKING:
    import polars


_SIGNS = "'=+-@\t\r＝＋－＠"
_RISKY = r"^['=+\-@\t\r＝＋－＠]"
_NUMBER = r"^[+\-]?[0-9]+(\.[0-9]+)?$"
_GUARDED = re.compile(r"^'(?=['=+\-@\t\r＝＋－＠])")


def guard_frame(frame: polars.DataFrame) -> polars.DataFrame:
    """The table with every risky text made harmless."""
    import polars

    guarded = []
    for column in frame.iter_columns():
        text = column.alias("text")  # a name may be a pattern to polars
        # Most columns have no such text.
        if text.dtype == polars.String and _may_begin_so(text) and text.str.contains(_RISKY).any():
            risky = text.str.contains(_RISKY) & ~text.str.contains(_NUMBER)
            made = text.zip_with(~risky.fill_null(value=False), "'" + text)
            guarded.append(made.alias(column.name))
    return frame.with_columns(guarded)


def _may_begin_so(text: polars.Series) -> bool:
    """False where the first and the last text by the alphabet have no such sign between their beginnings."""
    if any(text.flags.values()):
        return True  # whoever says that it is sorted is believed by polars, and may be wrong
    first, last = text.min(), text.max()
    if not isinstance(first, str) or not isinstance(last, str):
        return False  # there is no text at all
    return any(first[:1] <= sign <= last[:1] for sign in _SIGNS)


def unguard(text: str) -> str:
    """The text as it was before `guard_frame`."""
    return _GUARDED.sub("", text)


EXPORT_FORMATS = (".parquet", ".csv", ".jsonl")
_ROWS_AT_ONCE = 2_000
_ROW_GROUP = 10_000


def write_ratings(
    ratings: Iterable[Rating]
    | Iterable[RatingColumns]
    | polars.DataFrame
    | Iterable[polars.DataFrame]
    | str
    | os.PathLike[str],
    path: str | os.PathLike[str],
) -> int:
    """Write ratings to `path` (`.parquet`, `.csv` or `.jsonl`); how many there were.

    They may come one by one, column by column in blocks, as a table, as a stream of tables, or as the path of a
    Parquet file written before. In CSV, text that a spreadsheet would run as a formula gets a `'` in front: see
    docs/importing-ratings.md. A half-written file never has the name.
    """
    target = Path(path)
    write = _WRITERS.get(target.suffix.lower())
    if write is None:
        raise MedjuryError(
            f"{target}: ratings are written as {', '.join(EXPORT_FORMATS)}; give one of these endings"
        )
    try:
        with whole_part(target) as part:
            return write(_frames(ratings), part)
    except OSError as error:
        raise MedjuryError(f"{target} cannot be written: {error.strerror or error}") from error


def _frames(
    ratings: Iterable[Rating]
    | Iterable[RatingColumns]
    | polars.DataFrame
    | Iterable[polars.DataFrame]
    | str
    | os.PathLike[str],
) -> Iterator[polars.DataFrame]:
    import polars

    if isinstance(ratings, polars.DataFrame):
        yield from _conform(ratings).iter_slices(_ROWS_AT_ONCE)
    elif isinstance(ratings, str | os.PathLike):
        yield from _parquet_blocks(Path(ratings))
    else:
        remaining = iter(ratings)
        first = next(remaining, None)
        if isinstance(first, polars.DataFrame):
            yield _conform(first)
            yield from map(_conform, remaining)  # type: ignore[arg-type]
        elif isinstance(first, RatingColumns):
            yield frame_of_block(first)
            yield from map(frame_of_block, remaining)  # type: ignore[arg-type]
        elif first is not None:
            yield from rating_frames(_chain(first, remaining))  # type: ignore[arg-type]


def _chain(first: object, rest: Iterator[object]) -> Iterator[object]:
    yield first
    yield from rest


def _parquet_blocks(path: Path) -> Iterator[polars.DataFrame]:
    import polars

    if path.suffix.lower() != ".parquet" or not path.is_file():
        raise MedjuryError(f"{path} is not a Parquet file of ratings")
    try:
        limits.check_parquet(path, times=limits.OWN)
    except limits.UnreadableParquetError:
        raise MedjuryError(f"{path} is not a Parquet file of ratings") from None
    table = polars.scan_parquet(path, glob=False)
    height = table.select(polars.len()).collect().item()
    for start in range(0, height, _ROW_GROUP):
        yield _conform(table.slice(start, _ROW_GROUP).collect())


def _conform(frame: polars.DataFrame) -> polars.DataFrame:
    """The table with exactly the columns of ratings; other tables are refused, not cut down to ratings."""
    import polars

    schema = rating_schema()
    if sorted(frame.columns) != sorted(schema):
        raise MedjuryError(
            f"the table has the columns {', '.join(frame.columns)}; ratings have {', '.join(schema)}. Tables of "
            "another shape are written with polars itself."
        )
    return frame.select([polars.col(name).cast(kind) for name, kind in schema.items()])


def _write_csv(frames: Iterator[polars.DataFrame], part: Path) -> int:
    with part.open("wb") as file:
        return _write_blocks(
            frames, file, lambda frame, first: guard_frame(frame).write_csv(file, include_header=first)
        )


def _write_jsonl(frames: Iterator[polars.DataFrame], part: Path) -> int:
    with part.open("wb") as file:
        return _write_blocks(frames, file, lambda frame, _first: frame.write_ndjson(file))


def _write_blocks(
    frames: Iterator[polars.DataFrame], file: IO[bytes], write: Callable[[polars.DataFrame, bool], None]
) -> int:
    import polars

    count, first = 0, True
    for frame in frames:
        write(frame, first)
        count, first = count + frame.height, False
    if first:
        write(polars.DataFrame(schema=rating_schema()), True)
    return count


def _write_parquet(frames: Iterator[polars.DataFrame], part: Path) -> int:
    import polars
    from polars.io.plugins import register_io_source

    count = 0
    failure: list[BaseException] = []

    def source(
        columns: list[str] | None, predicate: polars.Expr | None, rows: int | None, _batch: int | None
    ) -> Iterator[polars.DataFrame]:
        nonlocal count
        try:
            for frame in frames:
                count += frame.height
                yield frame
        except Exception as error:
            failure.append(error)
            raise

    table = register_io_source(source, schema=rating_schema())
    try:
        table.sink_parquet(part, compression="zstd", row_group_size=_ROW_GROUP)
    except (polars.exceptions.PolarsError, OSError) as error:
        if failure:  # what our source raised, not what polars made of it
            raise failure[0] from None
        raise MedjuryError(f"a Parquet file of ratings cannot be written: {error}") from error
    return count


_WRITERS: dict[str, Callable[[Iterator[polars.DataFrame], Path], int]] = {
    ".csv": _write_csv,
    ".jsonl": _write_jsonl,
    ".parquet": _write_parquet,
}
