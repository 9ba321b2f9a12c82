"""Tables from spreadsheets: one sheet of an Excel workbook or of an OpenDocument file, cells as they are shown."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from medjury.intake.cases import WorkbookError, open_workbook
from medjury.store.ratings._files.open_document import sheets_of
from medjury.store.ratings._files.problems import RatingsError
from medjury.store.ratings._files.reading import Reading, Rows, shown_number

_PLAIN_FORMAT = re.compile(r"General|@|[#,]*[#0](\.0+)?")  # what shows a whole number as it is


def read_xlsx(path: Path, reading: Reading) -> Rows:
    """The rows of a sheet of a workbook: the one that is named, else the first that is not
    hidden, which is told."""
    try:
        with open_workbook(path) as values, open_workbook(path, formulas=True) as formulas:
            sheets = sorted(values.worksheets, key=lambda each: each.sheet_state != "visible")
            name = _chosen(path, [each.title for each in sheets], reading)
            yield from _rows_of(path, values[name], formulas[name])
    except WorkbookError as error:
        raise RatingsError(f"{path}: {error}") from None


def read_ods(path: Path, reading: Reading) -> Rows:
    """The rows of a sheet of an OpenDocument spreadsheet."""
    sheets = sheets_of(path)
    yield from sheets[_chosen(path, list(sheets), reading)]


def _chosen(path: Path, sheets: list[str], reading: Reading) -> str:
    if reading.sheet is not None and reading.sheet not in sheets:
        raise RatingsError(f"{path}: there is no sheet {reading.sheet!r}; its sheets are {', '.join(sheets)}")
    if reading.sheet is None and len(sheets) > 1:
        others = ", ".join(sheets[1:])
        reading.told.append(
            f"{path.name}: the sheet {sheets[0]!r} was read; name another with `sheet` in the mapping ({others})"
        )
    reading.left_out["other sheets, not read"] += len(sheets) - 1
    return reading.sheet or sheets[0]


def _rows_of(path: Path, page: Any, formulas: Any) -> Rows:
    for each in (page, formulas):
        each.reset_dimensions()  # some programs write a wrong size, and rows would be lost
    rows = zip(page.iter_rows(), formulas.iter_rows(values_only=True), strict=False)
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
    return shown_number(value, str(value).zfill(len(form)) if value >= 0 and not form.strip("0") else "")
