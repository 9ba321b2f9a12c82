"""Runs queries on a database that it may only read: a program of its own, which can be killed.

It imports nothing of Medjury, reads one JSON object from its input and writes one line of JSON for each query.
Every guard stands behind another: the file is opened read-only and immutable, the authorizer allows selecting,
reading the database's own tables and harmless functions, SQLite's limits and heap are small, a progress handler
stops what takes long, and the machine's limits end what none of these sees.
"""

from __future__ import annotations

import json
import re
import sqlite3
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

MEMORY = 512 * 1024 * 1024  # bytes of the whole process
HEAP = 192 * 1024 * 1024  # of SQLite
TIMES = ("date", "time", "datetime", "julianday", "strftime", "unixepoch", "timediff")
# Whether a query can ask for the day: by the word, or by a function that is given none.
NOW = re.compile(r"now|current_|subsec|\(\s*\)|strftime\s*\([^,()]*\)", re.IGNORECASE)
ROWS, SIGNS = 10_000, 5_000_000  # of one result
LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 2_000_000,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 500,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 500,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 50,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 500,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
FUNCTIONS = frozenset([
    "abs", "avg", "cast", "ceil", "ceiling", "char", "coalesce", "concat", "concat_ws", "count",
    "cume_dist", "current_date", "current_time", "current_timestamp", "date", "datetime", "dense_rank",
    "exp", "first_value", "floor", "format", "glob", "group_concat", "hex", "ifnull", "iif", "instr",
    "json_array_length", "json_extract", "json_type", "json_valid", "julianday", "lag", "last_value",
    "lead", "length", "like", "ln", "log", "log10", "log2", "lower", "ltrim", "max", "median", "min", "mod",
    "nth_value", "ntile", "nullif", "percent_rank", "pow", "power", "printf", "quote", "rank", "replace",
    "round", "row_number", "rtrim", "sign", "sqrt", "strftime", "string_agg", "substr", "substring", "sum",
    "time", "timediff", "total", "trim", "trunc", "typeof", "unicode", "unixepoch", "upper",
])  # fmt: skip


def authorizer(tables: frozenset[str], closed: frozenset[str]) -> Callable[..., int]:
    """Allows selecting from the tables and harmless functions, and nothing else.

    Counting the rows of a query's own WITH part asks for leave to read a table of that name and no column: that is
    granted for every name that is not one of the `closed` ones.
    """

    def allowed(
        action: int, first: str | None, second: str | None, database: str | None, trigger: str | None
    ) -> int:
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        name = (first or "").lower()
        if action == sqlite3.SQLITE_READ:
            own = not second and name not in closed and not name.startswith(("sqlite_", "pragma_"))
            known = database in (None, "main") and name in tables
            return sqlite3.SQLITE_OK if known or own else sqlite3.SQLITE_DENY
        if action == sqlite3.SQLITE_FUNCTION:
            return sqlite3.SQLITE_OK if (second or "").lower() in FUNCTIONS else sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_DENY

    return allowed


def names_within(connection: sqlite3.Connection) -> tuple[frozenset[str], frozenset[str]]:
    """The ordinary tables and views of the database; and the names that stay closed: virtual tables, those in which
    they keep their content, and the tables that SQLite itself makes up."""
    rows = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'view')"
    ).fetchall()
    virtual = tuple(name.lower() for name, sql in rows if "VIRTUAL TABLE" in (sql or "").upper())
    shadows = tuple(f"{name}_" for name in virtual)
    names = frozenset(name.lower() for name, _ in rows)
    closed = frozenset(name for name in names if name in virtual or name.startswith(shadows))
    modules = frozenset(
        str(name).lower() for (name,) in connection.execute("SELECT name FROM pragma_module_list")
    )
    return names - closed, closed | modules


