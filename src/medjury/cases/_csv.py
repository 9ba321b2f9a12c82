"""Cases from CSV: comma, semicolon, tab or bar; UTF-8 or UTF-16; row numbers as a spreadsheet shows them."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator
from pathlib import Path

from medjury.cases._case import Origin
from medjury.cases._mapping import ColumnMapping
from medjury.cases._report import CaseError
from medjury.cases._row import RawRow

# A cell longer than this is a quotation mark that was never closed and has swallowed the rest of the file.
LONGEST_CELL = 20_000_000


def read_csv(path: Path, mapping: ColumnMapping) -> Iterator[RawRow]:
    """The rows of a file with a header, one at a time. The header is row 1."""
    if csv.field_size_limit() < LONGEST_CELL:  # the limit is the process's; a long note must fit
        csv.field_size_limit(LONGEST_CELL)
    # `surrogateescape` lets a row with a byte that is not UTF-8 be named instead of ending the file there.
    with path.open(encoding=_encoding(path), errors="surrogateescape", newline="") as file:
        delimiter = "\t" if path.suffix.lower() == ".tsv" else _delimiter(file.readline())
        file.seek(0)
        rows = csv.reader(file, delimiter=delimiter, strict=True)
        number = 0
        try:
            header = [name.strip() for name in next(rows, [])]
            mapping.check_header(header, path.name)
            for number, row in enumerate(rows, 2):
                if not any(cell.strip() for cell in row):  # a spreadsheet's empty rows at the end
                    continue
                origin = Origin(path.name, number)
                if len(row) == len(header):
                    values: dict[str, object] = dict(zip(header, row, strict=True))
                    yield RawRow(origin, values)
                else:
                    yield RawRow(origin, problem=f"has {len(row)} cells; the header has {len(header)}")
        except csv.Error:
            raise CaseError(
                f"{path.name}: cannot be read beyond row {number or 1}: a quotation mark is not closed or "
                "stands in the wrong place; export the file again with cells quoted as CSV requires"
            ) from None
        except UnicodeError:
            raise CaseError(
                f"{path.name}: cannot be read beyond row {number or 1}: not valid UTF-16; save it as UTF-8"
            ) from None


def _encoding(path: Path) -> str:
    with path.open("rb") as file:
        start = file.read(4)
    return "utf-16" if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"


def _delimiter(header: str) -> str:
    """The separator that the header uses most, outside quotation marks."""
    unquoted = "".join(header.split('"')[::2])
    return max(",;\t|", key=unquoted.count)
