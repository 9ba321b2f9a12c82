"""Tables as text (CSV, TSV): comma, semicolon, tab or bar; row numbers as a spreadsheet shows them."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from medjury.intake._files.reading import FileError, Reading, Row, Rows
from medjury.intake._files.text import encoding_of, ending, is_packed, lines_in, open_text, shown_encoding

# A cell longer than this is a quotation mark that was never closed and has swallowed the rest of the file.
LONGEST_CELL = 20_000_000
_SEPARATORS = ",;\t|"
_STATED = re.compile(r'"?sep=(.)"?\r?\n?', re.IGNORECASE)  # how Excel states the separator, above the header


def read_delimited(path: Path, reading: Reading) -> Rows:
    """The rows, one at a time, the header first; the line `sep=;` that Excel writes is no row."""
    # The limit is the process's; a long note must fit.
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))
    encoding = shown_encoding(encoding_of(path, reading))
    cure = "save it as 'CSV UTF-8', or name its encoding in the mapping (`encoding: cp1252`)"
    wrong = f"is not valid {encoding}; {cure}"
    looks = bool(reading.encoding) or not reading.by_row  # else whoever uses the cell refuses it
    number = 0
    # `surrogateescape` lets a row with a byte that is not of the encoding be named; else the file would end there.
    with open_text(path, reading, "surrogateescape") as file:
        try:
            separator = reading.delimiter or separator_of(file, path, reading.item, reading.skip_rows)
            lines = lines_in(file, path) if is_packed(path) else file
            for number, cells in enumerate(csv.reader(lines, delimiter=separator, strict=True), 1):
                yield Row(number, cells, wrong if looks and not _is_text(cells) else "")
        except (csv.Error, TypeError):
            raise FileError(
                f"{path.name}: cannot be read beyond row {number or 1}: a quotation mark is not closed or is in "
                "the wrong place; export the file again with cells quoted as CSV requires"
            ) from None
        except UnicodeError:
            raise FileError(f"{path.name}: cannot be read beyond row {number or 1}: {wrong}") from None


def plain_header(path: Path) -> tuple[list[str], str] | None:
    """The names of the columns and the separator of a table in UTF-8; None where its form needs `read_table`."""
    reading = Reading()
    if is_packed(path) or encoding_of(path, reading) != "utf-8-sig":
        return None
    with open_text(path, reading, "strict") as text:
        if _STATED.fullmatch(text.readline()):
            return None
        text.seek(0)
        separator = separator_of(text, path, "")
        return next(csv.reader(text, delimiter=separator), []), separator


def separator_of(file: io.TextIOWrapper, path: Path, item: str, skipped: int = 0) -> str:
    """Go to the first row and find the separator: the one that is stated, that of the ending, the one that makes
    the item a column, or else the one that the header uses most, outside quotation marks. Rows that are `skipped`
    above the header do not count."""
    lines = lines_in(file, path)
    header = next(lines, "")
    if stated := _STATED.fullmatch(header.removeprefix("\ufeff")):
        return stated[1]
    while header.count('"') % 2 and (more := next(lines, "")):  # a cell of several lines
        header += more
    for _ in range(skipped):
        header = next(lines, "")
        while header.count('"') % 2 and (more := next(lines, "")):
            header += more
    file.seek(0)
    if ending(path) == ".tsv":
        return "\t"
    for each in _SEPARATORS if item else ():
        names = next(csv.reader(header.splitlines(keepends=True), delimiter=each), [])
        if len(names) > 1 and item in {name.removeprefix("\ufeff").strip() for name in names}:
            return each
    unquoted = "".join(header.split('"')[::2])
    return max(_SEPARATORS, key=unquoted.count)


def _is_text(cells: list[str]) -> bool:
    """False where a byte was none of the encoding."""
    joined = "".join(cells)
    return joined.isascii() or not re.search("[\udc80-\udcff]", joined)
