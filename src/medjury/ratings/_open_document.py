"""Reads the sheets of an OpenDocument spreadsheet (.ods), as LibreOffice writes it."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from zipfile import BadZipFile, ZipFile

from medjury.ratings._problems import RatingsError
from medjury.ratings._reading import Rows, shown_number

_MOST_BYTES = 200_000_000
_MOST_COLUMNS = 16_384
_MOST_CELLS = 20_000_000
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"


def sheets_of(path: Path) -> dict[str, Rows]:
    """The sheets by their names, each as numbered rows."""
    try:
        with ZipFile(path) as packed:
            if packed.getinfo("content.xml").file_size > _MOST_BYTES:
                raise RatingsError(f"{path}: unpacks to more than 200 MB; save the sheet as CSV")
            with packed.open("content.xml") as file:
                content = file.read(_MOST_BYTES + 1)
        if b"<!DOCTYPE" in content or b"<!ENTITY" in content or b"\0" in content[:100]:
            raise RatingsError(f"{path}: is not an .ods spreadsheet as a spreadsheet program writes it")
        tree = ElementTree.fromstring(content)  # noqa: S314 - what declares entities is refused above
    except (BadZipFile, KeyError, OSError, EOFError, zlib.error, ElementTree.ParseError):
        raise RatingsError(f"{path}: is not an .ods spreadsheet, or it is damaged or encrypted") from None
    found = {table.get(f"{_TABLE}name", ""): _rows(table) for table in tree.iter(f"{_TABLE}table")}
    if not found:
        raise RatingsError(f"{path}: there is no sheet in it")
    return found


def _rows(table: ElementTree.Element) -> Rows:
    number, held = 1, 0
    for row in table.iter(f"{_TABLE}table-row"):
        cells = list(_cells(row))
        again = int(row.get(f"{_TABLE}number-rows-repeated", "1"))
        while cells and cells[-1] is None:
            cells.pop()
        held += again * len(cells)
        if held > _MOST_CELLS:
            raise RatingsError("the .ods file repeats rows to more cells than any table has; save it as CSV")
        for _ in range(again if cells else 1):
            yield number, list(cells)
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
            raise RatingsError(
                "a cell of the .ods file states a value that is none; save it as CSV"
            ) from None
        again = min(int(cell.get(f"{_TABLE}number-columns-repeated", "1")), _MOST_COLUMNS - columns)
        columns += again
        yield from [value] * again


def _value(cell: ElementTree.Element) -> Any:
    kind = cell.get(f"{_OFFICE}value-type")
    shown = "\n".join("".join(each.itertext()) for each in cell.findall(f"{_TEXT}p"))
    if kind in ("float", "percentage", "currency"):
        number = float(cell.get(f"{_OFFICE}value", "nan"))
        return shown_number(int(number), shown) if number.is_integer() and abs(number) < 2**53 else number
    if kind == "boolean":
        return cell.get(f"{_OFFICE}boolean-value") == "true"
    if kind == "date":
        said = cell.get(f"{_OFFICE}date-value", "")
        return datetime.fromisoformat(said) if "T" in said else date.fromisoformat(said)
    return shown or None
