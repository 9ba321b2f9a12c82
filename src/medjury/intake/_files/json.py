"""Rows from JSON: a list, an object to a line, rows deep within a document, or the samples of a log of Inspect."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from medjury.foundation.errors import MedjuryError
from medjury.foundation.limits import TOO_DEEP, is_too_deep
from medjury.foundation.nested import records_at
from medjury.intake._files.inspect_log import EvalLog
from medjury.intake._files.reading import FileError, Reading, Row, Rows
from medjury.intake._files.text import byte_lines, ending, whole_text


class JsonError(ValueError):
    """What is wrong with JSON; nothing of its content is in it."""


def parse_json(data: bytes, *, nan: bool = False) -> Any:
    """The content; a `JsonError` says what is wrong. Repeated keys are wrong, and so are NaN and Infinity unless
    `nan`: each hides a mistake."""
    try:
        text = data.decode("utf-8").rstrip()
    except UnicodeDecodeError:
        raise JsonError("is not valid UTF-8; save the file as UTF-8") from None
    if is_too_deep(data):
        raise JsonError(TOO_DEEP)
    try:
        return (_WITH_NAN if nan else _STRICT).decode(text)
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        raise JsonError(f"is not valid JSON ({line}column {error.colno})") from None
    except JsonError:
        raise
    except ValueError:
        raise JsonError("is not valid JSON") from None


def read_json(path: Path, reading: Reading) -> Rows:
    """The rows of a document: the elements of its list, those that `rows` leads to, or the one object."""
    try:
        content = parse_json(whole_text(path, reading), nan=not reading.by_row)
    except JsonError as error:
        yield Row(1, None, str(error), alone=True)
        return
    if (log := EvalLog.of(content, path.name)) is not None:
        yield from _samples(log, reading)
    elif reading.rows is not None:
        yield from _within(content, reading.rows, reading)
    elif isinstance(content, list):
        yield from (Row(number, each) for number, each in enumerate(content, 1))
    elif _is_table(content):
        for number, cells in enumerate(content["data"], 1):
            yield Row(number, dict(zip(map(str, content["columns"]), cells, strict=True)))
    else:
        yield Row(1, content, alone=True)


def read_json_lines(path: Path, reading: Reading) -> Rows:
    """The rows of a file with one value to a line. Blank lines are no rows."""
    values: list[Any] = []
    for number, line in enumerate(byte_lines(path, reading), 1):
        if not line or line.isspace():
            continue
        try:
            content = parse_json(line, nan=not reading.by_row)
        except JsonError as error:
            yield Row(number, None, str(error))
            continue
        if reading.rows is None:
            yield Row(number, content)
        elif reading.by_row:
            yield from (each._replace(number=number) for each in _within([content], reading.rows, reading))
        else:
            values.append(content)
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


def _refuse(_: str) -> NoReturn:
    raise JsonError("holds NaN or Infinity, which is not JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise JsonError("has a field twice in one object; keep the right one")
    return found


_WITH_NAN = json.JSONDecoder(object_pairs_hook=_unique)
_STRICT = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse)
