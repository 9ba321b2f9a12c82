"""Columns that are paths into cells: the mapping says `answer.scores.accuracy`, the table has `answer`."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.foundation.nested import Record, is_path, keys_at, steps_of, value_at
from medjury.intake._files.reading import FileError, Reading

_PLACE = re.compile(r"(?P<before>.+?)\.(?P<place>\{\w+\})(?P<after>\..*)?")


def may_lead_into_cells(header: Collection[str], reading: Reading) -> bool:
    """True where the mapping names what may be a path into a cell of a table with this header."""
    named = any(is_path(name) and name not in header for name in reading.columns)
    return named or (reading.pattern is not None and _PLACE.fullmatch(reading.pattern) is not None)


def paths_into(
    records: Sequence[Mapping[str, Any]], header: Collection[str], reading: Reading
) -> dict[str, str]:
    """By column, the path that leads to its cells: what the mapping names and the header does not have."""
    found = {}
    for name in reading.columns:
        known = is_path(name) or any(isinstance(record, Record) for record in records[:1])
        if known and name not in header and any(_leads(record, name) for record in records):
            found[name] = name
    if reading.pattern is not None:
        found |= _expanded(records, reading.pattern, reading.pattern)
    return {name: path for name, path in found.items() if name not in header}


def _leads(record: Mapping[str, Any], name: str) -> bool:
    """True where the first step of a path is there, in the row or in what is around it."""
    try:
        head = steps_of(name.lstrip("^."))[0]
    except (MedjuryError, IndexError):
        return False
    around: Any = record
    while around is not None:
        if head in around:
            return True
        around = getattr(around, "outer", None)
    return False


def _expanded(records: Sequence[Mapping[str, Any]], name: str, path: str) -> dict[str, str]:
    """A column for every key that is found where the pattern has a place."""
    place = _PLACE.fullmatch(path)
    if place is None:
        return {} if name == path else {name: path}
    if not any(_leads(record, place["before"]) for record in records):
        return {}
    found: dict[str, str] = {}
    for key in keys_at(records, place["before"]):
        step = f'{place["before"]}["{key}"]{place["after"] or ""}'
        found |= _expanded(records, name.replace(place["place"], key, 1), step)
    return found


def value_in(file: str, number: int, record: Mapping[str, Any], path: str) -> Any:
    """What a path leads to; a cell that should be JSON and is not is reported with its row."""
    try:
        return value_at(record, path)
    except ValueError as error:
        raise FileError(
            f"{file}, row {number}: {path!r} leads into a cell that is not JSON: {error}"
        ) from None
