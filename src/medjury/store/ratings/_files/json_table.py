"""Tables from JSON: a list of objects, one object per line, columns and data, rows deep within a document, or the
samples of a log of Inspect."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from medjury.foundation import limits
from medjury.foundation.errors import MedjuryError
from medjury.foundation.nested import lists_within, records_at
from medjury.intake.cases import EvalLog, EvalLogError, as_log, is_log, read_eval_log
from medjury.store.ratings._files.nested_columns import paths_into, value_in
from medjury.store.ratings._files.problems import RatingsError
from medjury.store.ratings._files.reading import Reading, Rows
from medjury.store.ratings._files.text_table import ending, open_text


def read_json_table(path: Path, reading: Reading) -> Rows:
    """The rows of a JSON file. Row 1 is the first object (there is no header line)."""
    read: Callable[[Path, Reading], Any] = _READERS.get(ending(path), _lines)
    whole = read(path, reading)
    rows = reading.rows or ("samples[]" if ending(path) == ".eval" else None)
    if rows is not None:
        try:
            led_to = records_at(whole, rows)
        except MedjuryError as error:
            raise RatingsError(f"{path}: {error}") from None
        if isinstance(led_to, str):
            raise RatingsError(f"{path}: {led_to}")
        records = list(enumerate(led_to, start=1))
    elif _is_table(whole):
        yield 0, list(map(str, whole["columns"]))
        yield from enumerate((list(row) for row in whole["data"]), start=1)
        return
    elif isinstance(whole, list):
        records = list(enumerate(whole, start=1))
    else:
        found = lists_within(whole)
        cure = f"; say where the rows are: `rows: {found[0]}` in the mapping" if found else ""
        more = f" (or {', '.join(found[1:4])})" if found[1:] else ""
        raise RatingsError(f"{path}: the file must hold a list of objects, one per row{cure}{more}")
    if ending(path) in (".jsonl", ".ndjson") and rows is None:
        records = [(number, record) for number, record in records if record is not _BLANK]
    header: dict[str, None] = {}
    for number, record in records:
        if not isinstance(record, dict):
            raise RatingsError(f"{path}, row {number}: not a JSON object")
        header.update(dict.fromkeys(record))
    extra = paths_into([record for _, record in records], header, reading)
    yield 0, [*header, *extra]
    for number, record in records:
        cells = [record.get(name) for name in header]
        yield number, cells + [value_in(path.name, number, record, each) for each in extra.values()]


_BLANK = object()  # a line with nothing in it


def _document(path: Path, reading: Reading) -> Any:
    with open_text(path, reading.encoding) as file:
        try:
            text = file.read()
            limits.check_depth(path, text)
            whole = json.loads(text, object_pairs_hook=_each_key_once)
        except json.JSONDecodeError as error:
            raise RatingsError(f"{path}, line {error.lineno}: not JSON: {error.msg}") from None
        except _KeyTwiceError as error:
            raise RatingsError(f"{path}: {error}") from None
    return _told(as_log(whole, path.name), reading) if is_log(whole) else whole


def _log(path: Path, reading: Reading) -> Any:
    try:
        return _told(read_eval_log(path), reading)
    except EvalLogError as error:
        raise RatingsError(str(error)) from None


def _told(log: EvalLog, reading: Reading) -> Any:
    """The document of a log of Inspect; what it says of itself is told, and what it withdrew is counted."""
    reading.told.extend(log.told)
    reading.left_out.update(log.left_out)
    return log.document


def _lines(path: Path, reading: Reading) -> list[Any]:
    records = []
    with open_text(path, reading.encoding) as file:
        for number, line in enumerate(file, start=1):
            limits.check_depth(f"{path}, line {number}", line)
            try:
                records.append(json.loads(line, object_pairs_hook=_each_key_once) if line.strip() else _BLANK)
            except json.JSONDecodeError as error:
                raise RatingsError(f"{path}, line {number}: not JSON: {error.msg}") from None
            except _KeyTwiceError as error:
                raise RatingsError(f"{path}, line {number}: {error}") from None
    return records if reading.rows is None else [each for each in records if each is not _BLANK]


_READERS: dict[str, Callable[[Path, Reading], Any]] = {".json": _document, ".eval": _log}


class _KeyTwiceError(ValueError):
    """An object says two things under one name."""


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _KeyTwiceError(f"the key {twice!r} appears twice in one object; keep the one that holds")
    return found


def _is_table(whole: Any) -> bool:
    """True for an object of `columns` and `data`, a row each, as data frames are written."""
    return (
        isinstance(whole, dict)
        and isinstance(columns := whole.get("columns"), list)
        and isinstance(data := whole.get("data"), list)
        and all(isinstance(row, list) and len(row) == len(columns) for row in data)
    )
