"""The table in a file: the names of its columns, and its rows below them, whatever form the file has."""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from medjury.foundation import limits
from medjury.foundation.errors import no_such
from medjury.foundation.nested import lists_within
from medjury.intake._files.cells import NO_RESULT, is_blank
from medjury.intake._files.delimited import read_delimited
from medjury.intake._files.json import READERS_OF_JSON, is_json
from medjury.intake._files.nested_columns import may_lead_into_cells, paths_into, value_in
from medjury.intake._files.parquet import read_parquet
from medjury.intake._files.reading import EMPTY, NAMELESS, FileError, NoRowsError, Reading, Row, Rows
from medjury.intake._files.sheets import read_ods, read_xlsx
from medjury.intake._files.statistics_files import PYREADSTAT, read_statistics_file
from medjury.intake._files.text import ending, is_packed

READERS: dict[str, Callable[[Path, Reading], Rows]] = {
    ".csv": read_delimited,
    ".tsv": read_delimited,
    ".xlsx": read_xlsx,
    ".ods": read_ods,
    ".parquet": read_parquet,
    **READERS_OF_JSON,
    **dict.fromkeys(PYREADSTAT, read_statistics_file),
}
# Forms that are read cell by cell, since their reader alone knows the types of cells.
READ_BY_CELLS = frozenset(READERS) - {".csv", ".tsv", ".parquet", *READERS_OF_JSON}
_OF_TEXT = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")
_RAGGED = "has more or fewer cells than the header"
_CURE = "; look for a stray separator or quotation mark, or name the separator in the mapping (`delimiter`)"
_IMPORT_ID = re.compile(r'\{"ImportId":.*\}')


@dataclass(frozen=True, slots=True)
class Table:
    """Column names without stray spaces, and rows numbered as a spreadsheet shows them (the header is row 1).
    `reported` is what its user should know of how it was read, `left_out` what was not read, with counts; both are
    whole when the rows are."""

    file: str
    header: list[str]
    rows: Rows
    reported: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


def read_table(path: Path, reading: Reading | None = None) -> Table:
    """The table in a file, by its ending."""
    reading = reading or Reading()
    rows = file_rows(path, reading)
    header, rows = _of_objects(path, rows, reading) if is_json(path) else _of_cells(path, rows, reading)
    if not header:
        raise NoRowsError(
            f"{path}: the file is empty, or its first row is; the first row must name the columns"
        )
    _refuse_two_of_a_name(path, header)
    return Table(path.name, header, rows, reading.reported, reading.left_out)


def check_readable(path: Path, reading: Reading) -> None:
    """Refuse a file that no reader reads so."""
    kind = ending(path)
    if not path.exists():
        raise FileError(no_such(path))
    if kind not in READERS or not path.is_file():
        raise FileError(
            f"{path}: tables are read from {', '.join(READERS)} files; save it as one of these (`medjury look "
            f"{path.name}` says what a file is)"
        )
    if is_packed(path) and kind not in _OF_TEXT:
        raise FileError(f"{path}: is packed twice; unpack the outer .gz")
    if reading.rows is not None and not is_json(path):
        raise FileError(f"{path}: `rows` is for JSON; take it out of the mapping")
    if reading.skip_rows and is_json(path):
        raise FileError(f"{path}: `skip_rows` is for tables; take it out of the mapping")
    if reading.encoding is not None and kind not in _OF_TEXT:
        raise FileError(f"{path}: `encoding` is for text; take it out of the mapping")


def file_rows(path: Path, reading: Reading) -> Rows:
    """The rows of a file as its reader gives them, no more than are read from one file: of a table the header
    first, of JSON one value each."""
    check_readable(path, reading)
    rows = READERS[ending(path)](path, reading)
    try:
        yield from limits.counted(path, rows, _width, above=reading.header_rows + reading.skip_rows)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise FileError(
            f"{path}: not a gzip file that can be read; it is damaged or something else"
        ) from None
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror or type(error).__name__}") from None


def _width(row: Row) -> int:
    return len(row.cells) if isinstance(row.cells, list | dict) else 0


# Tables of cells: the first row, or the first few, name the columns.


def _of_cells(path: Path, rows: Rows, reading: Reading) -> tuple[list[str], Rows]:
    for _ in range(reading.skip_rows):
        next(rows, None)
    header = _header(path, rows, reading)
    if reading.skip_rows:
        reading.left_out["rows above the header, left out"] += reading.skip_rows
    found = _checked(path, header, _below(path, rows, reading), reading)
    if not may_lead_into_cells(header, reading):
        return header, found
    kept = list(found)
    records = [dict(zip(header, row.cells, strict=False)) for row in kept]
    extra = paths_into(records, header, reading)
    return [*header, *extra], _with_paths(path, kept, records, extra)


def _header(path: Path, rows: Rows, reading: Reading) -> list[str]:
    """The names of the columns. Of several header rows the names are joined; an empty cell of an upper one goes on
    with its left neighbour, as merged cells do."""
    names = _names(path, rows)
    for level in range(reading.header_rows - 1):
        lower = _names(path, rows)
        lower += [""] * (len(names) - len(lower))
        names += [""] * (len(lower) - len(names))
        upper = names if level else _spread(names)
        names = [" ".join(filter(None, pair)) for pair in zip(upper, lower, strict=True)]
    while names and not names[-1]:
        names.pop()
    # An index without a name, as data frames write it, is called as they call it when they read it again.
    asked = {reading.item, *reading.columns}
    return [
        name or (called if (called := f"Unnamed: {at}") in asked else "") for at, name in enumerate(names)
    ]


