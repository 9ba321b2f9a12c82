"""Opens the database a store lies in: an SQLite file or a PostgreSQL database, set up the same way."""

from __future__ import annotations

import os
import platform
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medjury.foundation.files import create_private
from medjury.store.ratings._store.schema import refuse_foreign, table_names
from medjury.store.ratings._store.store_error import StoreError

# Our writers take turns in PostgreSQL as they do in SQLite. Any number will do, if all use the same.
_WRITERS_TURN = 0x6D65646A757279
POSTGRES_SCHEMA = "medjury"


@dataclass(frozen=True, slots=True)
class Database:
    """How to reach a store. `place` names it in messages and never holds a password. `connect` makes a connection
    of the driver's own kind, which begins and commits only on demand; `error` is what the driver raises. A
    server knows the database by its `name` and us by a `role`."""

    dialect: str
    place: str
    path: Path | None
    wait_seconds: float
    connect: Callable[[], Any]
    error: type[Exception]
    name: str = ""
    role: str = ""

    def begin(self, cursor: Any, write: bool) -> None:
        if self.dialect == "sqlite":
            cursor.execute("BEGIN IMMEDIATE" if write else "BEGIN")
        elif write:
            cursor.execute(f"BEGIN; SELECT pg_advisory_xact_lock({_WRITERS_TURN})")
        else:
            cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")


def locate(url_or_path: str | os.PathLike[str], *, create: bool, wait_seconds: float) -> Database:
    """The database named by a path, `sqlite:///PATH` or `postgresql://USER@HOST/DATABASE`."""
    text = os.fspath(url_or_path)
    scheme = text.partition("://")[0].lower() if "://" in text else ""
    if scheme in ("", "sqlite"):
        path = Path(text if not scheme else text.partition("://")[2].removeprefix("/"))
        return _sqlite(path, create, wait_seconds)
    if scheme in ("postgresql", "postgres", "postgresql+psycopg"):
        return _postgres(text, wait_seconds)
    raise StoreError(
        f"a store cannot be kept in {scheme}://; give a file path, sqlite:///PATH or postgresql://USER@HOST/DATABASE"
    )


def _sqlite(path: Path, create: bool, wait_seconds: float) -> Database:
    if str(path) in ("", ".", ":memory:"):
        raise StoreError("a store is kept in a file: give its path, for example ratings.sqlite")
    if path.is_dir():
        raise StoreError(f"{path} is a folder; name the store's file, for example {path}/ratings.sqlite")
    if not path.parent.is_dir():
        todo = "create it first" if create else "check the path of the store"
        raise StoreError(f"{path}: the folder {path.parent} does not exist; {todo}")
    if path.exists():
        _refuse_other_files(path, create)
    elif not create:
        raise StoreError(f"{path} does not exist; name a store that a run or an import has written")
    else:
        _create(path)

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(
            path, timeout=wait_seconds, check_same_thread=False, isolation_level=None
        )
        try:
            _prepare_sqlite(connection, path)
        except BaseException:
            connection.close()
            raise
        return connection

    return Database("sqlite", str(path), path, wait_seconds, connect, sqlite3.Error)


def _prepare_sqlite(connection: sqlite3.Connection, path: Path) -> None:
    cursor = connection.cursor()
    if cursor.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        refuse_foreign(table_names(cursor, "sqlite"), str(path))  # before anything is changed
        mode = cursor.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            raise StoreError(
                f"{path}: this file system cannot share a store between processes (SQLite stays in "
                f"{mode} mode). Keep the store on a local disk, or use PostgreSQL."
            )
    # FULL: a reply that was paid for survives a power cut too. Batching makes it cheap: see StoreDesk.
    cursor.execute("PRAGMA synchronous = FULL")
    # The log is put back into the file after 32 MB, not after 4: each time every writer waits.
    cursor.execute("PRAGMA wal_autocheckpoint = 8000")
    # Keys land all over the index. For 60,000 cases 12 MB are as quick as 32, and a run stays small.
    cursor.execute("PRAGMA cache_size = -12288")
    cursor.execute("PRAGMA temp_store = MEMORY")  # no clinical text in temporary files
    cursor.close()


