"""Tables from spreadsheets: one sheet of an Excel workbook or of an OpenDocument file, cells as they are shown."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree
from zipfile import BadZipFile, ZipFile

from medjury.foundation import limits
from medjury.intake._files.cells import NO_RESULT, shown_number
from medjury.intake._files.reading import FileError, Reading, Row, Rows

if TYPE_CHECKING:
    from openpyxl import Workbook

SHEETS = (".xlsx", ".ods")
_PLAIN_FORMAT = re.compile(r"General|@|[#,]*[#0](\.0+)?")  # what shows a whole number as it is
_KEPT_DIGITS = 10**15  # a spreadsheet rounds what is larger


LEFT_SHEETS = "sheet, left out"


def read_xlsx(path: Path, reading: Reading) -> Rows:
    """The rows of a sheet of a workbook: the one that is named, else the first that is not hidden."""
    with _workbook(path) as values, _workbook(path, formulas=True) as formulas:
        sheets = sorted(values.worksheets, key=lambda each: each.sheet_state != "visible")
        name = _chosen(path, [each.title for each in sheets], reading)
        pages = (values[name], formulas[name])
        for each in pages:
            each.reset_dimensions()  # some programs write a wrong size, and rows would be lost
        shown, sources = (each.iter_rows() for each in pages)
        try:
            for number, (cells, formed) in enumerate(zip(shown, sources, strict=False), start=1):
                pairs = zip(cells, formed, strict=False)
                yield Row(number, [_as_shown(cell, source.value is not None) for cell, source in pairs])
        finally:
            for rows in (shown, sources):  # which hold the file open
                rows.close()


def sheet_names(path: Path) -> list[str]:
    """The sheets of an Excel workbook that are not hidden."""
    with _workbook(path) as book:
        return [each.title for each in book.worksheets if each.sheet_state == "visible"]


@contextmanager
def _workbook(path: Path, *, formulas: bool = False) -> Iterator[Workbook]:
    """The workbook, with the values of its cells or with their formulas. Kilobytes can be packed that unpack to
    gigabytes: that is seen from the sizes that the file states, and no more than it states is ever unpacked."""
    import openpyxl

    try:
        with ZipFile(path) as packed:
            limits.check_directory(packed, path)
        book = openpyxl.load_workbook(path, read_only=True, data_only=not formulas)
    except limits.FileLimitError:
        raise
    except Exception:  # of whatever kind: nothing but the library is called here
        raise FileError(f"{path}: is not an .xlsx workbook, or it is damaged or encrypted") from None
    try:
        yield book
    except Exception as error:
        if not _is_the_librarys(error):
            raise
        raise FileError(f"{path}: is damaged: it does not hold what it states") from None
    finally:
        book.close()


def _is_the_librarys(error: BaseException) -> bool:
    """True for an error out of what reads the file, which meets damaged parts with errors of every kind."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    room = "" if trace is None else str(trace.tb_frame.f_globals.get("__name__", ""))
    return room.partition(".")[0] in ("openpyxl", "lxml", "xml", "zipfile", "zlib")


def _chosen(path: Path, sheets: list[str], reading: Reading) -> str:
    if not sheets:
        raise FileError(f"{path}: there is no sheet with cells in it")
    if reading.sheet is not None and reading.sheet not in sheets:
        raise FileError(f"{path}: there is no sheet {reading.sheet!r}; its sheets are {', '.join(sheets)}")
    if reading.sheet is None and len(sheets) > 1:
        others = ", ".join(sheets[1:])
        reading.reported.append(
            f"{path.name}: the sheet {sheets[0]!r} was read; name another with `sheet` in the mapping ({others})"
        )
    reading.left_out[LEFT_SHEETS] += len(sheets) - 1
    return reading.sheet or sheets[0]


