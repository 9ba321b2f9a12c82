"""Where the panel keeps people, assignments and answers: an SQLite file or a PostgreSQL database, set up alike.

The end of a transaction waits for the disk, and 50 ends wait 50 times. So of many who write at the same moment the
first does the work of all, one after the other, in one transaction, and nobody hears of it before that has ended.
Where one of them fails, nothing of the transaction is kept and each is done again alone: it is as if there had been
no others.
"""

from __future__ import annotations

import os
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import copy_context
from pathlib import Path
from threading import Condition, Lock
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as WaitedTooLong

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import create_private
from medjury.panel._tables import VERSION, metadata, version_table

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Engine


WAIT_SECONDS = 30
MOST = 25  # in one transaction, so that the first of many do not wait for the last


def _is_gone(error: BaseException) -> bool:
    """The database is out of reach: there is no use in asking once more for each."""
    return isinstance(error, WaitedTooLong) or (
        isinstance(error, DBAPIError) and error.connection_invalidated
    )


_CONNECT_SECONDS = 5  # a page says that the database is out of reach sooner than a reader gives up
_SCHEMA = "medjury_panel"
_T = TypeVar("_T")


class PanelDatabase:
    """One transaction at a time per `reading` or `writing` block: all of it, or nothing."""

    def __init__(self, engine: Engine, place: str) -> None:
        self.engine = engine
        self.place = place  # for messages; a password is not shown
        self._turn = Lock()
        self._changed = Condition()
        self._waiting: deque[tuple[Callable[[Connection], Any], Future[Any]]] = deque()
        self._is_writing = False

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection that only reads, and sees one state throughout."""
        with self.engine.connect() as connection:
            if self.engine.dialect.name == "sqlite":
                connection.exec_driver_sql("BEGIN")  # its end, when the connection goes back, ends this too
            else:
                connection.execution_options(isolation_level="REPEATABLE READ")
            yield connection

    def together(self, work: Callable[[Connection], _T]) -> _T:
        """What `work` does in a transaction that it may share with others who write at this moment; it returns once
        that has ended. It touches nothing but its connection, for it may be done again. It speaks the language
        of its own request, whoever does it."""
        own, done = copy_context(), Future[_T]()
        mine = (lambda connection: own.run(work, connection), done)
        with self._changed:
            self._waiting.append(mine)
        while not done.done():
            with self._changed:
                free = self._changed.wait_for(lambda: done.done() or not self._is_writing, WAIT_SECONDS)
                if not free and mine in self._waiting:
                    self._waiting.remove(mine)
                    raise WaitedTooLong
                if done.done() or not free:
                    continue
                self._is_writing = True
                batch = [self._waiting.popleft() for _ in range(min(MOST, len(self._waiting)))]
            try:
                self._write(batch)
            except BaseException as error:  # of the writing itself: whoever is in the batch learns of it
                for _, each in batch:
                    if not each.done():
                        each.set_exception(error)
            finally:
                with self._changed:
                    self._is_writing = False
                    self._changed.notify_all()
        return done.result()

    def _write(self, batch: Sequence[tuple[Callable[[Connection], Any], Future[Any]]]) -> None:
        values = []
        try:
            with self.writing() as connection:
                for work, _ in batch:
                    values.append(work(connection))
        except BaseException as error:
            if len(batch) > 1 and len(values) < len(batch) and not _is_gone(error):
                for each in batch:
                    self._write([each])
                return
            for _, done in batch:
                done.set_exception(error)
            return
        for (_, done), value in zip(batch, values, strict=True):
            done.set_result(value)

    @property
    def waiting(self) -> int:
        """How many wait for the next transaction of `together`."""
        return len(self._waiting)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A connection that holds the writer's turn from its first statement on: no one else writes between what it
        reads and what it writes."""
        if self.engine.dialect.name != "sqlite":
            with self.engine.connect() as connection, connection.begin():
                yield connection
            return
        with self._own_turn(), self.engine.connect() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.exec_driver_sql("ROLLBACK")
                raise
            connection.exec_driver_sql("COMMIT")

    @contextmanager
    def _own_turn(self) -> Iterator[None]:
        """SQLite lets a writer who waits ask again after longer and longer pauses; here the next one is woken."""
        if not self._turn.acquire(timeout=WAIT_SECONDS):
            raise WaitedTooLong
        try:
            yield
        finally:
            self._turn.release()

    def clear_free_space(self, tables: Sequence[str]) -> None:
        """Write the tables anew without the free space in which the bytes of deleted rows are, and in SQLite empty
        the log beside the file. An error says what is left where somebody reads it all the time."""
        if self.engine.dialect.name != "sqlite":
            with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                for name in tables:  # ANALYZE, because the planner keeps samples of what a column holds
                    connection.exec_driver_sql(f"VACUUM (FULL, ANALYZE) {name}")
                connection.exec_driver_sql("VACUUM FULL pg_catalog.pg_statistic")
            return
        with self._own_turn(), self.engine.connect() as connection:
            connection.exec_driver_sql("VACUUM")
            if connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()[0]:
                raise MedjuryError(
                    f"{self.place}: another program is reading it. The rows are erased, but their bytes are still "
                    "in its -wal file. Close that program and do the same again."
                )

    def close(self) -> None:
        self.engine.dispose()


