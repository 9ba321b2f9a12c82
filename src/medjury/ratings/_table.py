"""Reads a table a person made (CSV, Excel, Parquet, JSON) as it stands: cells untouched, rows numbered."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medjury.cases import WorkbookError, open_workbook
from medjury.ratings._problems import RatingsError

TABLE_FORMATS = (".csv", ".tsv", ".xlsx", ".parquet", ".jsonl", ".json")
_LARGEST_CELL = 100_000_000
_PLAIN_FORMAT = re.compile(r"General|@|[#,]*[#0](\.0+)?")  # what shows a whole number as it is


@dataclass(frozen=True, slots=True)
class Table:
    """Column names without stray spaces, and rows numbered as a spreadsheet shows them (the header is row 1)."""

    file: str
    header: list[str]
    rows: Iterator[tuple[int, list[Any]]]


class ShownNumber(int):
    """A whole number that a spreadsheet shows otherwise: 7 as 007. `shown` is empty where that is not known."""

    shown: str


def read_table(
    path: Path, *, sheet: str | None = None, delimiter: str | None = None, encoding: str = "utf-8-sig"
) -> Table:
    """The table in a file, by its ending."""
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise RatingsError(f"{path}: ratings are read from {', '.join(TABLE_FORMATS)} files")
    if not path.is_file():
        raise RatingsError(f"{path}: there is no such file")
    try:
        rows = reader(path, sheet, delimiter, encoding)
        header = [str(name).strip() if name is not None else "" for name in next(rows, (1, []))[1]]
    except UnicodeDecodeError as error:
        raise _not_text(path, error) from None
    while header and not header[-1]:
        header.pop()
    if not header:
        raise RatingsError(f"{path}: the file is empty; its first row must name the columns")
    if twice := sorted({name for name in header if name and header.count(name) > 1}):
        raise RatingsError(f"{path}: two columns are named {', '.join(twice)}; rename one of them")
    return Table(path.name, header, _checked(path, header, rows))


def _checked(
    path: Path, header: list[str], rows: Iterator[tuple[int, list[Any]]]
) -> Iterator[tuple[int, list[Any]]]:
    width = len(header)
    try:
        for number, cells in rows:
            if all(is_blank(cell) for cell in cells):
                continue
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


def _read_csv(
    path: Path, _sheet: str | None, delimiter: str | None, encoding: str
) -> Iterator[tuple[int, list[Any]]]:
    csv.field_size_limit(max(csv.field_size_limit(), _LARGEST_CELL))  # the default refuses long notes
    try:
        with path.open(encoding=encoding, newline="") as file:
            if delimiter is None:
                delimiter = "\t" if path.suffix.lower() == ".tsv" else _guess_delimiter(file)
            yield from enumerate(csv.reader(file, delimiter=delimiter, strict=True), start=1)
    except LookupError:
        raise RatingsError(f"{path}: there is no encoding {encoding!r}; try utf-8 or cp1252") from None
    except (csv.Error, TypeError) as error:
        raise RatingsError(f"{path}: not a CSV file that can be read: {error}") from None


def _guess_delimiter(file: io.TextIOBase) -> str:
    """The sign that parts the header: comma, semicolon or tab, whichever stands there most."""
    header = file.readline()
    file.seek(0)
    return max(",;\t", key=header.count)


def _read_xlsx(
    path: Path, sheet: str | None, _delimiter: str | None, _encoding: str
) -> Iterator[tuple[int, list[Any]]]:
    try:
        with open_workbook(path) as values, open_workbook(path, formulas=True) as formulas:
            yield from _rows_of(path, sheet, values, formulas)
    except WorkbookError as error:
        raise RatingsError(f"{path}: {error}") from None


def _rows_of(path: Path, sheet: str | None, values: Any, formulas: Any) -> Iterator[tuple[int, list[Any]]]:
    name = sheet or values.sheetnames[0]
    if name not in values.sheetnames:
        raise RatingsError(
            f"{path}: there is no sheet {name!r}; its sheets are {', '.join(values.sheetnames)}"
        )
    pages = values[name], formulas[name]
    for page in pages:
        page.reset_dimensions()  # some programs write a wrong size, and rows would be lost
    rows = zip(pages[0].iter_rows(), pages[1].iter_rows(values_only=True), strict=False)
    for number, (cells, sources) in enumerate(rows, start=1):
        for cell, source in zip(cells, sources, strict=False):
            if cell.value is None and source is not None:
                raise RatingsError(
                    f"{path.name}, row {number}: a cell holds a formula whose result is not stored; open the "
                    "file in a spreadsheet program and save it"
                )
        yield number, [_as_shown(cell) for cell in cells]


def _as_shown(cell: Any) -> Any:
    """The value of a cell; a whole number whose format shows it with zeros or signs around it knows how."""
    value = cell.value
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    if type(value) is not int or _PLAIN_FORMAT.fullmatch(form := cell.number_format or "General"):
        return value
    number = ShownNumber(value)
    number.shown = str(value).zfill(len(form)) if value >= 0 and not form.strip("0") else ""
    return number


def _read_parquet(
    path: Path, _sheet: str | None, _delimiter: str | None, _encoding: str
) -> Iterator[tuple[int, list[Any]]]:
    import polars

    try:
        frame = polars.read_parquet(path)
    except (polars.exceptions.PolarsError, OSError):
        raise RatingsError(f"{path}: not a Parquet file that can be read") from None
    yield 1, list(frame.columns)
    for number, row in enumerate(frame.iter_rows(), start=2):
        yield number, list(row)


def _read_json(
    path: Path, _sheet: str | None, _delimiter: str | None, encoding: str
) -> Iterator[tuple[int, list[Any]]]:
    """A list of objects, or one object per line. Row 1 is the first object (there is no header line)."""
    records: list[tuple[int, Any]] = []
    with path.open(encoding=encoding) as file:
        if path.suffix.lower() == ".json":
            try:
                whole = json.load(file)
            except json.JSONDecodeError as error:
                raise RatingsError(f"{path}, line {error.lineno}: not JSON: {error.msg}") from None
            if not isinstance(whole, list):
                raise RatingsError(f"{path}: the file must hold a list of objects, one per row")
            records = list(enumerate(whole, start=1))
        else:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    try:
                        records.append((number, json.loads(line)))
                    except json.JSONDecodeError as error:
                        raise RatingsError(f"{path}, line {number}: not JSON: {error.msg}") from None
    header: dict[str, None] = {}
    for number, record in records:
        if not isinstance(record, dict):
            raise RatingsError(f"{path}, row {number}: not a JSON object")
        header.update(dict.fromkeys(record))
    yield 0, list(header)
    for number, record in records:
        yield number, [record.get(name) for name in header]


_READERS = {
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".xlsx": _read_xlsx,
    ".parquet": _read_parquet,
    ".jsonl": _read_json,
    ".json": _read_json,
}
