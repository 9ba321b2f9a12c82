"""Cases from an Excel workbook: the first sheet, or the one that the mapping names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from medjury.cases._case import Origin
from medjury.cases._mapping import ColumnMapping
from medjury.cases._report import CaseError
from medjury.cases._row import RawRow
from medjury.cases._workbook import WorkbookError, open_workbook

if TYPE_CHECKING:
    from openpyxl import Workbook


def read_xlsx(path: Path, mapping: ColumnMapping) -> Iterator[RawRow]:
    """The rows of a sheet with a header. Excel cuts a cell at 32,767 characters: use JSON Lines for more."""
    try:
        with open_workbook(path) as book:
            yield from _rows(book, path, mapping)
    except WorkbookError as error:
        raise CaseError(f"{path.name}: {error}") from None


def _rows(book: Workbook, path: Path, mapping: ColumnMapping) -> Iterator[RawRow]:
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    sheet = sheets.get(mapping.sheet or next(iter(sheets), ""))
    if sheet is None:
        wanted = f"has no sheet {mapping.sheet!r}" if mapping.sheet else "has no sheet with cells"
        raise CaseError(f"{path.name}: {wanted}; its sheets are {', '.join(book.sheetnames)}")
    sheet.reset_dimensions()  # some programs write a wrong size, and rows would be lost
    rows = sheet.iter_rows(values_only=True)
    header = ["" if name is None else str(name).strip() for name in next(rows, ())]
    while header and not header[-1]:
        header.pop()
    mapping.check_header(header, path.name)
    for number, row in enumerate(rows, 2):
        if any(cell is not None and str(cell).strip() for cell in row):
            yield _row(row, header, Origin(path.name, number))


def _row(row: tuple[object, ...], header: list[str], origin: Origin) -> RawRow:
    if any(cell is not None for cell in row[len(header) :]):
        return RawRow(origin, problem="has cells beyond the last named column")
    cells = {name: cell for name, cell in zip(header, row, strict=False) if name}
    errors = [
        name
        for name, cell in cells.items()
        if isinstance(cell, str) and cell.startswith("#") and cell in _ERRORS
    ]
    if errors:
        return RawRow(origin, problem=f"holds a spreadsheet error in {', '.join(errors)}")
    return RawRow(origin, cells)


_ERRORS = frozenset({"#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A"})