def _names(path: Path, rows: Rows) -> list[str]:
    row = next(rows, Row(1, []))
    if row.problem:
        raise FileError(f"{path.name}, row {row.number}: {row.problem}")
    return ["" if name is None else str(name).removeprefix("\ufeff").strip() for name in row.cells]


def _spread(names: list[str]) -> list[str]:
    found: list[str] = []
    for name in names:
        found.append(name or (found[-1] if found else ""))
    return found


def _below(path: Path, rows: Rows, reading: Reading) -> Rows:
    """The rows, less the two that Qualtrics writes below the names: its questions, and marks of its own."""
    first, second = next(rows, None), next(rows, None)
    marks = [cell for cell in (second.cells if second else []) if not is_blank(cell)]
    if marks and all(isinstance(cell, str) and _IMPORT_ID.fullmatch(cell) for cell in marks):
        reading.reported.append(
            f"{path.name}: rows 2 and 3 hold the questions and marks of Qualtrics, no answers"
        )
        reading.left_out["rows of questions and marks of Qualtrics, left out"] += 2
    else:
        yield from (each for each in (first, second) if each is not None)
    yield from rows


def _checked(path: Path, header: list[str], rows: Rows, reading: Reading) -> Rows:
    """The rows with as many cells as there are columns; what is wrong with one is its problem, or ends it all."""
    width = len(header)
    nameless = {at for at, name in enumerate(header) if not name}
    is_ragged = reading.by_row and ending(path) in (".csv", ".tsv")
    for row in rows:
        cells = row.cells
        if not row.problem and all(is_blank(cell) for cell in cells):
            reading.left_out[EMPTY] += 1
            continue
        for at in [at for at in nameless if at < len(cells) and not is_blank(cells[at])]:
            nameless.remove(at)
            reading.left_out[NAMELESS] += 1
        if not row.problem:
            row = _sound(row, header, is_ragged)
        if row.problem and not reading.by_row:
            cure = _CURE if row.reason == _RAGGED else ""
            raise FileError(f"{path.name}, row {row.number}: {row.problem}{cure}")
        yield row._replace(cells=(cells + [None] * (width - len(cells)))[:width])


def _sound(row: Row, header: list[str], is_ragged: bool) -> Row:
    cells, width = row.cells, len(header)
    if any(not is_blank(cell) for cell in cells[width:]) or (is_ragged and len(cells) < width):
        return row._replace(problem=f"has {len(cells)} cells; the header has {width}", reason=_RAGGED)
    empty = [name for name, cell in zip(header, cells, strict=False) if name and cell is NO_RESULT]
    if empty:
        why = "holds a formula whose result is not stored"
        cure = "open the file in a spreadsheet program and save it"
        return row._replace(problem=f"{why} in {', '.join(empty)}; {cure}", reason=why)
    return row


# Tables of objects: every name that some object has is a column.


def _of_objects(path: Path, rows: Rows, reading: Reading) -> tuple[list[str], Rows]:
    records, numbers = [], []
    for row in rows:
        if row.problem:
            place = "" if row.alone else f", row {row.number}"
            raise FileError(f"{path.name}{place}: {row.problem}")
        if row.alone:
            raise FileError(f"{path}: the file must hold a list of objects, one per row{_where(row.cells)}")
        if not isinstance(row.cells, dict):
            raise FileError(f"{path}, row {row.number}: not a JSON object")
        records.append(row.cells)
        numbers.append(row.number)
    header = list(dict.fromkeys(name for record in records for name in record))
    extra = paths_into(records, header, reading)
    limits.check_shape(path, len(records), len(header) + len(extra))
    cells = [
        Row(number, [record.get(name) for name in header])
        for number, record in zip(numbers, records, strict=True)
    ]
    return [*header, *extra], _with_paths(path, cells, records, extra)


def _where(document: Any) -> str:
    found = lists_within(document)
    cure = f"; say where the rows are: `rows: {found[0]}` in the mapping" if found else ""
    return cure + (f" (or {', '.join(found[1:4])})" if found[1:] else "")


def _with_paths(
    path: Path, rows: list[Row], records: list[dict[str, Any]], extra: dict[str, str]
) -> Iterator[Row]:
    """The rows with a further cell for each path that the mapping names."""
    for row, record in zip(rows, records, strict=True):
        yield row._replace(
            cells=row.cells + [value_in(path.name, row.number, record, each) for each in extra.values()]
        )


def _refuse_two_of_a_name(path: Path, header: list[str]) -> None:
    """The columns are named by number: a file without a header shows its first patient in the header's place."""
    numbers: dict[str, int] = {}
    for number, name in enumerate(header, 1):
        if name and name in numbers:
            raise FileError(
                f"{path.name}: columns {numbers[name]} and {number} have the same name; rename one of them, or say "
                "`header_rows: 2` in the mapping where two rows name the columns"
            )
        numbers[name] = number
