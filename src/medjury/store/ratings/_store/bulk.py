"""Many rows at once: PostgreSQL's COPY, and one prepared statement for SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def add_rows(
    cursor: Any, dialect: str, table: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> None:
    """Append rows that are known to be new, inside the caller's transaction."""
    names = ", ".join(columns)
    if dialect == "sqlite":
        marks = ", ".join("?" * len(columns))
        cursor.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", rows)  # noqa: S608 - our own names
        return
    with cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)