def _create(path: Path) -> None:
    """An empty file that nobody but its owner can read: the store will hold what clinicians and models wrote."""
    try:
        create_private(path)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be created: {error.strerror}. Check the rights on the folder and its free space."
        ) from error


def _refuse_other_files(path: Path, create: bool) -> None:
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}") from error
    if start and start != b"SQLite format 3\x00":
        raise StoreError(
            f"{path} is not a store but some other kind of file. It was left as it is; name the .sqlite "
            "file that a run or an import has written."
        )
    if start:
        return
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise StoreError(
            f"{path} is empty, but was not before. Put it back from a copy. It was left as it is."
        )
    if not create:
        raise StoreError(f"{path} is empty; name a store that a run or an import has written")


def is_empty_file(url_or_path: str) -> bool:
    """True where a store's file is there and holds nothing: it is new, or what it held is lost."""
    scheme, _, rest = url_or_path.rpartition("://")
    path = Path(rest.removeprefix("/") if scheme else rest)
    return scheme in ("", "sqlite") and path.is_file() and not path.stat().st_size


def _postgres(text: str, wait_seconds: float) -> Database:
    from sqlalchemy import create_engine, make_url
    from sqlalchemy.exc import ArgumentError, DBAPIError
    from sqlalchemy.pool import NullPool

    try:
        url = make_url(text).set(drivername="postgresql+psycopg")
    except (ArgumentError, ValueError) as error:
        raise StoreError("the store's address is not of the form postgresql://USER@HOST/DATABASE") from error
    # Without its options: a password may be among them.
    place = url.set(drivername="postgresql", query={}).render_as_string(hide_password=True)
    try:
        engine = create_engine(
            url,
            poolclass=NullPool,
            pool_reset_on_return=None,  # a server that is gone cannot roll back
            connect_args={
                "autocommit": True,
                "application_name": f"medjury, process {os.getpid()} on {platform.node()}",
                "connect_timeout": max(2, round(wait_seconds)),
            },
        )
    except ModuleNotFoundError as error:
        raise StoreError(
            f"{place}: a PostgreSQL store needs psycopg; install it with pip install 'medjury[postgres]'"
        ) from error

    def connect() -> Any:
        try:
            pooled = engine.raw_connection()
        except DBAPIError as error:
            raise error.orig or error from None
        connection: Any = pooled.driver_connection
        pooled.detach()  # it is ours alone from now on
        try:
            _prepare_postgres(connection, place, wait_seconds)
        except BaseException:
            connection.close()
            raise
        return connection

    raised = engine.dialect.loaded_dbapi.Error
    return Database(
        "postgresql", place, None, wait_seconds, connect, raised, url.database or "", url.username or ""
    )


def _prepare_postgres(connection: Any, place: str, wait_seconds: float) -> None:
    with connection.cursor() as cursor:
        encoding = cursor.execute("SHOW server_encoding").fetchone()[0]
        if encoding != "UTF8":
            raise StoreError(f"{place}: the database is encoded as {encoding}; a store needs UTF8")
        cursor.execute("SET client_encoding TO 'UTF8'")
        cursor.execute(f"SET lock_timeout TO {round(wait_seconds * 1000)}")
        cursor.execute(f"SET search_path TO {POSTGRES_SCHEMA}")


def create_schema(database: Database, cursor: Any) -> None:
    """PostgreSQL keeps our tables apart from others in the same database."""
    if database.dialect == "postgresql":
        # Asked first, because a user who may not create schemas may still use one that is there.
        cursor.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (POSTGRES_SCHEMA,))
        if cursor.fetchone() is None:
            cursor.execute(f"CREATE SCHEMA {POSTGRES_SCHEMA}")


def holders(path: Path) -> list[str]:
    """The processes that have the file open, as far as this system tells (Linux does)."""
    files = {str(Path(f"{path.resolve()}{suffix}")) for suffix in ("", "-wal", "-shm")}
    found: list[str] = []
    for process in Path("/proc").glob("[0-9]*"):
        if process.name == str(os.getpid()):
            continue
        with suppress(OSError):
            if any(str(link.readlink()) in files for link in (process / "fd").iterdir()):
                name = (process / "comm").read_text(encoding="utf-8", errors="replace").strip()
                found.append(f"process {process.name} ({name})")
    return sorted(found)
