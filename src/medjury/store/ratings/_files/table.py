"""Reads a table a person made (text, spreadsheet, Parquet, JSON) as it stands: cells untouched, rows numbered."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from medjury.foundation import limits
from medjury.foundation.errors import MedjuryError, no_such
from medjury.foundation.nested import lists_within, records_at
from medjury.intake.cases import EvalLog, EvalLogError, as_log, is_log, read_eval_log
from medjury.store.ratings._files.nested_columns import paths_into, value_in, with_nested_columns
from medjury.store.ratings._files.problems import NoRatingsError, RatingsError
from medjury.store.ratings._files.reading import Reading, Rows, declared_missing, shown_number
from medjury.store.ratings._files.sheets import read_ods, read_xlsx
from medjury.store.ratings._files.text_table import ending, open_text, read_text_table

# Tables from JSON: a list of objects, one object per line, columns and data, rows deep within a document, or the
# samples of a log of Inspect.


def read_json_table(path: Path, reading: Reading) -> Rows:
    """The rows of a JSON file. Row 1 is the first object (there is no header line)."""
    read: Callable[[Path, Reading], Any] = _JSON_TABLE_READERS.get(ending(path), _lines)
    whole = read(path, reading)
    rows = reading.rows or ("samples[]" if ending(path) == ".eval" else None)
    if rows is not None:
        try:
            led_to = records_at(whole, rows)
        except MedjuryError as error:
            raise RatingsError(f"{path}: {error}") from None
        if isinstance(led_to, str):
            raise RatingsError(f"{path}: {led_to}")
        records = list(enumerate(led_to, start=1))
    elif _is_table(whole):
        yield 0, list(map(str, whole["columns"]))
        yield from enumerate((list(row) for row in whole["data"]), start=1)
        return
    elif isinstance(whole, list):
        records = list(enumerate(whole, start=1))
    else:
        found = lists_within(whole)
        cure = f"; say where the rows are: `rows: {found[0]}` in the mapping" if found else ""
        more = f" (or {', '.join(found[1:4])})" if found[1:] else ""
        raise RatingsError(f"{path}: the file must hold a list of objects, one per row{cure}{more}")
    if ending(path) in (".jsonl", ".ndjson") and rows is None:
        records = [(number, record) for number, record in records if record is not _BLANK]
    header: dict[str, None] = {}
    for number, record in records:
        if not isinstance(record, dict):
            raise RatingsError(f"{path}, row {number}: not a JSON object")
        header.update(dict.fromkeys(record))
    extra = paths_into([record for _, record in records], header, reading)
    yield 0, [*header, *extra]
    for number, record in records:
        cells = [record.get(name) for name in header]
        yield number, cells + [value_in(path.name, number, record, each) for each in extra.values()]


_BLANK = object()  # a line with nothing in it


def _document(path: Path, reading: Reading) -> Any:
    with open_text(path, reading.encoding) as file:
        try:
            text = file.read()
            limits.check_depth(path, text)
            whole = json.loads(text, object_pairs_hook=_each_key_once)
        except json.JSONDecodeError as error:
            raise RatingsError(f"{path}, line {error.lineno}: not JSON: {error.msg}") from None
        except _KeyTwiceError as error:
            raise RatingsError(f"{path}: {error}") from None
    return _told(as_log(whole, path.name), reading) if is_log(whole) else whole


def _log(path: Path, reading: Reading) -> Any:
    try:
        return _told(read_eval_log(path), reading)
    except EvalLogError as error:
        raise RatingsError(str(error)) from None


def _told(log: EvalLog, reading: Reading) -> Any:
    """The document of a log of Inspect; what it says of itself is told, and what it withdrew is counted."""
    reading.told.extend(log.told)
    reading.left_out.update(log.left_out)
    return log.document


def _lines(path: Path, reading: Reading) -> list[Any]:
    records = []
    with open_text(path, reading.encoding) as file:
        for number, line in enumerate(file, start=1):
            limits.check_depth(f"{path}, line {number}", line)
            try:
                records.append(json.loads(line, object_pairs_hook=_each_key_once) if line.strip() else _BLANK)
            except json.JSONDecodeError as error:
                raise RatingsError(f"{path}, line {number}: not JSON: {error.msg}") from None
            except _KeyTwiceError as error:
                raise RatingsError(f"{path}, line {number}: {error}") from None
    return records if reading.rows is None else [each for each in records if each is not _BLANK]


_JSON_TABLE_READERS: dict[str, Callable[[Path, Reading], Any]] = {".json": _document, ".eval": _log}


class _KeyTwiceError(ValueError):
    """An object says two things under one name."""


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _KeyTwiceError(f"the key {twice!r} appears twice in one object; keep the one that holds")
    return found


def _is_table(whole: Any) -> bool:
    """True for an object of `columns` and `data`, a row each, as data frames are written."""
    return (
        isinstance(whole, dict)
        and isinstance(columns := whole.get("columns"), list)
        and isinstance(data := whole.get("data"), list)
        and all(isinstance(row, list) and len(row) == len(columns) for row in data)
    )


# Tables of SPSS and Stata, through pyreadstat, which is an extra.

_STATISTICS_FILE_READERS = {".sav": "read_sav", ".zsav": "read_sav", ".por": "read_por", ".dta": "read_dta"}


def read_statistics_file(path: Path, reading: Reading) -> Rows:
    """The values as they are stored: codes are not replaced by their labels, and codes that the file declares as
    missing are refused until they are named under `na` or `blank`, so that none is lost or scored unseen."""
    try:
        import pyreadstat
    except ModuleNotFoundError:
        raise RatingsError(
            f'{path}: SPSS and Stata files need pyreadstat; install it with: pip install "medjury[spss]", or save '
            "the file as CSV"
        ) from None
    kind = path.suffix.lower()
    settings: dict[str, Any] = {} if kind == ".por" else {"user_missing": True}
    limits.check_size(path)
    try:
        read = getattr(pyreadstat, _STATISTICS_FILE_READERS[kind])
        width = len(read(str(path), metadataonly=True)[1].column_names)
        limits.check_shape(path, 1, width)
        columns, meta = read(
            str(path), output_format="dict", row_limit=limits.rows_for(width) + 1, **settings
        )  # what a packed file unpacks to is not known before
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, OSError, ValueError):
        raise RatingsError(f"{path}: not an SPSS or Stata file that can be read") from None
    limits.check_shape(path, max(map(len, columns.values()), default=0), width)
    labels = meta.variable_value_labels
    if labelled := [name for name in columns if name in labels]:
        reading.told.append(f"{path.name}: read as codes, not as their labels: {', '.join(labelled)}")
    if kind == ".por":
        reading.told.append(f"{path.name}: codes that a .por file declares as missing are read as not rated")
    yield 1, list(columns)
    cells = [_column(name, values, meta) for name, values in columns.items()]
    for number, row in enumerate(zip(*cells, strict=True), start=2):
        yield number, list(row)


def _column(name: str, values: Any, meta: Any) -> list[Any]:
    """The cells of a column, those that the file declares as missing known as such, and ids as they are shown."""
    plain = [_plain(cell) for cell in (values.tolist() if hasattr(values, "tolist") else values)]
    labels = meta.variable_value_labels.get(name, {})
    ranges = [(each["lo"], each["hi"]) for each in meta.missing_ranges.get(name, ())]
    letters = set(meta.missing_user_values.get(name, ()))
    width = re.fullmatch(r"N(\d+)", str(meta.original_variable_types.get(name, "")))

    def cell_of(cell: Any) -> Any:
        if cell is not None and (cell in letters or any(_within(cell, *each) for each in ranges)):
            return declared_missing(str(cell), str(labels.get(cell, "")))
        return shown_number(cell, str(cell).zfill(int(width[1]))) if width and type(cell) is int else cell

    return [cell_of(cell) for cell in plain]


def _within(cell: Any, low: Any, high: Any) -> bool:
    return isinstance(cell, str) == isinstance(low, str) and bool(low <= cell <= high)


def _plain(cell: Any) -> Any:
    if isinstance(cell, float):
        if cell != cell:  # a gap
            return None
        return int(cell) if cell.is_integer() and abs(cell) < 2**53 else cell
    return cell


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
