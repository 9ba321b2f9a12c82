"""Cases from JSON Lines: one case, or one FHIR resource, to a line."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path

from medjury.intake.cases._case import Origin
from medjury.intake.cases._mapping import ColumnMapping
from medjury.intake.cases._readers.json import parse_json, rows_of, rows_within
from medjury.intake.cases._readers.text_file import encoding_of, is_packed, lines_in, open_bytes, open_text
from medjury.intake.cases._report import CaseError
from medjury.intake.cases._row import RawRow


def read_jsonl(path: Path, mapping: ColumnMapping) -> Iterator[RawRow]:
    """The rows of a file, one line in memory at a time. Blank lines are no rows."""
    file = path.name
    for number, line in enumerate(_lines(path, mapping.encoding), 1):
        if not line or line.isspace():
            continue
        origin = Origin(file, number)
        value = parse_json(line)
        if isinstance(value, str):
            yield RawRow(origin, problem=value)
        elif mapping.rows is not None:
            yield from rows_within([value.content], mapping.rows, origin)
        elif isinstance(value.content, list):
            yield RawRow(origin, problem="is a list; write one object to a line")
        else:
            yield from rows_of(value.content, origin, mapping)


def _lines(path: Path, named: str | None) -> Iterator[bytes]:
    encoding = encoding_of(path, named)
    if encoding == "utf-8-sig":
        with open_bytes(path) as file:
            for number, line in enumerate(lines_in(file, path) if is_packed(path) else file):
                yield line if number else line.removeprefix(codecs.BOM_UTF8)
        return
    number = 0
    with open_text(path, encoding, "strict") as text:
        try:
            for words in lines_in(text, path):
                number += 1
                yield words.removeprefix("\ufeff").encode("utf-8", "surrogatepass")
        except UnicodeError:
            raise CaseError(
                f"{path.name}: cannot be read beyond line {number}: not valid {encoding}; name the encoding "
                "that it was saved in"
            ) from None
