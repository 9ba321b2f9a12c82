"""Cases from CSV: comma, semicolon, tab or bar; UTF-8 or UTF-16; row numbers as a spreadsheet shows them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

from medjury.foundation.limits import check_shape
from medjury.intake.cases._case import Origin
from medjury.intake.cases._mapping import ColumnMapping
from medjury.intake.cases._readers.text_file import encoding_of, ending, is_packed, lines_in, open_text
from medjury.intake.cases._report import CaseError
from medjury.intake.cases._row import EMPTY, NAMELESS, RawRow

# A cell longer than this is a quotation mark that was never closed and has swallowed the rest of the file.
LONGEST_CELL = 20_000_000


_STATED = re.compile(r'"?sep=(.)"?\r?\n?', re.IGNORECASE)  # how Excel states the separator, above the header


def read_csv(path: Path, mapping: ColumnMapping) -> Iterator[RawRow]:
    """The rows of a file with a header, one at a time. The header is row 1."""
    if csv.field_size_limit() < LONGEST_CELL:  # the limit is the process's; a long note must fit
        csv.field_size_limit(LONGEST_CELL)
    encoding = encoding_of(path, mapping.encoding)
    # `surrogateescape` lets a row with a byte that is not UTF-8 be named instead of ending the file there.
    with open_text(path, encoding, "surrogateescape") as file:
        number = 0
        try:
            delimiter = _start(file, path, mapping)
            rows = csv.reader(
                lines_in(file, path) if is_packed(path) else file, delimiter=delimiter, strict=True
            )
            header = [name.removeprefix("\ufeff").strip() for name in next(rows, [])]
            check_shape(path, 1, len(header))
            mapping.check_header(header, path.name)
            yield RawRow(Origin(path.name, 1), remarks={NAMELESS: header.count("")}, is_remark=True)
            for number, row in enumerate(rows, 2):
                origin = Origin(path.name, number)
                if not any(cell.strip() for cell in row):  # a spreadsheet's empty rows at the end
                    yield RawRow(origin, remarks={EMPTY: 1}, is_remark=True)
                elif mapping.encoding and not _is_text(row):
                    yield RawRow(
                        origin,
                        problem=f"is not valid {mapping.encoding}; name the encoding that the file was saved in",
                    )
                elif len(row) >= len(header) and not any(cell.strip() for cell in row[len(header) :]):
                    values: dict[str, object] = dict(zip(header, row, strict=False))
                    yield RawRow(origin, values)
                else:
                    yield RawRow(
                        origin,
                        problem=f"has {len(row)} cells; the header has {len(header)}",
                        reason="has more or fewer cells than the header",
                    )
        except csv.Error:
            raise CaseError(
                f"{path.name}: cannot be read beyond row {number or 1}: a quotation mark is not closed or "
                "stands in the wrong place; export the file again with cells quoted as CSV requires"
            ) from None
        except UnicodeError:
            name = "UTF-16" if encoding.startswith("utf-16") else encoding
            raise CaseError(
                f"{path.name}: cannot be read beyond row {number or 1}: not valid {name}; save it as UTF-8"
            ) from None


def _start(file: io.TextIOWrapper, path: Path, mapping: ColumnMapping) -> str:
    """Go to the header and tell the separator: the one that is stated, that of the ending, or the header's."""
    lines = lines_in(file, path)
    header = next(lines, "")
    if stated := _STATED.fullmatch(header.removeprefix("\ufeff")):
        return stated[1]
    while header.count('"') % 2 and (more := next(lines, "")):  # a cell of several lines
        header += more
    file.seek(0)
    return "\t" if ending(path) == ".tsv" else _delimiter(header, mapping.simple.get("id", "id"))


def _delimiter(header: str, identifier: str) -> str:
    """The separator that makes the id a column; else the one that the header uses most, outside quotation marks."""
    for each in ",;\t|":
        names = next(csv.reader(header.splitlines(keepends=True), delimiter=each), [])
        if len(names) > 1 and identifier in {name.removeprefix("\ufeff").strip() for name in names}:
            return each
    unquoted = "".join(header.split('"')[::2])
    return max(",;\t|", key=unquoted.count)


def _is_text(row: list[str]) -> bool:
    """False where a byte was none of the encoding."""
    joined = "".join(row)
    return joined.isascii() or not re.search("[\udc80-\udcff]", joined)
