"""Reads JSON strictly, and tells a case from a FHIR resource."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from medjury.foundation.limits import TOO_DEEP, is_too_deep
from medjury.foundation.nested import records_at
from medjury.intake.cases._case import Origin
from medjury.intake.cases._mapping import ColumnMapping
from medjury.intake.cases._row import RawRow


@dataclass(frozen=True, slots=True)
class Parsed:
    """What the JSON says; apart from a plain text, which is a complaint."""

    content: Any


def parse_json(data: bytes) -> Parsed | str:
    """The content, or what is wrong. NaN, Infinity and repeated keys are wrong: each hides a mistake."""
    try:
        text = data.decode("utf-8").rstrip()
    except UnicodeDecodeError:
        return "is not valid UTF-8; save the file as UTF-8"
    if is_too_deep(data):
        return TOO_DEEP
    try:
        return Parsed(_DECODER.decode(text))
    except _RefusedError as error:
        return str(error)
    except ValueError as error:
        if not isinstance(error, json.JSONDecodeError):
            return "is not valid JSON"
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        return f"is not valid JSON ({line}column {error.colno})"


def rows_of(value: object, origin: Origin, mapping: ColumnMapping, stem: str = "") -> Iterator[RawRow]:
    """The rows in one JSON value: a case, or the documents of a FHIR resource or bundle.

    `stem` is the file's name where the value is the whole file: a case without an id takes it.
    """
    if not isinstance(value, dict):
        yield RawRow(origin, problem="is not an object with the fields of a case")
    elif "resourceType" in value:
        from medjury.intake.cases._fhir.rows import documents_of

        yield from documents_of(value, origin, mapping, by_entry=bool(stem))
    elif stem and "id" not in value and "id" not in mapping.simple:
        yield RawRow(origin, {"id": stem, **value})
    else:
        yield RawRow(origin, value)


def rows_within(value: object, path: str, origin: Origin, whole_file: bool = False) -> Iterator[RawRow]:
    """The rows to which a path leads inside a value, numbered where the value is the whole file."""
    records = records_at(value, path)
    if isinstance(records, str):
        yield RawRow(origin, problem=records, reason="`rows` leads to nothing")
        return
    for number, record in enumerate(records, 1):
        yield RawRow(Origin(origin.file, number) if whole_file else origin, record)


class _RefusedError(ValueError):
    pass


def _refuse(_: str) -> NoReturn:
    raise _RefusedError("holds NaN or Infinity, which is not JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _RefusedError("has a field twice")
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse)