def _as_shown(cell: Any, is_filled: bool) -> Any:
    """The value of a cell; a whole number whose format shows it with zeros or signs around it knows how."""
    value = cell.value
    if value is None:
        return NO_RESULT if is_filled else None
    if type(value) is int and abs(value) >= _KEPT_DIGITS:
        return float(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < _KEPT_DIGITS:
        value = int(value)
    if type(value) is not int or _PLAIN_FORMAT.fullmatch(form := cell.number_format or "General"):
        return value
    return shown_number(value, str(value).zfill(len(form)) if value >= 0 and not form.strip("0") else "")


# The sheets of an OpenDocument spreadsheet (.ods), as LibreOffice writes it.

_MOST_COLUMNS = 16_384  # programs repeat the empty cells behind the last column up to here
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_DAMAGED = (
    BadZipFile, KeyError, OSError, EOFError, zlib.error, RuntimeError, NotImplementedError, ElementTree.ParseError,
)  # fmt: skip


def read_ods(path: Path, reading: Reading) -> Rows:
    """The rows of a sheet of an OpenDocument spreadsheet; those that are hidden come last."""
    try:
        with ZipFile(path) as packed:
            content = limits.read_part(packed, "content.xml", path)
        if b"<!DOCTYPE" in content or b"<!ENTITY" in content or b"\0" in content[:100]:
            raise FileError(f"{path}: is not an .ods spreadsheet as a spreadsheet program writes it")
        tree = ElementTree.fromstring(content)  # noqa: S314 - what declares entities is refused above
    except _DAMAGED:
        raise FileError(f"{path}: is not an .ods spreadsheet, or it is damaged or encrypted") from None
    sheets = tree.findall(f".//{_OFFICE}spreadsheet/{_TABLE}table") or tree.findall(f"{_TABLE}table")
    names = [each.get(f"{_TABLE}name", "") for each in sheets]
    if len(set(names)) < len(names):
        raise FileError(f"{path}: two sheets have the same name; rename one of them")
    hidden = {
        style.get(f"{_STYLE}name")
        for style in tree.iter(f"{_STYLE}style")
        if any(each.get(f"{_TABLE}display") == "false" for each in style)
    }
    shown = sorted(sheets, key=lambda each: each.get(f"{_TABLE}style-name") in hidden)
    by_name = {each.get(f"{_TABLE}name", ""): each for each in shown}
    yield from _rows_of(by_name[_chosen(path, list(by_name), reading)], path)


def _rows_of(table: ElementTree.Element, path: Path) -> Rows:
    if table.find(f".//{_TABLE}table") is not None:
        raise FileError(f"{path}: a cell holds a table of its own, which is not read; save the sheet as CSV")
    number = 1
    for row in table.iter(f"{_TABLE}table-row"):
        try:
            cells, again = list(_cells(row)), _times(row, "rows")
        except _CellError as error:
            raise FileError(f"{path.name}, row {number}: {error}") from None
        while cells and cells[-1] is None:
            cells.pop()
        if cells:
            limits.check_shape(path, number - 1 + again, len(cells))
        for _ in range(again if cells else 1):
            yield Row(number, list(cells))
            number += 1
        number += 0 if cells else again - 1  # thousands of empty rows are one mark


def _cells(row: ElementTree.Element) -> Iterator[Any]:
    columns = 0
    for cell in row:
        if cell.tag not in (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
            continue
        try:
            value = _value(cell)
        except ValueError:
            raise _CellError("a cell states a value that cannot be read; save the sheet as CSV") from None
        again = min(_times(cell, "columns"), _MOST_COLUMNS - columns)
        columns += again
        yield from [value] * again


class _CellError(Exception):
    """What is wrong with a cell; its row is added by who knows it."""


def _times(element: ElementTree.Element, what: str) -> int:
    """How often a row or a cell is there."""
    stated = element.get(f"{_TABLE}number-{what}-repeated", "1")
    if not stated.isdecimal() or len(stated) > 12 or int(stated) < 1:
        raise _CellError("states how often it is repeated, but not as a number; save the file again")
    return int(stated)


def _value(cell: ElementTree.Element) -> Any:
    kind = cell.get(f"{_OFFICE}value-type")
    shown = "\n".join(map(_words, cell.findall(f"{_TEXT}p")))
    if kind is None and not shown and cell.get(f"{_TABLE}formula"):
        return NO_RESULT
    if kind in ("float", "percentage", "currency"):
        number = float(cell.get(f"{_OFFICE}value", "nan"))
        return shown_number(int(number), shown) if number.is_integer() and abs(number) < 2**53 else number
    if kind == "boolean":
        return cell.get(f"{_OFFICE}boolean-value") == "true"
    if kind == "date":
        stated = cell.get(f"{_OFFICE}date-value", "")
        return datetime.fromisoformat(stated) if "T" in stated else date.fromisoformat(stated)
    if kind == "time":
        hours = re.match(r"PT(\d+)H(\d+)M", cell.get(f"{_OFFICE}time-value", ""))
        return time(int(hours[1]) % 24, int(hours[2]) % 60) if hours else time()
    return cell.get(f"{_OFFICE}string-value") or shown or None


def _words(paragraph: ElementTree.Element) -> str:
    """A paragraph's text; blanks, tabs and line breaks are elements of their own; a remark is no part of it."""
    found = [paragraph.text or ""]
    for each in paragraph:
        if each.tag == f"{_TEXT}s":
            found.append(" " * int(each.get(f"{_TEXT}c", "1")))
        elif each.tag in (f"{_TEXT}tab", f"{_TEXT}line-break"):
            found.append("\t" if each.tag.endswith("tab") else "\n")
        elif each.tag != f"{_OFFICE}annotation":
            found.append(_words(each))
        found.append(each.tail or "")
    return "".join(found)
