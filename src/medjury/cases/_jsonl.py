"""Cases from JSON Lines: one case, or one FHIR resource, to a line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from medjury.cases._case import Origin
from medjury.cases._json import parse_json, rows_of
from medjury.cases._mapping import ColumnMapping
from medjury.cases._row import RawRow

_BOM = b"\xef\xbb\xbf"


def read_jsonl(path: Path, mapping: ColumnMapping) -> Iterator[RawRow]:
    """The rows of a file, one line in memory at a time. Blank lines are no rows."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if number == 1:
                line = line.removeprefix(_BOM)
            if not line.strip():
                continue
            origin = Origin(path.name, number)
            value = parse_json(line)
            if isinstance(value, str):
                yield RawRow(origin, problem=value)
            elif isinstance(value.content, list):
                yield RawRow(origin, problem="is a list; write one object to a line")
            else:
                yield from rows_of(value.content, origin, mapping)