def fix_instant(connection: sqlite3.Connection, now: str, *, clock: bool) -> None:
    """Let every function of the day see `now`. SQLite's own do the work, in a database that holds nothing; `clock`
    says that CURRENT_TIME is the time alone, as ever: a benchmark that fixes the day means day and time by it."""
    whole = now[:19]
    keywords = {"timestamp": whole, "date": now[:10], "time": now[11:19] if clock else whole}
    for word, part in keywords.items():
        connection.create_function(f"current_{word}", 0, lambda part=part: part)
    plain = sqlite3.connect(":memory:")

    def seen(name: str, *given: Any) -> Any:
        place = 1 if name == "strftime" else 0
        words = list(given)
        if len(words) == place or str(words[place]).lower() in ("subsec", "subsecond"):
            words.insert(place, now)
        words = [now if isinstance(each, str) and each.strip().lower() == "now" else each for each in words]
        return plain.execute(f"SELECT {name}({', '.join('?' * len(words))})", words).fetchone()[0]

    known = {name for (name,) in plain.execute("SELECT name FROM pragma_function_list")}
    for name in known.intersection(TIMES):
        connection.create_function(name, -1, partial(seen, name), deterministic=True)


def opened(address: str, now: str, *, clock: bool = False, query: str = "") -> sqlite3.Connection:
    """The database behind all of its guards."""
    connection = sqlite3.connect(address, uri=True, isolation_level=None, cached_statements=0)
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute(f"PRAGMA hard_heap_limit = {HEAP}")
    connection.execute("PRAGMA query_only = ON")
    tables, closed = names_within(connection)
    if NOW.search(query):  # others keep SQLite's own functions, which are faster
        fix_instant(connection, now, clock=clock)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    for limit, value in LIMITS.items():
        connection.setlimit(limit, value)
    connection.set_authorizer(authorizer(tables, closed))
    return connection


def run_one(connection: sqlite3.Connection, query: str, seconds: float) -> dict[str, Any]:
    """The rows of a query, or in one word why there are none."""
    # Processor time: on a busy machine a right answer must not become a slow one.
    until = time.process_time() + seconds
    connection.set_progress_handler(lambda: int(time.process_time() > until), 1_000)
    rows: list[list[Any]] = []
    signs = 0
    try:
        for row in connection.execute(query):
            rows.append([value.hex() if isinstance(value, bytes) else value for value in row])
            signs += sum(len(value) if isinstance(value, str | bytes) else 8 for value in row)
            if len(rows) > ROWS or signs > SIGNS:
                return {"failed": "too much"}
            if time.process_time() > until:
                return {"failed": "too slow"}
    except MemoryError:
        return {"failed": "too much"}
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as error:
        return {"failed": why(str(error))}
    return {"rows": rows}


def why(message: str) -> str:
    """The kind of a failure, without the words of the query: they may be a patient's."""
    text = message.lower()
    kinds = {
        "interrupted": "too slow", "too big": "too much", "out of memory": "too much",
        "not authorized": "not allowed", "prohibited": "not allowed", "readonly": "not allowed",
        "one statement at a time": "several statements",
        "no such column": "no such column", "no such table": "no such table",
        "no such function": "no such function", "syntax error": "syntax error", "incomplete input": "syntax error",
        "unrecognized token": "syntax error",
    }  # fmt: skip
    return next((kind for sign, kind in kinds.items() if sign in text), "it does not run")


def bounded(seconds: float) -> None:
    """Limits of the machine itself, where it has them: memory, processor time, no files."""
    try:
        import resource
    except ImportError:
        return
    for name, most in (
        ("RLIMIT_AS", MEMORY),
        ("RLIMIT_CPU", int(seconds) + 1),
        ("RLIMIT_FSIZE", 0),
        ("RLIMIT_CORE", 0),
    ):
        kind = getattr(resource, name, None)
        if kind is not None:
            hard = resource.getrlimit(kind)[1]
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (most, most))


def main() -> None:
    task = json.load(sys.stdin)
    bounded(task["seconds"] * len(task["queries"]))
    for query in task["queries"]:
        connection = opened(task["address"], task["now"], clock=task.get("clock", False), query=query)
        print(json.dumps(run_one(connection, query, task["seconds"])), flush=True)
        connection.close()


if __name__ == "__main__":
    main()
