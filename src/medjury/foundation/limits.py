"""How much of a file is read: one bound for every reader, and one error in words.

Kilobytes can hold millions of rows, or unpack to gigabytes. So a file is measured before it is read, by what it
states of itself, and counted while it is read, since what it states may be false. `docs/security.md` lists the
limits. Who trusts a larger file sets `MEDJURY_FILE_LIMITS=10` for ten times as much.
"""

from __future__ import annotations

import gzip
import io
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar, cast
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from medjury.foundation.errors import MedjuryError

if TYPE_CHECKING:
    import polars

ROWS = 2_000_000
COLUMNS = 10_000
CELLS = 100_000_000  # rows times columns
BYTES = 500_000_000  # after unpacking, of what is in memory at once
SHEET_BYTES = 200_000_000  # the same for spreadsheets and XML, which take several times their size
STREAMED = 20_000_000_000  # where only a row, or a part, is in memory at once
FOLD, FOLD_FROM = 250, 20_000_000  # honest tables pack ten- to thirtyfold, logs of events up to a hundredfold
DEPTH = 100
TOO_DEEP = f"is nested deeper than {DEPTH} levels"
VARIABLE = "MEDJURY_FILE_LIMITS"
OWN = 10  # times as much is read of what a run itself wrote
_AT_ONCE = 65_536
_PARQUET_FOOTER = 100_000_000
_SHARE: ContextVar[float] = ContextVar("share", default=1.0)
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)', re.DOTALL)
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
Row = TypeVar("Row")


class FileLimitError(MedjuryError):
    """A file holds more than is read here."""


@contextmanager
def part_of_limits(share: float) -> Iterator[None]:
    """Within it only this share of rows, cells and bytes is read: for files that strangers send."""
    token = _SHARE.set(share)
    try:
        yield
    finally:
        _SHARE.reset(token)


def most(limit: int, times: float = 1) -> int:
    """A limit as it is here and now."""
    return int(limit * times * _raised() * _SHARE.get())


def _most_columns(times: float = 1) -> int:
    """Of these a part is not less: a survey has as many, whoever sends it."""
    return int(COLUMNS * times * _raised())


def _raised() -> float:
    stated = os.environ.get(VARIABLE, "").strip()
    try:
        raised = float(stated or 1)
    except ValueError:
        raised = 0
    if not 1 <= raised <= 1_000_000:
        raise MedjuryError(f"{VARIABLE} is {stated!r}; give the factor to raise the limits by, such as 10")
    return raised


def refused(path: str | os.PathLike[str], found: str, limit: str) -> FileLimitError:
    return FileLimitError(
        f"{Path(path).name}: {found}; at most {limit} are read from one file. Check what it holds and "
        f"split it into "
        f"parts; for a file that you trust, {VARIABLE}=10 in the environment reads ten times as much"
    )


def check_shape(path: str | os.PathLike[str], rows: int, columns: int, *, times: float = 1) -> None:
    """Refuse a table with too many rows, columns or cells."""
    if columns > (limit := _most_columns(times)):
        raise refused(path, f"has {columns:,} columns", f"{limit:,} columns")
    if rows > (limit := most(ROWS, times)):
        raise refused(path, f"has {rows:,} rows", f"{limit:,} rows")
    if rows * columns > (limit := most(CELLS, times)):
        raise refused(path, f"has {rows:,} rows with {columns:,} columns", f"{limit:,} cells")


