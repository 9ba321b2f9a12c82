"""Rows from JSON: a list, an object to a line, rows deep within a document, or the samples of a log of Inspect."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from medjury.foundation.errors import MedjuryError
from medjury.foundation.limits import TOO_DEEP, is_too_deep
from medjury.foundation.nested import records_at
from medjury.intake._files.inspect_log import EvalLog
from medjury.intake._files.reading import FileError, Reading, Row, Rows
from medjury.intake._files.text import byte_lines, ending, whole_text


@dataclass(frozen=True, slots=True)
class Parsed:
    """What the JSON holds; apart from a plain text, which is a complaint."""

    content: Any


def parse_json(data: bytes, *, nan: bool = False) -> Parsed | str:
    """The content, or what is wrong. Repeated keys are wrong, and so are NaN and Infinity unless `nan`: each hides
    a mistake."""
    try:
        text = data.decode("utf-8").rstrip()
    except UnicodeDecodeError:
        return "is not valid UTF-8; save the file as UTF-8"
    if is_too_deep(data):
        return TOO_DEEP
    try:
        return Parsed((_WITH_NAN if nan else _STRICT).decode(text))
    except _RefusedError as error:
        return str(error)
    except ValueError as error:
        if not isinstance(error, json.JSONDecodeError):
            return "is not valid JSON"
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        return f"is not valid JSON ({line}column {error.colno})"


def read_json(path: Path, reading: Reading) -> Rows:
    """The rows of a document: the elements of its list, those that `rows` leads to, or the one object."""
    parsed = parse_json(whole_text(path, reading), nan=not reading.by_row)
    if isinstance(parsed, str):
        yield Row(1, None, parsed, alone=True)
    elif (log := EvalLog.of(parsed.content, path.name)) is not None:
        yield from _samples(log, reading)
    elif reading.rows is not None:
        yield from _within(parsed.content, reading.rows, reading)
    elif isinstance(parsed.content, list):
        yield from (Row(number, each) for number, each in enumerate(parsed.content, 1))
    elif _is_table(parsed.content):
        columns = parsed.content["columns"]
        for number, cells in enumerate(parsed.content["data"], 1):
            yield Row(number, dict(zip(map(str, columns), cells, strict=True)))
    else:
        yield Row(1, parsed.content, alone=True)


def read_json_lines(path: Path, reading: Reading) -> Rows:
    """The rows of a file with one value to a line. Blank lines are no rows."""
    values: list[Any] = []
    for number, line in enumerate(byte_lines(path, reading), 1):
        if not line or line.isspace():
            continue
        parsed = parse_json(line, nan=not reading.by_row)
        if isinstance(parsed, str):
            yield Row(number, None, parsed)
        elif reading.rows is None:
            yield Row(number, parsed.content)
        elif reading.by_row:
            yield from (
                each._replace(number=number) for each in _within([parsed.content], reading.rows, reading)
            )
        else:
            values.append(parsed.content)
    if reading.rows is not None and not reading.by_row:
        yield from _within(values, reading.rows, reading)


def read_inspect_log(path: Path, reading: Reading) -> Rows:
    """The samples of a packed log."""
    yield from _samples(EvalLog.read(path), reading)


READERS_OF_JSON = {
    ".jsonl": read_json_lines,
    ".ndjson": read_json_lines,
    ".json": read_json,
    ".eval": read_inspect_log,
}


def is_json(path: Path) -> bool:
    """True for a file whose rows have no header: objects, each with names of its own."""
    return ending(path) in READERS_OF_JSON


def _samples(log: EvalLog, reading: Reading) -> Iterator[Row]:
    """The samples of a log, by what it states of how the run ended: nobody shall take a part for the whole."""
    reading.reported.extend(log.reported)
    reading.left_out.update(log.left_out)
    yield from _within(log.document, reading.rows or "samples[]", reading)


def _within(document: Any, path: str, reading: Reading) -> Iterator[Row]:
    """The rows to which a path leads."""
    try:
        records = records_at(document, path, reading.left_out)
    except MedjuryError as error:
        raise FileError(f"rows: {error}") from None
    if isinstance(records, str):
        yield Row(1, None, records, "`rows` finds nothing", alone=True)
    else:
        yield from (Row(number, record) for number, record in enumerate(records, 1))


def _is_table(whole: Any) -> bool:
    """True for an object of `columns` and `data`, a row each, as data frames are written."""
    return (
        isinstance(whole, dict)
        and isinstance(columns := whole.get("columns"), list)
        and isinstance(data := whole.get("data"), list)
        and len(set(map(str, columns))) == len(columns)
        and all(isinstance(row, list) and len(row) == len(columns) for row in data)
    )


class _RefusedError(ValueError):
    pass


def _refuse(_: str) -> NoReturn:
    raise _RefusedError("holds NaN or Infinity, which is not JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _RefusedError("has a field twice in one object; keep the right one")
    return found


_WITH_NAN = json.JSONDecoder(object_pairs_hook=_unique)
_STRICT = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse)
