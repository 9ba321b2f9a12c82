"""Copies a store into another, of either kind: every row under its key, compared on both sides at the end.

Both are read in the order of their keys, side by side. So a copy that was stopped goes on with the rows that are
missing, and a target that holds anything else is found before a row is written.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from medjury.store.ratings._drain import undrained
from medjury.store.ratings._store.partitions import PARTITIONED, first_runs, note_all_uses, place_or_find
from medjury.store.ratings._store.statements import RATING_COLUMNS
from medjury.store.ratings._store.store import Store, refuse_while_at_work
from medjury.store.ratings._store.store_error import StoreError
from medjury.store.ratings._store.transaction import Transaction, add_rows

_ROWS_AT_ONCE = 5_000
# Columns, and how many of the first of them are the key.
_TABLES: dict[str, tuple[tuple[str, ...], int]] = {
    "runs": (("run", "manifest", "created_at"), 1),
    "members": (("run", "key"), 2),
    "replies": (
        ("key", "text", "finish", "tokens_in", "tokens_out", "tokens_cached", "seconds", "model", "cost", "run",
         "created_at", "tokens_written", "token"),
        1,
    ),
    "ratings": (("sequence", *RATING_COLUMNS, "attempt"), 1),
    "records": (("sequence", "key", "item", "system", "rater", "repeat", "body", "created_at"), 1),
    "questions": (("unit", "name", "reply", "failure", "read_as"), 2),
    "batch_jobs": (("job", "endpoint", "log", "created_at", "provider_id"), 1),
    "batch_calls": (("job", "key", "announced", "perhaps"), 2),
    "erasures": (("number", "entry"), 1),
    "secrets": (("name", "value"), 1),
}  # fmt: skip
_SEQUENCES = ("ratings", "records")


def copy_store(source: Store, target: Store) -> dict[str, tuple[int, int, str]]:
    """Copy everything but who is at work: by table the rows on both sides, those that this copy wrote, and the hash
    of what both hold. Refuses a target with other data, and an end at which the two differ."""
    if source.place == target.place:
        raise StoreError(f"{source.place}: this is the same store twice; name another one to copy to")
    for store in (source, target):
        refuse_while_at_work(store, "Nothing was copied.")
    if lines := undrained(source):
        raise StoreError(
            f"{source.place}: holds {lines:,} lines about requests of a run on a cluster that was stopped, which "
            "its run folder does not have yet. Nothing was copied. Let that run go on first."
        )
    for table in _TABLES:
        for _ in _missing(source, target, table):  # refuses before anything is written
            pass
    written = {table: _copy(source, target, table) for table in _TABLES}
    target.in_transaction(lambda transaction: _go_on_counting(transaction.cursor, transaction.dialect))
    copied = {}
    for table in _TABLES:
        ours, theirs = _content(source, table), _content(target, table)
        if ours != theirs:
            raise StoreError(
                f"{target.place}: after the copy its {table} are not those of {source.place} ({theirs[0]:,} rows "
                f"there, {ours[0]:,} here). Was one of them written meanwhile? Give the same command again."
            )
        copied[table] = (ours[0], written[table], ours[1])
    return copied


def _rows(store: Store, table: str) -> Iterator[tuple[Any, ...]]:
    columns, keys = _TABLES[table]
    statement = f"SELECT {', '.join(columns)} FROM {table} ORDER BY {', '.join(columns[:keys])}"  # noqa: S608
    for rows in store.stream(statement):
        yield from map(tuple, rows)


def _missing(source: Store, target: Store, table: str) -> Iterator[tuple[Any, ...]]:
    """The rows of the source that the target lacks. The target's own rows must all be the source's."""
    keys = _TABLES[table][1]
    there = _rows(target, table)
    waiting = next(there, None)
    for row in _rows(source, table):
        if waiting is None or row[:keys] < waiting[:keys]:
            yield row
        elif row == waiting:
            waiting = next(there, None)
        else:
            break
    if waiting is not None:
        raise StoreError(
            f"{target.place} holds {table} that are not in {source.place}; nothing of them was changed. Copy to a "
            "store that is new, or to one that an earlier copy of the same store began."
        )


def _copy(source: Store, target: Store, table: str) -> int:
    block: list[tuple[Any, ...]] = []
    count = 0
    for row in _missing(source, target, table):
        block.append(row)
        if len(block) == _ROWS_AT_ONCE:
            count += _write(target, table, block)
            block = []
    return count + _write(target, table, block)


def _write(target: Store, table: str, block: list[tuple[Any, ...]]) -> int:
    if block:
        target.in_transaction(lambda each: _add(each, table, block))
    return len(block)


def _add(transaction: Transaction, table: str, block: list[tuple[Any, ...]]) -> None:
    columns, cursor = _TABLES[table][0], transaction.cursor
    if transaction.dialect == "postgresql" and table in PARTITIONED:
        key = columns.index("key")
        if table == "replies":
            run = columns.index("run")
            parts = place_or_find(cursor, "reply", {row[key]: row[run] for row in block})
        else:
            parts = place_or_find(cursor, "unit", first_runs(cursor, {row[key] for row in block}))
        columns, block = (*columns, "part"), [(*row, parts[row[key]]) for row in block]
    add_rows(cursor, transaction.dialect, table, columns, block)


def _go_on_counting(cursor: Any, dialect: str) -> None:
    """Rows that PostgreSQL numbers itself come after those that brought their numbers; runs are read from the parts
    in which their rows now lie."""
    if dialect == "postgresql":
        note_all_uses(cursor)
    for table in _SEQUENCES if dialect == "postgresql" else ():
        cursor.execute(
            f"SELECT setval(pg_get_serial_sequence('{table}', 'sequence'), max(sequence)) FROM {table}"  # noqa: S608
        )


def _content(store: Store, table: str) -> tuple[int, str]:
    digest, count = hashlib.sha256(), 0
    for row in _rows(store, table):
        digest.update(repr(row).encode("utf-8", "surrogatepass"))
        count += 1
    return count, digest.hexdigest()
