"""The connection to a store's database: one transaction at a time, and patience with a server that goes away."""

from __future__ import annotations

import logging
import re
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any, TypeVar

from medjury.store.ratings._store.database import POSTGRES_SCHEMA, Database, holders
from medjury.store.ratings._store.store_error import (
    StoreError,
    StoreFull,
    StoreLocked,
    StoreStopped,
    StoreUnreachable,
    ValueRefused,
)

_DENIED = re.compile(r"permission denied for (\w+) (\S+)")
_OWNER = "Ask the owner of the database to run:"


def refuse_without_rights(database: Database, cursor: Any) -> None:
    """PostgreSQL passes in silence over a schema that a role may not use, and then says that there is none."""
    if database.dialect != "postgresql":
        return
    cursor.execute(
        "SELECT has_schema_privilege(oid, 'USAGE'), has_schema_privilege(oid, 'CREATE') OR EXISTS (SELECT 1 "
        "FROM pg_tables WHERE schemaname = nspname AND tablename = 'schema_version') "
        "FROM pg_namespace WHERE nspname = %s",
        (POSTGRES_SCHEMA,),
    )
    found = cursor.fetchone()
    if found is None:
        cursor.execute("SELECT has_database_privilege(current_database(), 'CREATE')")
        if not cursor.fetchone()[0]:
            name = database.name
            raise StoreError(
                f"{database.place}: the role {_role(database)} lacks the right CREATE on the database {name}, "
                f"and there is no schema {POSTGRES_SCHEMA} yet. "
                f"{cure(f'permission denied for database {name}', database)}"
            )
    elif not all(found):
        lacks = "USAGE" if not found[0] else "CREATE"
        raise StoreError(
            f"{database.place}: the role {_role(database)} lacks the right {lacks} on the schema "
            f"{POSTGRES_SCHEMA}. {cure('', database)}"
        )


def cure(words: str, database: Database) -> str:
    """The GRANT that gives what PostgreSQL says is missing."""
    role = _role(database)
    if "must be owner" in words:
        return "Only the owner of the tables may do this: run the command again as that role."
    found = _DENIED.search(words)
    kind, name = found.groups() if found else ("", "")
    if kind == "database":
        return f"{_OWNER} CREATE SCHEMA {POSTGRES_SCHEMA} AUTHORIZATION {role};"
    tables = f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {POSTGRES_SCHEMA} TO {role};"
    schema = f"GRANT USAGE, CREATE ON SCHEMA {POSTGRES_SCHEMA} TO {role};"
    if kind in ("table", "relation", "sequence"):
        lacks = f"The role {role} lacks rights on the {kind} {name} of the schema {POSTGRES_SCHEMA}."
        return f"{lacks} {_OWNER} {tables}"
    return f"{_OWNER} {schema} {tables}"


def _role(database: Database) -> str:
    return '"' + (database.role or "the role that connects").replace('"', '""') + '"'


# Turns a database's complaint into a message that says what is wrong, where, and what to do.

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


_Result = TypeVar("_Result")
_ROWS_AT_ONCE = 2_000
_FIRST_WAIT, _LONGEST_WAIT = 0.1, 2.0  # seconds between attempts to reach a server that went away
_LOG = logging.getLogger("medjury")