def rows_for(columns: int) -> int:
    """How many rows of so many columns are read."""
    return min(most(ROWS), most(CELLS) // max(1, columns))


def counted(path: Path, rows: Iterable[Row], width: Callable[[Row], int], *, above: int = 1) -> Iterator[Row]:
    """The rows, until they are more than are read. `width` gives the number of a row's cells, and `above` how many
    of the rows only name the columns."""
    most_rows, most_columns, most_cells = most(ROWS), _most_columns(), most(CELLS)
    cells = 0
    for number, row in enumerate(rows, start=1):
        wide = width(row)
        cells += wide
        if number > most_rows + above:
            raise refused(path, f"has more than {most_rows:,} rows", f"{most_rows:,} rows")
        if wide > most_columns:
            raise refused(path, f"has a row of {wide:,} cells", f"{most_columns:,} columns")
        if cells > most_cells:
            raise refused(path, f"has more than {most_cells:,} cells", f"{most_cells:,} cells")
        yield row


def check_size(path: Path, limit: int = BYTES) -> None:
    """Refuse a file that is too large as it lies there."""
    if (size := path.stat().st_size) > most(limit):
        raise refused(path, f"has {_megabytes(size)}", _megabytes(most(limit)))


def read_bytes(path: Path, limit: int = BYTES) -> bytes:
    """The whole content of a plain file."""
    check_size(path, limit)
    return path.read_bytes()


def open_binary(path: Path, *, is_packed: bool, limit: int = STREAMED) -> BinaryIO:
    """A file, unpacked by gzip where it is packed, and never unpacked further than the bound."""
    if not is_packed:
        check_size(path, limit)
        return path.open("rb", _AT_ONCE)
    return cast(BinaryIO, io.BufferedReader(_Unpacked(path, most(limit)), _AT_ONCE))


class _Unpacked(io.RawIOBase):
    """What a gzip file unpacks to; counts as it goes, since gzip states no size that can be trusted."""

    def __init__(self, path: Path, limit: int) -> None:
        self._path, self._limit = path, limit
        self._stored = path.stat().st_size
        self._file = gzip.open(path)  # noqa: SIM115 - closed by `close`

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        # In short steps: a reader may ask for everything at once.
        count = self._file.readinto(memoryview(buffer)[:_AT_ONCE])
        check_unpacked(self._path, self._stored, self._file.tell(), self._limit)
        return count

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def close(self) -> None:
        self._file.close()
        super().close()


def check_unpacked(path: Path, stored: int, unpacked: int, limit: int) -> None:
    """Refuse what swells beyond the bound; `limit` is the one of this file as `most` gives it."""
    swells = unpacked > most(FOLD_FROM) and unpacked > FOLD * max(1, stored)
    if swells or unpacked > limit:
        least = f"{FOLD} times its size" if swells else _megabytes(limit)
        found = f"unpacks from {stored / 1e6:,.1f} MB to {_megabytes(unpacked)} or more"
        raise refused(path, found, least)


def check_directory(
    packed: ZipFile,
    path: Path,
    names: Collection[str] | None = None,
    *,
    limit: int = SHEET_BYTES,
    methods: Collection[int] = (ZIP_STORED, ZIP_DEFLATED),
) -> None:
    """Refuse a packed folder by the sizes that it states. `names` are the parts that will be read, by default all.
    A part that holds more than it states is cut off by `zipfile`, but only in methods that unpack step by step."""
    parts = [each for each in packed.infolist() if names is None or each.filename in names]
    check_unpacked(
        path, sum(each.compress_size for each in parts), sum(each.file_size for each in parts), most(limit)
    )
    for each in parts:
        if each.compress_type not in methods:
            raise BadZipFile(f"{each.filename} is packed by a method that is not read here")


def read_part(packed: ZipFile, part: ZipInfo | str, path: Path) -> bytes:
    """One part of a packed folder, never further than the bound."""
    entry = packed.getinfo(part) if isinstance(part, str) else part
    check_directory(packed, path, {entry.filename})
    with packed.open(entry) as file:
        content = file.read(most(SHEET_BYTES) + 1)
    check_unpacked(path, entry.compress_size, len(content), most(SHEET_BYTES))
    return content


def is_too_deep(data: bytes | str) -> bool:
    """True for JSON nested deeper than the bound. In time linear in its length, whatever it holds."""
    opened = (
        (data.count(b"[") + data.count(b"{"))
        if isinstance(data, bytes)
        else data.count("[") + data.count("{")
    )
    if opened <= DEPTH:
        return False
    raw = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    brackets = _STRING.sub(b"", raw).translate(None, _NOT_BRACKETS)
    return max(accumulate(map(_STEP.__getitem__, brackets)), default=0) > DEPTH


def check_depth(path: str | os.PathLike[str], data: bytes | str) -> None:
    if is_too_deep(data):
        raise refused(path, TOO_DEEP, f"{DEPTH} levels")


def check_parquet(path: Path, *, times: float = 1, limit: int = STREAMED) -> None:
    """Refuse a Parquet file by what its footer states, before a row is read; no more rows than it states are read.
    A file without such a footer is an `UnreadableParquetError`."""
    try:
        footer = _footer(path)
        schema, groups = footer.get(2, []), footer.get(4, [])
        chunks = [chunk.get(3, {}) for group in groups for chunk in group.get(1, [])]
        rows = max(footer.get(3, 0), sum(group.get(3, 0) for group in groups))
        values, size = (sum(chunk.get(field, 0) for chunk in chunks) for field in (5, 6))
        children = [element.get(5, 0) for element in schema]
    except (ValueError, TypeError, AttributeError, LookupError, OverflowError, RecursionError):
        raise UnreadableParquetError(f"{path.name}: is not a Parquet file, or it is damaged") from None
    check_shape(path, rows, sum(not each for each in children), times=times)
    if values > (cells := most(CELLS, times)):  # lists in cells hold more than one value
        raise refused(path, f"has {values:,} values", f"{cells:,} cells")
    if size > (unpacked := most(limit, times)):
        raise refused(path, f"unpacks to {_megabytes(size)}", _megabytes(unpacked))
    if _levels(children) > DEPTH:
        raise refused(path, TOO_DEEP, f"{DEPTH} levels")


class UnreadableParquetError(ValueError):
    """A file is not Parquet; its reader says so in its own words."""


def read_parquet(path: Path, *, times: float = 1) -> polars.DataFrame:
    """The whole table of a Parquet file, whose texts together stay within the bound too: a text that a dictionary
    holds once may be that of every row."""
    import polars

    check_parquet(
        path, times=times, limit=4 * BYTES
    )  # columns of numbers take more room than their text would
    frame = polars.read_parquet(path, glob=False)
    check_shape(path, frame.height, frame.width, times=times)
    check_texts(path, frame, most(BYTES, times))
    return frame


def read_csv(path: Path, columns: int | None = None, *, separator: str = ",") -> polars.DataFrame:
    """The whole table of a CSV file, every cell as text; `columns` says how many its header names, where known."""
    import polars

    check_size(path)
    if columns is None:
        with path.open("rb") as file:
            columns = file.readline().count(separator.encode()) + 1
    check_shape(path, 1, columns)
    rows = rows_for(columns)
    frame = polars.read_csv(path, separator=separator, infer_schema=False, n_rows=rows + 1, glob=False)
    check_shape(path, frame.height, frame.width)
    return frame


def read_json_lines(path: Path) -> polars.DataFrame:
    """The whole table of a JSON Lines file. Its columns are counted first: rows that each name another column make
    a table that is as wide as it is long."""
    import polars
    from pydantic_core import from_json

    check_size(path)
    names: set[str] = set()
    rows, widest = 0, _most_columns()
    with path.open("rb") as file:
        for rows, line in enumerate(file, start=1):
            check_depth(f"{path}, line {rows}", line)
            try:
                found = from_json(line) if line.strip() else None
            except ValueError:
                continue  # the reader of the table refuses it, with the reason
            names.update(found if isinstance(found, dict) else ())
            if len(names) > widest:
                break
    check_shape(path, rows, len(names))
    frame = polars.read_ndjson(path, infer_schema_length=None)
    check_shape(path, frame.height, frame.width)
    return frame


def check_texts(path: Path, frame: polars.DataFrame, limit: int, before: int = 0) -> int:
    """How many bytes of text the frame holds, with those `before`; refused where they are too many."""
    size = before + sum(_text_bytes(column) for column in frame.iter_columns())
    if size > limit:
        raise refused(path, f"holds {_megabytes(size)} of text", _megabytes(limit))
    return size


def _text_bytes(column: polars.Series) -> int:
    import polars

    kind = column.dtype
    if isinstance(kind, polars.List | polars.Array):
        return _text_bytes(column.explode())
    if isinstance(kind, polars.Struct):
        return sum(_text_bytes(column.struct.field(each)) for each in column.struct.fields)
    if isinstance(kind, polars.Categorical | polars.Enum):
        return _text_bytes(column.cast(polars.String))
    if kind == polars.String:
        return int(column.str.len_bytes().sum() or 0)
    return int(column.bin.size().sum() or 0) if kind == polars.Binary else 0


def _levels(children: list[int]) -> int:
    """How deep a Parquet schema is, which lists groups before their members."""
    deepest, left = 0, [1]
    for count in children:
        while left and not left[-1]:
            left.pop()
        if left:
            left[-1] -= 1
        if count:
            left.append(count)
        deepest = max(deepest, len(left))
    return deepest


def _footer(path: Path) -> dict[int, Any]:
    """The footer of a Parquet file by the numbers of its fields (Thrift's compact protocol): 2 schema, 3 rows, 4
    row groups, with their columns (1: 3: 5 values, 6 unpacked bytes) and rows (3)."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 8))
        tail = file.read(8)
        length = int.from_bytes(tail[:4], "little")
        if tail[4:] != b"PAR1" or not 0 < length <= min(size - 8, _PARQUET_FOOTER):
            raise ValueError("no footer")
        file.seek(size - 8 - length)
        return _Thrift(file.read(length)).structure()


class _Thrift:
    """Values as Thrift's compact protocol writes them, read in order."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def structure(self) -> dict[int, Any]:
        found: dict[int, Any] = {}
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._whole()
            kind = head & 15
            found[field] = kind == 1 if kind in (1, 2) else self._value(kind)
        return found

    def _value(self, kind: int) -> Any:
        if kind in (1, 2, 3):
            return self._byte()
        if kind in (4, 5, 6):
            return self._whole()
        if kind in (7, 8):
            length = 8 if kind == 7 else self._number()
            self._at += length
            return None
        if kind in (9, 10):
            head = self._byte()
            return [self._value(head & 15) for _ in range(head >> 4 if head >> 4 < 15 else self._number())]
        if kind == 12:
            return self.structure()
        raise ValueError("not a value of a footer")

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _number(self) -> int:
        found = shift = 0
        while (byte := self._byte()) & 128 and shift < 63:
            found, shift = found | (byte & 127) << shift, shift + 7
        return found | byte << shift

    def _whole(self) -> int:
        number = self._number()
        return number >> 1 ^ -(number & 1)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"
