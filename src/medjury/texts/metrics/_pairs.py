"""Tables of pairs: read from CSV, JSONL or Parquet, written back with columns added."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from medjury.foundation import limits
from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError, first_line, no_such
from medjury.foundation.files import private_folder, whole_part

if TYPE_CHECKING:
    import polars

SUFFIXES = (".csv", ".jsonl", ".ndjson", ".parquet")


def read_pairs(path: str | Path, columns: Sequence[str], added: Sequence[str] = ()) -> polars.DataFrame:
    """The table in `path`, every cell of `columns` as text; `added` are columns that must not be there yet."""
    import polars

    file = Path(path)
    _suffix(file)
    try:
        if file.suffix == ".csv":
            frame = limits.read_csv(file)
        elif file.suffix == ".parquet":
            frame = limits.read_parquet(file)
        else:
            frame = limits.read_json_lines(file)
    except FileNotFoundError:
        raise MedjuryError(no_such(file)) from None
    except (OSError, polars.exceptions.PolarsError, limits.UnreadableParquetError) as error:
        reason = first_line(error)
        raise MedjuryError(f"{file}: cannot be read as a table: {reason}") from None
    for column in columns:
        if column not in frame.columns:
            raise MedjuryError(f"{file}: there is no column {column!r}; {nearest(column, frame.columns)}")
    taken = [column for column in added if column in frame.columns]
    if taken:
        raise MedjuryError(
            f"{file}: has a column {taken[0]!r} already, which would be added. Rename or drop it."
        )
    if not len(frame):
        raise MedjuryError(f"{file}: has no rows")
    try:
        return frame.with_columns(polars.col(column).cast(polars.String) for column in dict.fromkeys(columns))
    except polars.exceptions.PolarsError:
        raise MedjuryError(f"{file}: {', '.join(columns)}: every cell must be a text or a number") from None


def write_pairs(frame: polars.DataFrame, path: str | Path) -> None:
    """Write the table; the ending of the file's name decides the format."""
    file = Path(path)
    _suffix(file)
    try:
        private_folder(file.parent)
        with whole_part(file) as part:
            if file.suffix == ".csv":
                frame.write_csv(part)
            elif file.suffix == ".parquet":
                frame.write_parquet(part)
            else:
                frame.write_ndjson(part)
    except OSError as error:
        raise MedjuryError(f"{file}: cannot be written: {error.strerror or error}") from None


def labels_of(frame: polars.DataFrame, column: str, file: str) -> list[int]:
    """The column's cells as levels of impact, or one error that names the rows that hold none."""
    labels, wrong = [], []
    for row, cell in enumerate(frame[column].to_list(), start=1):
        text = (cell or "").strip().removesuffix(".0")
        if text in ("0", "1", "2"):
            labels.append(int(text))
        else:
            wrong.append(row)
    if wrong:
        rows = ", ".join(map(str, wrong[:10])) + (" …" if len(wrong) > 10 else "")
        raise MedjuryError(
            f"{file}: column {column!r} must hold 0, 1 or 2; it does not in {len(wrong)} rows (row {rows})"
        )
    return labels


def _suffix(file: Path) -> None:
    if file.suffix not in SUFFIXES:
        raise MedjuryError(f"{file}: the name must end in one of {', '.join(SUFFIXES)}")
