"""Cases from an Excel workbook: the first sheet, or the one that the mapping names."""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

from medjury.foundation.errors import MedjuryError
from medjury.foundation.limits import FileLimitError, check_directory, check_shape
from medjury.intake.cases._case import Origin
from medjury.intake.cases._mapping import ColumnMapping
from medjury.intake.cases._report import CaseError
from medjury.intake.cases._row import EMPTY, NAMELESS, RawRow

if TYPE_CHECKING:
    from openpyxl import Workbook


# Opens an Excel workbook, unless it would unpack to more than any table has.


class WorkbookError(MedjuryError):
    """What was given as a workbook is none that can be read."""


@contextmanager
def open_workbook(path: str | os.PathLike[str], *, formulas: bool = False) -> Iterator[Workbook]:
    """The workbook, to be read row by row, with the values of its cells or with their formulas. Kilobytes can be
    packed that unpack to gigabytes: that is seen from the sizes that the file states, and no more than it states is
    ever unpacked."""
    book = _checked(path, formulas)
    try:
        yield book
    except Exception as error:
        if not _is_the_librarys(error):
            raise
        raise WorkbookError("is damaged: it holds something else than it states") from None
    finally:
        book.close()


def _is_the_librarys(error: BaseException) -> bool:
    """True for an error out of what reads the file, which meets damaged parts with errors of every kind."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    room = "" if trace is None else str(trace.tb_frame.f_globals.get("__name__", ""))
    return room.partition(".")[0] in ("openpyxl", "lxml", "xml", "zipfile", "zlib")


def _checked(path: str | os.PathLike[str], formulas: bool) -> Workbook:
    import openpyxl

    try:
        with ZipFile(path) as packed:
            check_directory(packed, Path(path))
        return openpyxl.load_workbook(path, read_only=True, data_only=not formulas)
    except FileLimitError:
        raise
    except Exception:  # of whatever kind: nothing but the library is called here
        raise WorkbookError("is not an .xlsx workbook, or it is damaged or encrypted") from None


LEADING_ZEROS = "id that the sheet shows with leading zeros, read as it is shown"
_PLAIN_FORMAT = re.compile(r"General|@|[#,]*[#0](\.0+)?")  # what shows a whole number as it is
_ERRORS = frozenset({"#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A"})


def read_xlsx(path: Path, mapping: ColumnMapping) -> Iterator[RawRow]:
    """The rows of a sheet with a header. Excel cuts a cell at 32,767 characters: use JSON Lines for more."""
    try:
        with open_workbook(path) as book, open_workbook(path, formulas=True) as formulas:
            yield from _rows(book, formulas, path, mapping)
    except WorkbookError as error:
        raise CaseError(f"{path.name}: {error}") from None


def _rows(book: Workbook, formulas: Workbook, path: Path, mapping: ColumnMapping) -> Iterator[RawRow]:
    shown = sorted(book.worksheets, key=lambda each: each.sheet_state != "visible")  # hidden ones come last
    sheets = {sheet.title: sheet for sheet in shown}
    sheet = sheets.get(mapping.sheet or next(iter(sheets), ""))
    listed = f"its sheets are {', '.join(book.sheetnames)}"
    if sheet is None:
        wanted = f"has no sheet {mapping.sheet!r}" if mapping.sheet else "has no sheet with cells"
        raise CaseError(f"{path.name}: {wanted}; {listed}")
    for each in (sheet, formulas[sheet.title]):
        each.reset_dimensions()  # some programs write a wrong size, and rows would be lost
    rows, sources = sheet.iter_rows(), formulas[sheet.title].iter_rows(values_only=True)
    try:
        others = len(sheets) - 1
        header = _header(
            next(rows, ()), mapping, path.name, f"sheet {sheet.title!r}" if others else "", listed
        )
        next(sources, None)
        left_out = {"sheet, left out": others, NAMELESS: header.count("")}
        yield RawRow(Origin(path.name, 1), remarks=left_out, is_remark=True)
        names = {mapping.simple.get(name, name) for name in ("id", "patient", "system", "vendor")}
        for number, (row, source) in enumerate(zip_longest(rows, sources, fillvalue=()), 2):
            origin = Origin(path.name, number)
            if any(value is not None and str(value).strip() for value in source):
                yield _row(row, source, header, names, origin)
            else:
                yield RawRow(origin, remarks={EMPTY: 1}, is_remark=True)
    finally:
        for each in (rows, sources):  # which hold the file open
            if isinstance(each, Generator):
                each.close()


def _header(cells: Sequence[Any], mapping: ColumnMapping, file: str, sheet: str, listed: str) -> list[str]:
    header = ["" if cell.value is None else str(cell.value).strip() for cell in cells]
    while header and not header[-1]:
        header.pop()
    check_shape(Path(file), 1, len(header))
    try:
        mapping.check_header(header, f"{file}, {sheet}" if sheet else file)
    except CaseError as error:
        if not sheet:
            raise
        raise CaseError(f"{error}, or which sheet holds the cases (sheet: NAME); {listed}") from None
    return header


def _row(
    row: Sequence[Any], source: Sequence[object], header: list[str], names: set[str], origin: Origin
) -> RawRow:
    if any(cell.value is not None for cell in row[len(header) :]):
        return RawRow(origin, problem="has cells beyond the last named column")
    named = [(name, cell, made) for name, cell, made in zip(header, row, source, strict=False) if name]
    cells = {name: cell.value for name, cell, _ in named}
    errors = [name for name, value in cells.items() if isinstance(value, str) and value in _ERRORS]
    if errors:
        why = "holds a spreadsheet error"
        return RawRow(origin, problem=f"{why} in {', '.join(errors)}", reason=why)
    unknown = [name for name, cell, made in named if cell.value is None and made is not None]
    if unknown:
        return RawRow(
            origin,
            problem=f"holds a formula whose result is not stored in {', '.join(unknown)}; open the file in a "
            "spreadsheet program and save it",
            reason="holds a formula whose result is not stored",
        )
    zeros = 0
    for name, cell, _ in named:
        if name in names and cell.value is not None and not isinstance(cell.value, str):
            shown, why = _as_shown(cell)
            if why:
                cure = "format the column as text and type it again"
                return RawRow(origin, problem=f"{name} is {why}; {cure}", reason=f"an id is {why}")
            zeros += isinstance(shown, str)
            cells[name] = shown
    return RawRow(origin, cells, remarks={LEADING_ZEROS: zeros} if zeros else {})


def _as_shown(cell: Any) -> tuple[object, str]:
    """The number, or its text where its format shows it with leading zeros; or what a spreadsheet made of an id."""
    value, form = cell.value, cell.number_format or "General"
    if isinstance(value, bool):
        return None, f"{str(value).upper()}, not an id"
    if not isinstance(value, int | float):
        return None, "a date, not an id"
    if abs(value) >= 10**15:
        return None, "a number of more than 15 digits, which a spreadsheet rounds"
    if not float(value).is_integer() or _PLAIN_FORMAT.fullmatch(form):
        return value, ""
    if value < 0 or form.strip("0"):
        return None, "a number that the sheet shows with other signs"
    return (value if len(str(int(value))) >= len(form) else str(int(value)).zfill(len(form))), ""