def open_panel_database(url_or_path: str | os.PathLike[str]) -> PanelDatabase:
    """Open the panel's database, or make it: a path, or `postgresql://USER@HOST/NAME`."""
    text = os.fspath(url_or_path)
    if text.startswith(("postgresql://", "postgres://", "postgresql+psycopg://")):
        engine, place = _postgres(text)
    elif "://" in text:
        raise MedjuryError(
            f"a panel cannot be kept in {text.partition('://')[0]}://; give a file path or postgresql://USER@HOST/DATABASE"
        )
    else:
        engine, place = _sqlite(Path(text))
    database = PanelDatabase(engine, place)
    # However its process ends, the file is whole: SQLite puts its log back into it when the last connection closes.
    weakref.finalize(database, engine.dispose)
    _prepare(database)
    return database


def _sqlite(path: Path) -> tuple[Engine, str]:
    from sqlalchemy import URL, create_engine, event

    if path.is_dir() or not path.parent.is_dir():
        raise MedjuryError(f"{path}: name a file in a folder that exists")
    if not path.exists():
        create_private(path)
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        connect_args={"timeout": WAIT_SECONDS, "check_same_thread": False, "isolation_level": None},
        pool_size=8,
        max_overflow=56,
        hide_parameters=True,  # an error names no one's words
    )

    @event.listens_for(engine, "connect")
    def _set_up(connection: Any, _record: object) -> None:
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA synchronous = FULL")  # what was acknowledged survives a power cut
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.execute("PRAGMA temp_store = MEMORY")  # no clinical text in temporary files
        cursor.close()

    return engine, str(path)


def _postgres(text: str) -> tuple[Engine, str]:
    from sqlalchemy import create_engine, event, make_url
    from sqlalchemy.exc import ArgumentError

    try:
        url = make_url(text).set(drivername="postgresql+psycopg")
        if "connect_timeout" not in url.query:
            url = url.update_query_dict({"connect_timeout": str(_CONNECT_SECONDS)})
        engine = create_engine(url, pool_pre_ping=True, pool_size=8, max_overflow=24, hide_parameters=True)
    except ArgumentError:
        raise MedjuryError("the panel's address is not of the form postgresql://USER@HOST/DATABASE") from None
    except ModuleNotFoundError:
        raise MedjuryError("a PostgreSQL panel needs psycopg: pip install 'medjury[postgres]'") from None

    @event.listens_for(engine, "connect")
    def _set_up(connection: Any, _record: object) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE SCHEMA IF NOT EXISTS {_SCHEMA}")
            cursor.execute(f"SET search_path TO {_SCHEMA}")
        connection.commit()

    return engine, url.set(drivername="postgresql", query={}).render_as_string(hide_password=True)


def _prepare(database: PanelDatabase) -> None:
    from sqlalchemy import insert, select

    with database.writing() as connection:
        metadata.create_all(connection)
        version = connection.execute(select(version_table.c.version)).scalar()
        if version is None:
            connection.execute(insert(version_table).values(version=VERSION))
        elif version != VERSION:
            raise MedjuryError(
                f"{database.place} was written by another version of Medjury; name another database"
            )
