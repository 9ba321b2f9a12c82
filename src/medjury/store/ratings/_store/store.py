"""The append-only store: every reply that was paid for and every rating, in SQLite or PostgreSQL."""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from medjury.foundation.clock import utc_now
from medjury.instruments import Outcome, Reason
from medjury.models import Reply
from medjury.store.ratings._frame import RatingColumns, frame_of_rows, rating_of_row, stored_columns
from medjury.store.ratings._rating import Question, RaterKind, Rating, Status, StoredRecord
from medjury.store.ratings._store.arrivals import Arrivals, left_behind, of_owner, waiting_beside
from medjury.store.ratings._store.connection import Connection, refuse_without_rights
from medjury.store.ratings._store.database import Database, create_schema, locate
from medjury.store.ratings._store.escaping import escape, unescape
from medjury.store.ratings._store.owner import (
    STALE_AFTER_SECONDS,
    Heartbeats,
    Owner,
    this_host,
)
from medjury.store.ratings._store.partitions import values_of_run
from medjury.store.ratings._store.schema import create_tables, is_current
from medjury.store.ratings._store.statements import statements
from medjury.store.ratings._store.store_error import StoreError, StoreLocked
from medjury.store.ratings._store.transaction import StoredReply, Transaction

if TYPE_CHECKING:
    import polars


_Result = TypeVar("_Result")
_A_MOMENT = 1.0  # seconds that one who only wants to read waits before what was left behind is left to others


class Spent(NamedTuple):
    """What a run has paid so far: money for calls whose price is known, and all calls that gave a reply."""

    money: float
    calls: int


# How many ratings there are by rater, kind, status and, where unscored, reason.
RatingCounts = Counter[tuple[str, RaterKind, Status, Reason | None]]


@dataclass(frozen=True, slots=True)
class StoredRun:
    """One run of the store, with its manifest as it was last written."""

    name: str
    manifest: Mapping[str, Any]
    created_at: str


def open_store(
    url_or_path: str | os.PathLike[str],
    *,
    create: bool = True,
    wait_seconds: float = 30.0,
    reconnect_seconds: float = 0.0,
) -> Store:
    """Open a store, making its tables where there are none: a path, `sqlite:///PATH` or `postgresql://USER@HOST/NAME`.

    `create=False` refuses a file that does not exist. `wait_seconds` is how long to wait for another writer, and
    `reconnect_seconds` how long for a server that goes away later; one that is not there now is refused.
    """
    store = Store(locate(url_or_path, create=create, wait_seconds=wait_seconds), reconnect_seconds)
    try:
        store._prepare()
        with suppress(StoreError):  # held or full: what was left behind stays where it is
            store.take_over(wait_seconds=min(wait_seconds, _A_MOMENT))
    except BaseException:
        store.close()
        raise
    return store


