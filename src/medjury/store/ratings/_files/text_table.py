"""Tables as text: comma, semicolon, tab or bar between the cells, in the encoding that the file shows."""

from __future__ import annotations

import codecs
import csv
import io
import re
import zlib
from pathlib import Path

from medjury.foundation import limits
from medjury.store.ratings._files.problems import RatingsError
from medjury.store.ratings._files.reading import Reading, Rows

_LARGEST_CELL = 100_000_000
_SEPARATORS = ",;\t|"
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_DIRECTIVE = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)


def ending(path: Path) -> str:
    """The ending that says what a file is; that of a packed one is before `.gz`."""
    return Path(path.stem if path.suffix.lower() == ".gz" else path).suffix.lower()


def read_text_table(path: Path, reading: Reading) -> Rows:
    """The rows of a CSV or TSV file; the line `sep=;` that Excel writes says its separator and is no row."""
    csv.field_size_limit(max(csv.field_size_limit(), _LARGEST_CELL))  # the default refuses long notes
    try:
        with open_text(path, reading.encoding) as file:
            separator = start_of(file, "\t" if ending(path) == ".tsv" else None)
            delimiter = reading.delimiter or separator
            yield from enumerate(csv.reader(file, delimiter=delimiter, strict=True), start=1)
    except (csv.Error, TypeError) as error:
        raise RatingsError(f"{path}: not a CSV file that can be read: {error}") from None


def open_text(path: Path, encoding: str | None = None) -> io.TextIOBase:
    """A text file, unpacked where it is packed. Without an encoding its first bytes say whether it is UTF-16."""
    try:
        if path.suffix.lower() == ".gz":
            content = _unpacked(path)
            return io.TextIOWrapper(io.BytesIO(content), encoding or _encoding(content[:4]), newline="")
        limits.check_size(path)
        with path.open("rb") as file:
            start = file.read(4)
        return path.open(encoding=encoding or _encoding(start), newline="")
    except LookupError:
        raise RatingsError(f"{path}: there is no encoding {encoding!r}; try utf-8 or cp1252") from None


def _encoding(start: bytes) -> str:
    for mark, name in _MARKS.items():
        if start.startswith(mark):
            return name
    if len(start) >= 4 and start[1] == start[3] == 0:
        return "utf-16-le"
    return "utf-16-be" if len(start) >= 4 and start[0] == start[2] == 0 else "utf-8-sig"


def _unpacked(path: Path) -> bytes:
    try:
        with limits.open_binary(path, is_packed=True, limit=limits.BYTES) as file:
            return file.read()
    except (OSError, EOFError, zlib.error):
        raise RatingsError(
            f"{path}: not a gzip file that can be read; it is damaged or something else"
        ) from None


def plain_header(path: Path) -> tuple[list[str], str] | None:
    """The names of the columns and the separator of a table in UTF-8; None where its form needs `read_table`."""
    with path.open("rb") as file:
        if path.suffix.lower() == ".gz" or not _encoding(file.read(4)).startswith("utf-8"):
            return None
    with open_text(path) as text:
        if _DIRECTIVE.fullmatch(text.readline()):
            return None
        text.seek(0)
        separator = start_of(text, "\t" if ending(path) == ".tsv" else None)
        return next(csv.reader(text, delimiter=separator), []), separator


def start_of(file: io.TextIOBase, separator: str | None = None) -> str:
    """Go to the first row of a table and tell its separator: the one that `sep=` names or `separator`, else the
    sign that stands in the first row most often, outside quotation marks."""
    first = file.readline()
    if directive := _DIRECTIVE.fullmatch(first.removeprefix("\ufeff")):
        return directive[1]
    header = first
    while header.count('"') % 2 and (more := file.readline()):
        header += more
    file.seek(0)
    if file.read(1) != "\ufeff":
        file.seek(0)
    return separator or guess_separator(header)


def guess_separator(header: str) -> str:
    """The sign that parts the header, whichever stands there most outside quotation marks."""
    unquoted = "".join(header.split('"')[::2])
    return max(_SEPARATORS, key=unquoted.count)
