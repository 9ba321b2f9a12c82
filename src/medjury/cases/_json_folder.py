"""Cases from one `.json` file (a case, a list of cases, a FHIR bundle) or from a folder of such files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from medjury.cases._case import Origin
from medjury.cases._json import parse_json, rows_of
from medjury.cases._mapping import ColumnMapping
from medjury.cases._report import CaseError
from medjury.cases._row import RawRow


def read_json(path: Path, mapping: ColumnMapping) -> Iterator[RawRow]:
    """The rows of one file, which is read whole. A case without an id takes the file's name."""
    parsed = parse_json(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    if isinstance(parsed, str):
        yield RawRow(Origin(path.name, 1), problem=parsed)
    elif isinstance(parsed.content, list):
        for number, each in enumerate(parsed.content, 1):
            yield from rows_of(each, Origin(path.name, number), mapping)
    else:
        yield from rows_of(parsed.content, Origin(path.name, 1), mapping, path.stem)


def read_folder(path: Path, mapping: ColumnMapping) -> Iterator[RawRow]:
    """The rows of every `.json` file of a folder, by name; one file in memory at a time."""
    files = sorted(
        file for file in path.iterdir() if file.suffix.lower() == ".json" and not file.name.startswith(".")
    )
    if not files:
        raise CaseError(
            f"{path}: the folder has no .json file; name the file itself if it is of another kind"
        )
    for file in files:
        yield from read_json(file, mapping)