class Store:
    """Ratings and replies are only ever added. Each method is one transaction: all of it, or nothing.

    Safe to use from several threads (they take turns) and from several processes on one store. Open it with
    `open_store`.
    """

    def __init__(self, database: Database, reconnect_seconds: float = 0.0) -> None:
        self._database = database
        # As SQLite does: neither a link nor another working folder leads elsewhere later.
        self._real_path = None if database.path is None else database.path.resolve()
        self._connection = Connection(database, reconnect_seconds)
        self._heartbeats = Heartbeats()
        self._sql = statements(database.dialect)

    @property
    def place(self) -> str:
        """Where the store is, for messages; a password is not shown."""
        return self._database.place

    @property
    def path(self) -> Path | None:
        """The store's file, where it is one."""
        return self._database.path

    def arrivals(self, owner: Owner) -> Arrivals | None:
        """Where the owner writes replies down as they arrive; None where the store is on a server."""
        return None if self._real_path is None else Arrivals(self._real_path, owner.id)

    def waiting_beside(self) -> list[Path]:
        """Files beside the store with replies that are not in it yet."""
        return [] if self._real_path is None else waiting_beside(self._real_path)

    # Writing

    def write_ratings(self, run: str, ratings: Sequence[Rating], records: Sequence[StoredRecord] = ()) -> int:
        """Add ratings as part of a run, with their records; how many ratings were new."""
        keys = {rating.key for rating in ratings}

        def work(transaction: Transaction) -> int:
            new = transaction.add_ratings(ratings, records, dict.fromkeys(keys, run))
            transaction.add_members(run, keys)
            return new

        return self.in_transaction(work)

    def take_over(self, *, wait_seconds: float | None = None) -> None:
        """Store what processes that have ended left beside a file; see `arrivals`. `wait_seconds` is how long to
        wait for another writer, if not as long as ever."""
        if self._real_path is None:
            return
        with left_behind(self._real_path) as replies:
            if replies:
                with self._connection.waiting(wait_seconds):
                    self.in_transaction(lambda transaction: transaction.add_replies(replies))

    def end_owner(self, owner: Owner) -> None:
        """Let go of everything the owner claimed. What it has written down and not stored is stored first, or
        another would make those calls again."""

        def work(transaction: Transaction) -> None:
            transaction.add_replies(self._left_by(owner.id))
            transaction.drop_owner(owner.id)

        self.in_transaction(work)

    def put_run(self, run: str, manifest: Mapping[str, Any]) -> None:
        """Record a run, or the newest state of its manifest."""
        values = (escape(run), json.dumps(manifest, sort_keys=True), utc_now())
        self._connection.patiently(lambda cursor: cursor.execute(self._sql.put_run, values), write=True)

    # Reading

    def ratings(self, run: str | None = None) -> Iterator[Rating]:
        """The latest rating of each key and dimension, ordered by item, system, rater, dimension and repeat.

        Streams: a store need not fit in memory.
        """
        for rows in self._rows(run):
            for row in rows:
                yield rating_of_row(row)

    def blocks(self, run: str) -> Iterator[RatingColumns]:
        """The same column by column: for what passes all of them on."""
        return map(stored_columns, self._rows(run))

    def records(self, run: str) -> Iterator[StoredRecord]:
        """The latest record of each key of a run, ordered as its ratings are. Streams."""
        for rows in self._blocks(self._sql.read_records, run):
            for key, item, system, rater, repeat, body, created_at in rows:
                yield StoredRecord(
                    unescape(key), unescape(item), unescape(system), unescape(rater), repeat,
                    unescape(body), unescape(created_at),
                )  # fmt: skip

    def replies(self, keys: Collection[str]) -> dict[str, Reply]:
        """The stored replies among these keys of calls."""
        return self.in_transaction(lambda transaction: transaction.find_replies(keys), write=False)

    def questions(self, units: Collection[str]) -> list[Question]:
        """What was asked for the ratings with these keys; nothing where they were made before that was kept."""
        return self.in_transaction(lambda transaction: transaction.find_questions(units), write=False)

    def read_counts(self, run: str) -> Counter[tuple[str, int]]:
        """How many replies of a run were read, by the case that they were read by ("" where they were not) and by
        how often their question had been handed back before."""
        found: Counter[tuple[str, int]] = Counter()
        for read_as, ending, count in self._all(self._sql.count_read, values=(escape(run),)):
            found[read_as, int(ending[1:]) if ending[1:].isdecimal() else 0] += count
        return found

    def secret(self) -> bytes:
        """What the tokens of questions are derived with. It is made when the first question asks for it, and never
        leaves the store but into a copy of it."""
        found = self.in_transaction(lambda transaction: transaction.find_secret(), write=False)
        return found or self.in_transaction(lambda transaction: transaction.make_secret())

    def outcomes(self, units: Collection[str]) -> dict[tuple[str, str], Outcome]:
        """The latest outcome by key and dimension of the ratings with these keys."""
        return self.in_transaction(lambda transaction: transaction.find_outcomes(units), write=False)

    def frame(self, run: str | None = None) -> polars.DataFrame:
        """The same rows as `ratings`, as a table."""
        import polars

        frames = list(self.frames(run))
        return polars.concat(frames) if frames else frame_of_rows([])

    def frames(self, run: str | None = None) -> Iterator[polars.DataFrame]:
        """The same rows as a stream of small tables."""
        for rows in self._rows(run):
            yield frame_of_rows(rows)

    def counts(self, run: str) -> RatingCounts:
        """How many ratings by rater, status and reason, counted by the database."""
        return Counter({
            (unescape(rater), kind, status, None if reason is None else Reason(reason)): count
            for rater, kind, status, reason, count in self._all(self._sql.count_run, run)
        })  # fmt: skip

    def spent(self, run: str) -> Spent:
        """What the run itself paid; replies it found in the store cost it nothing."""
        [found] = self._all(self._sql.spent, run)
        return Spent(*found)

    def runs(self) -> list[StoredRun]:
        """Every run, oldest first."""
        return [
            StoredRun(unescape(run), json.loads(manifest), created_at)
            for run, manifest, created_at in self._all(self._sql.find_runs)
        ]

    # Transactions

    def in_transaction(self, work: Callable[[Transaction], _Result], *, write: bool = True) -> _Result:
        """Do several steps as one. Each may safely be repeated, which is done where the connection is lost."""
        dialect = self._database.dialect
        return self._connection.patiently(
            lambda cursor: work(Transaction(cursor, self._sql, dialect, self._heartbeats, self._left_by)),
            write=write,
        )

    def outside_transactions(self, work: Callable[[Any, str], _Result]) -> _Result:
        """Do what no transaction may hold, such as VACUUM; `work` is given the cursor and the kind of database."""
        return self._connection.outside_transactions(lambda cursor: work(cursor, self._database.dialect))

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _left_by(self, owner: str) -> Sequence[StoredReply]:
        return of_owner(self._real_path, owner) if self._real_path is not None else ()

    def _values(self, cursor: Any, run: str | None) -> Any:
        return () if run is None else values_of_run(cursor, self._database.dialect, escape(run))

    def _all(
        self, statement: str, run: str | None = None, values: tuple[Any, ...] = ()
    ) -> list[tuple[Any, ...]]:
        def work(cursor: Any) -> list[tuple[Any, ...]]:
            cursor.execute(statement, values or self._values(cursor, run))
            return cursor.fetchall()  # type: ignore[no-any-return]

        return self._connection.patiently(work, write=False)

    def _rows(self, run: str | None) -> Iterator[list[tuple[Any, ...]]]:
        return self._blocks(self._sql.read_all if run is None else self._sql.read_run, run)

    def stream(self, statement: str) -> Iterator[list[tuple[Any, ...]]]:
        """The rows of one of our own statements as they are in the tables, in blocks."""
        return self._blocks(statement)

    def _blocks(self, statement: str, run: str | None = None) -> Iterator[list[tuple[Any, ...]]]:
        return self._connection.blocks(statement, lambda cursor: self._values(cursor, run))

    def _prepare(self) -> None:
        def work(cursor: Any) -> None:
            refuse_without_rights(self._database, cursor)
            if not is_current(cursor, self._database.dialect):
                self._database.begin(cursor, write=True)
                create_schema(self._database, cursor)
                create_tables(cursor, self._database.dialect, self.place)
                cursor.execute("COMMIT")

        self._connection.outside_transactions(work)


def refuse_while_at_work(store: Store, state: str) -> None:
    """Refuse while a run writes. A process of another machine is watched until it is heard of, or has been silent
    for so long that it counts as ended. `state` says that nothing was done."""
    until = time.monotonic() + STALE_AFTER_SECONDS + 5
    while living := store.in_transaction(lambda transaction: transaction.living_owners(), write=False):
        here = [each for each in living if each.host == this_host() and sys.platform != "win32"]
        if here or time.monotonic() > until:
            raise at_work(store.place, f"Process {(here or living)[0].pid}", state)
        time.sleep(1)


def at_work(place: str, who: str, state: str) -> StoreLocked:
    return StoreLocked(f"{place}: {who} is using it. {state} Wait until it ends and try again.")
