"""Paths into nested JSON: `results.results[]` are rows, `scores.accuracy.value` is a cell of one of them.

A step is a key (`scores`, or `["rouge.1"]` where the key itself has signs), a place in a list (`[0]`), every
element of a list (`[]`) or every entry of an object (`{}`, its key under `@key`). A row knows the objects around
it: a key that no row has itself is looked up in them, from the inside out, and `^` begins one object out. Of a list
as long as that of the rows, `raters[@place]` is the element at the row's own place.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.foundation.limits import TOO_DEEP, is_too_deep

Step = str | int
EVERY, ENTRIES, OWN_PLACE = "[]", "{}", "[@place]"
_STEP = re.compile(r'\[\]|\{\}|\[@place\]|\[(\d+)\]|\["([^"]*)"\]|([^.\[\]{}]+)')
_DEEPEST = 6


def is_path(name: str) -> bool:
    """True for a name that may lead into a cell."""
    return "." in name or "[" in name or "^" in name


def steps_of(path: str) -> list[Step]:
    """The steps of a path; refused where it cannot be read."""
    steps: list[Step] = []
    at = 0
    while at < len(path):
        if path[at] == "." and steps:
            at += 1
        found = _STEP.match(path, at)
        if found is None:
            raise MedjuryError(
                f"the path {path!r} cannot be read at its character {at + 1}; write `results[].id`"
            )
        steps.append(int(found[1]) if found[1] else found[2] or found[3] or found[0])
        at = found.end()
    return steps


def root_of(path: str) -> str:
    """The first step of a path: the column that it leads into; the whole name where that is no path."""
    try:
        return str(steps_of(path.lstrip("^."))[0]) if is_path(path) else path
    except (MedjuryError, IndexError):
        return path


class Record(dict[str, Any]):
    """A row of a nested document: an object that also knows the objects around it."""

    outer: Record | None = None
    place: tuple[int, int] | None = None  # in the list that it is a row of, and how long that is
    known: frozenset[str] = frozenset()  # the keys that some row has itself


def records_at(document: Any, path: str, barren: Counter[str] | None = None) -> list[Record] | str:
    """The rows that the path leads to, or the complaint that there are none. Under `barren` is counted what of a
    list has no row in it."""
    records = list(_walk(document, steps_of(path), None, Counter() if barren is None else barren))
    if records:
        known = frozenset(key for each in records for key in each)
        for each in records:
            each.known = known
        return records
    found = lists_within(document)
    return f"`rows: {path}` finds nothing" + (f"; there is {', '.join(found[:4])}" if found else "")


def _walk(value: Any, steps: Sequence[Step], outer: Record | None, barren: Counter[str]) -> Iterator[Record]:
    own = _record(value, outer) if isinstance(value, dict) else outer
    if not steps:
        yield own if isinstance(value, dict) and own is not None else _record({"@value": value}, outer)
        return
    step, rest = steps[0], steps[1:]
    if step == EVERY and isinstance(value, list):
        for place, each in enumerate(value):
            empty = True
            for row in _walk(each, rest, own, barren):
                empty, row.place = False, row.place or (place, len(value))
                yield row
            if empty:
                barren["parts without a row, left out"] += 1
    elif step == ENTRIES and isinstance(value, dict):
        for key, each in value.items():
            if key == "@key":
                continue  # which we gave it ourselves
            yield from _walk(
                {"@key": key, **(each if isinstance(each, dict) else {"@value": each})}, rest, own, barren
            )
    elif isinstance(value, dict) and step in value:
        yield from _walk(value[str(step)], rest, own, barren)


def _record(fields: Mapping[str, Any], outer: Record | None) -> Record:
    record = Record(fields)
    record.outer = outer
    return record


def value_at(record: Mapping[str, Any], path: str) -> Any:
    """What a path leads to in a row, None where it leads nowhere. Text that is JSON is opened on the way."""
    place = getattr(record, "place", None)
    while path.startswith("^"):
        path = path.removeprefix("^").removeprefix(".")
        record = getattr(record, "outer", None) or {}
    steps = steps_of(path)
    around: Any = record
    # A row that lacks what other rows have has failed, and takes nothing from the objects around it.
    own = isinstance(record, Record) and steps[0] in record.known
    while not own and isinstance(around, Record) and steps[0] not in around and around.outer is not None:
        around = around.outer
    value: Any = around
    for step in steps:
        if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
            value = json_in(value)
        if step == OWN_PLACE:  # two lists of other lengths do not say who belongs to what
            step = place[0] if place and isinstance(value, list) and len(value) == place[1] else -1
        if isinstance(value, dict):
            value = value.get(str(step))
        elif isinstance(value, list) and isinstance(step, int):
            value = value[step] if 0 <= step < len(value) else None
        else:
            return None
    return value


def json_in(cell: str) -> Any:
    """The JSON in a cell; a `ValueError` where it is not JSON, or nested deeper than is read."""
    if is_too_deep(cell):
        raise ValueError(TOO_DEEP)
    return json.loads(cell)


def lists_within(document: Any) -> list[str]:
    """The paths of lists of objects in a document, the longest list first."""
    found = sorted(_lists(document, "", 0), key=lambda each: -each[1])
    return [path for path, _ in found]


def _lists(document: Any, before: str, depth: int) -> Iterator[tuple[str, int]]:
    if isinstance(document, dict) and depth < _DEEPEST:
        for key, value in document.items():
            name = key if re.fullmatch(r"[^.\[\]{}]+", key) else f'["{key}"]'
            yield from _lists(
                value, f"{before}.{name}" if before and name == key else before + name, depth + 1
            )
    elif isinstance(document, list) and document and all(isinstance(each, dict) for each in document):
        yield f"{before}[]", len(document)


def keys_at(records: Sequence[Mapping[str, Any]], path: str) -> list[str]:
    """The keys of the objects that a path leads to, over all rows."""
    found: dict[str, None] = {}
    for record in records:
        value = value_at(record, path)
        if isinstance(value, str) and value.lstrip()[:1] == "{":
            value = json_in(value)
        if isinstance(value, dict):
            found.update(dict.fromkeys(value))
    return list(found)