class Connection:
    """Threads take turns. A lost connection is made anew; a server that is gone is tried for a stated time."""

    def __init__(self, database: Database, reconnect_seconds: float = 0.0) -> None:
        self._database = database
        self._reconnect_seconds = reconnect_seconds
        self._lost_at: float | None = None  # when the server was last found gone, until it answers again
        self._lock = threading.Lock()
        self.open: Any = None  # the driver's, where there is one
        self._error = database.error
        self._closed = False
        self._close_open: weakref.finalize[Any, Any] | None = None

    def patiently(self, work: Callable[[Any], _Result], *, write: bool) -> _Result:
        """Do it in a transaction; where the server went away, again as soon as it is back, for a stated time. A
        lost connection alone is made anew at once. After that time each attempt is the last."""

        def attempt() -> _Result:
            with self.transaction(write) as cursor:
                return work(cursor)

        return self._until_back(attempt)

    @contextmanager
    def transaction(self, write: bool) -> Iterator[Any]:
        """A cursor within a transaction, which ends with the block."""
        with self._lock:
            try:
                self._connect()
                cursor = self.open.cursor()
                try:
                    self._database.begin(cursor, write)
                    yield cursor
                    cursor.execute("COMMIT")
                except BaseException:
                    with suppress(self._error):
                        cursor.execute("ROLLBACK")
                    raise
                finally:
                    cursor.close()
            except self._error as error:
                lost = self.open is not None and is_broken(self.open)
                if lost:
                    self._disconnect()
                explained = explain(error, self._database)
                if lost and not isinstance(explained, StoreUnreachable):
                    explained = StoreUnreachable(str(explained))
                raise explained from error

    def outside_transactions(self, work: Callable[[Any], _Result]) -> _Result:
        """Do what no transaction may hold, or what begins its own; it is not repeated."""
        with self._lock:
            try:
                self._connect()
                with closing(self.open.cursor()) as cursor:
                    return work(cursor)
            except self._error as error:
                raise explain(error, self._database) from error

    @contextmanager
    def waiting(self, seconds: float | None) -> Iterator[None]:
        """While it lasts, another writer of an SQLite file is waited for no longer than this."""
        if seconds is None:
            yield
            return
        ordinary = self._database.wait_seconds
        self.outside_transactions(
            lambda cursor: cursor.execute(f"PRAGMA busy_timeout = {seconds * 1000:.0f}")
        )
        try:
            yield
        finally:
            self.outside_transactions(
                lambda cursor: cursor.execute(f"PRAGMA busy_timeout = {ordinary * 1000:.0f}")
            )

    def blocks(self, statement: str, values: Callable[[Any], Any]) -> Iterator[list[tuple[Any, ...]]]:
        """Blocks of rows on a connection of their own, so that writers need not wait for a slow reader. With a
        cursor of it `values` are read."""
        postgres = self._database.dialect == "postgresql"
        try:
            with closing(self._until_back(self._raw)) as connection:
                plain = connection.cursor()
                self._database.begin(plain, write=False)
                # A named cursor makes PostgreSQL hand out rows as they are asked for.
                cursor = connection.cursor(name="ratings") if postgres else plain
                try:
                    cursor.execute(statement, values(plain))
                    while rows := cursor.fetchmany(_ROWS_AT_ONCE):
                        yield rows
                finally:  # a reader may stop halfway
                    with suppress(self._error):
                        cursor.close()
        except self._error as error:
            raise explain(error, self._database) from error

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._disconnect()

    def _until_back(self, attempt: Callable[[], _Result]) -> _Result:
        wait, again = _FIRST_WAIT, True
        while True:
            try:
                done = attempt()
            except StoreUnreachable as gone:
                now = time.monotonic()
                self._lost_at = now if self._lost_at is None else self._lost_at
                left = self._lost_at + self._reconnect_seconds - now
                if not again and left <= 0:
                    raise self._given_up(gone) from gone
                if not again:
                    if wait == _FIRST_WAIT:
                        _LOG.warning("%s Calls wait; it is tried for %.0f s more.", gone, left)
                    time.sleep(min(wait, left))
                    wait = min(2 * wait, _LONGEST_WAIT)
                again = False
            else:
                self._lost_at = None
                return done

    def _given_up(self, gone: StoreUnreachable) -> StoreUnreachable:
        tried = f" It was tried for {self._reconnect_seconds:g} s." if self._reconnect_seconds else ""
        return StoreUnreachable(f"{gone}{tried}")

    def _raw(self) -> Any:
        if self._closed:
            raise StoreError(f"{self._database.place}: this store is closed")
        try:
            return self._database.connect()
        except self._error as error:
            raise explain(error, self._database) from error

    def _connect(self) -> None:
        if self.open is None:
            self.open = self._raw()
            # A store that is dropped without `close` does not leave the connection to the garbage collector.
            self._close_open = weakref.finalize(self, self.open.close)

    def _disconnect(self) -> None:
        if self._close_open is not None:
            with suppress(Exception):
                self._close_open()
        self.open = self._close_open = None
