"""Turns a database's complaint into a message that says what is wrong, where, and what to do."""

from __future__ import annotations

import sqlite3
from typing import Any

from medjury.store.ratings._store.database import Database, holders
from medjury.store.ratings._store.rights import cure
from medjury.store.ratings._store.store_error import (
    StoreError,
    StoreFull,
    StoreLocked,
    StoreStopped,
    StoreUnreachable,
    ValueRefused,
)

_SQLITE_PRIMARY_CODE = 0xFF
_WHO_HOLDS_IT = (
    "To see who: SELECT application_name, pid FROM pg_stat_activity JOIN pg_locks USING (pid) "
    "WHERE locktype = 'advisory'."
)


def explain(error: Exception, database: Database) -> StoreError:
    """The `StoreError` for a DBAPI error. The database's own words are kept only where they hold no data."""
    if isinstance(error, sqlite3.Error):
        return _explain_sqlite(error, database)
    return _explain_postgres(error, database)


def is_broken(connection: Any) -> bool:
    """True where the server hung up, so that a new connection may do."""
    return bool(getattr(connection, "broken", False) or getattr(connection, "closed", False))


def _explain_sqlite(error: sqlite3.Error, database: Database) -> StoreError:
    place = database.place
    code = getattr(error, "sqlite_errorcode", 0) & _SQLITE_PRIMARY_CODE
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        who = holders(database.path) if database.path else []
        held = f"It is open in {', '.join(who)}." if who else "No other process that we can see has it open."
        return StoreLocked(
            f"{place} is locked: another program has been writing to it for more than "
            f"{database.wait_seconds:g} s. {held} Close that program, or wait for it, and run again: "
            "everything stored so far is kept."
        )
    if code == sqlite3.SQLITE_FULL:
        return StoreFull(
            f"{place}: there is no room left on this disk. Nothing was half-written. Free some space and run "
            "again: it goes on from where it stopped."
        )
    if code == sqlite3.SQLITE_NOTADB:
        return StoreError(f"{place} is not a store: it is some other kind of file. It was left as it is.")
    if code == sqlite3.SQLITE_CORRUPT:
        return StoreError(
            f"{place} is damaged ({error}). Restore it from a copy, or save what is left with the sqlite3 "
            "program's .recover."
        )
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return StoreError(
            f"{place} cannot be opened for writing ({error}). Check the rights on the file and its folder."
        )
    if code == sqlite3.SQLITE_IOERR:
        return StoreStopped(
            f"{place}: the disk failed ({error}). Check its free space, its quota and, on a network drive, "
            "its connection, and run again. Nothing was half-written."
        )
    if isinstance(error, sqlite3.IntegrityError | sqlite3.DataError | sqlite3.ProgrammingError):
        return ValueRefused(f"{place}: {error}")
    return StoreError(f"{place}: {error}")


def _explain_postgres(error: Exception, database: Database) -> StoreError:
    place = database.place
    state = getattr(error, "sqlstate", None) or ""
    # Only the first line: the second may quote a row, and a row may hold clinical text.
    words = (str(error).splitlines() or [""])[0]
    if state == "55P03":
        return StoreLocked(
            f"{place} is locked: another program has been writing to it for more than "
            f"{database.wait_seconds:g} s. {_WHO_HOLDS_IT} Wait for it and run again: everything stored so "
            "far is kept."
        )
    if state == "53100":
        return StoreFull(
            f"{place}: the database server has no room left. Nothing was half-written. Free some space and "
            "run again: it goes on from where it stopped."
        )
    if state.startswith("28") or state == "3D000":
        return StoreError(f"{place} refuses us: {words}. Check user, password and database name.")
    if state == "42501":
        return StoreError(f"{place}: {words}. {cure(words, database)}")
    unreachable = not state and any(each.__name__ == "OperationalError" for each in type(error).__mro__)
    if unreachable or state.startswith(("08", "57")):
        return StoreUnreachable(
            f"{place} cannot be reached: {words}. Check that the server runs and the address is right, then "
            "run again: everything stored so far is kept."
        )
    # Data that do not fit, a broken constraint, an index entry that is too long.
    refused = state.startswith(("22", "23", "54"))
    return (ValueRefused if refused else StoreError)(f"{place}: {words} ({state or type(error).__name__})")
