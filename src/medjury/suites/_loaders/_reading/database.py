"""Whether a SQLite file can be used: it is whole, and has the tables that its description names."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

_TABLE = re.compile(r"CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?[\"`\[]?(\w+)", re.IGNORECASE)


def database_problem(path: Path, schema: str) -> str:
    """What is wrong with the database, or nothing. It is opened for reading alone, and no journal is made."""
    try:
        address = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
        with closing(sqlite3.connect(address, uri=True)) as connection:
            found = connection.execute("PRAGMA quick_check(1)").fetchone()
            rows = connection.execute(
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
            ).fetchall()
    except (sqlite3.Error, ValueError):
        return f"{path.name}: is no SQLite database, or it is damaged"
    if found != ("ok",):
        return f"{path.name}: is damaged"
    wanted = {name.lower() for name in _TABLE.findall(schema)}
    missing = sorted(wanted - {str(name).lower() for (name,) in rows})
    if not wanted or missing:
        return f"{path.name}: has no table {', '.join(missing) or 'that eicu.sql describes'}"
    return ""
