"""Reads a table a person made (text, spreadsheet, Parquet, JSON) as it stands: cells untouched, rows numbered."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from medjury.foundation import limits
from medjury.foundation.errors import no_such
from medjury.store.ratings._files.json_table import read_json_table
from medjury.store.ratings._files.nested_columns import with_nested_columns
from medjury.store.ratings._files.problems import NoRatingsError, RatingsError
from medjury.store.ratings._files.reading import Reading, Rows
from medjury.store.ratings._files.sheets import read_ods, read_xlsx
from medjury.store.ratings._files.statistics_file import read_statistics_file
from medjury.store.ratings._files.text_table import ending, read_text_table

_PACKED = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")
_IMPORT_ID = re.compile(r'\{"ImportId":.*\}')


@dataclass(frozen=True, slots=True)
class Table:
    """Column names without stray spaces, and rows numbered as a spreadsheet shows them (the header is row 1).
    `told` is what the reader of the file should know of how it was read, `left_out` what was not read, with counts;
    both are whole when the rows are."""

    file: str
    header: list[str]
    rows: Iterator[tuple[int, list[Any]]]
    told: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


def read_table(path: Path, reading: Reading | None = None) -> Table:
    """The table in a file, by its ending."""
    reading = reading or Reading()
    reader = _READERS.get(ending(path))
    if reader is None or (path.suffix.lower() == ".gz" and ending(path) not in _PACKED):
        raise RatingsError(
            f"{path}: ratings are read from {', '.join(_READERS)} files, and the text ones packed as .gz; "
            f"`medjury look {path.name}` tells what a file is"
        )
    if not path.is_file():
        raise RatingsError(no_such(path))
    try:
        read = reader(path, reading)
        rows = limits.counted(path, read, lambda row: len(row[1]), above=reading.header_rows)
        header, rows = _header(path, rows, reading)
        header, rows = with_nested_columns(path.name, header, rows, reading)
    except UnicodeDecodeError as error:
        raise _not_text(path, error) from None
    while header and not header[-1]:
        header.pop()
    if not header:
        raise NoRatingsError(f"{path}: the file is empty; its first row must name the columns")
    if twice := sorted(name for name, count in Counter(header).items() if name and count > 1):
        raise RatingsError(
            f"{path}: two columns are named {', '.join(twice)}; rename one of them, or say `header_rows: 2` in the "
            "mapping where two rows name the columns"
        )
    return Table(path.name, header, _checked(path, header, rows, reading), reading.told, reading.left_out)


def _header(path: Path, rows: Rows, reading: Reading) -> tuple[list[str], Rows]:
    """The names of the columns, and the rows below them. Of several header rows the names are joined; an empty cell
    of an upper one goes on with its left neighbour, as merged cells do."""
    names = _names(next(rows, (1, []))[1])
    for level in range(reading.header_rows - 1):
        upper = names if level else _spread(names)
        lower = _names(next(rows, (1, []))[1])
        lower += [""] * (len(upper) - len(lower))
        upper += [""] * (len(lower) - len(upper))
        names = [" ".join(filter(None, pair)) for pair in zip(upper, lower, strict=True)]
    return names, _below(path, rows, reading)


def _names(cells: list[Any]) -> list[str]:
    return [str(name).strip() if name is not None else "" for name in cells]


def _spread(names: list[str]) -> list[str]:
    found: list[str] = []
    for name in names:
        found.append(name or (found[-1] if found else ""))
    return found


def _below(path: Path, rows: Rows, reading: Reading) -> Rows:
    """The rows, less the two that Qualtrics writes below the names: its questions, and marks of its own."""
    first, second = next(rows, None), next(rows, None)
    marks = [cell for cell in (second[1] if second else []) if not is_blank(cell)]
    if marks and all(isinstance(cell, str) and _IMPORT_ID.fullmatch(cell) for cell in marks):
        reading.told.append(
            f"{path.name}: rows 2 and 3 hold the questions and marks of Qualtrics, no answers"
        )
        reading.left_out["rows of questions and marks of Qualtrics, left out"] += 2
    else:
        yield from (each for each in (first, second) if each is not None)
    yield from rows


def _checked(path: Path, header: list[str], rows: Rows, reading: Reading) -> Rows:
    width = len(header)
    nameless = {at for at, name in enumerate(header) if not name}
    try:
        for number, cells in rows:
            if all(is_blank(cell) for cell in cells):
                reading.left_out["empty rows, left out"] += 1
                continue
            for at in [at for at in nameless if at < len(cells) and not is_blank(cells[at])]:
                nameless.remove(at)
                reading.left_out["columns without a name, left out"] += 1
            if any(not is_blank(cell) for cell in cells[width:]):
                raise RatingsError(
                    f"{path.name}, row {number}: it has {len(cells)} cells, but the header names {width} columns; "
                    "look for a stray separator or quote, or name the separator with `delimiter`"
                )
            yield number, (cells + [None] * (width - len(cells)))[:width]
    except UnicodeDecodeError as error:
        raise _not_text(path, error) from None


def is_blank(cell: Any) -> bool:
    """True where the cell holds nothing, or spaces alone."""
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _not_text(path: Path, error: UnicodeDecodeError) -> RatingsError:
    return RatingsError(
        f"{path}: not {error.encoding} text. Save it as 'CSV UTF-8', or name its encoding (`encoding: cp1252`)"
    )


def _read_parquet(path: Path, _reading: Reading) -> Rows:
    import polars

    try:
        frame = limits.read_parquet(path)
    except (polars.exceptions.PolarsError, OSError, limits.UnreadableParquetError):
        raise RatingsError(f"{path}: not a Parquet file that can be read") from None
    yield 1, list(frame.columns)
    for number, row in enumerate(frame.iter_rows(), start=2):
        yield number, list(row)


_READERS = {
    ".csv": read_text_table,
    ".tsv": read_text_table,
    ".xlsx": read_xlsx,
    ".ods": read_ods,
    ".parquet": _read_parquet,
    ".jsonl": read_json_table,
    ".ndjson": read_json_table,
    ".json": read_json_table,
    ".eval": read_json_table,
    ".sav": read_statistics_file,
    ".zsav": read_statistics_file,
    ".por": read_statistics_file,
    ".dta": read_statistics_file,
}
