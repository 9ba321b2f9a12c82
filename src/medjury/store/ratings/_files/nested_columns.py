"""Columns that are paths into cells: the mapping says `answer.scores.accuracy`, the table has `answer`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.foundation.nested import Record, is_path, keys_at, steps_of, value_at
from medjury.store.ratings._files.problems import RatingsError
from medjury.store.ratings._files.reading import Reading, Rows

_PLACE = re.compile(r"(?P<before>.+?)\.(?P<place>\{\w+\})(?P<after>\..*)?")


def with_nested_columns(file: str, header: list[str], rows: Rows, reading: Reading) -> tuple[list[str], Rows]:
    """The table with a further column for each path that the mapping names."""
    named = [name for name in reading.columns if is_path(name) and name not in header]
    patterned = reading.pattern is not None and _PLACE.fullmatch(reading.pattern) is not None
    if not named and not patterned:
        return header, rows
    found = list(rows)
    records = [dict(zip(header, cells, strict=False)) for _, cells in found]
    extra = paths_into(records, header, reading)
    if not extra:
        return header, iter(found)

    def wider() -> Iterator[tuple[int, list[Any]]]:
        for (number, cells), record in zip(found, records, strict=True):
            padded = (cells + [None] * (len(header) - len(cells)))[: max(len(header), len(cells))]
            values = [value_in(file, number, record, path) for path in extra.values()]
            yield number, padded[: len(header)] + values + padded[len(header) :]

    return [*header, *extra], wider()


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
    """A column for every key that stands where the pattern has a place."""
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
    """What a path leads to; a cell that should be JSON and is not is told with its row."""
    try:
        return value_at(record, path)
    except ValueError as error:
        raise RatingsError(
            f"{file}, row {number}: {path!r} leads into a cell that is not JSON: {error}"
        ) from None
