"""Writes that come at the same moment share one transaction: each is told of its own end, and none before it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event

import pytest
from sqlalchemy import Connection, event, insert, select
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.exc import TimeoutError as WaitedTooLong

from medjury.foundation.errors import MedjuryError
from medjury.panel import _database as together
from medjury.panel._database import PanelDatabase
from medjury.panel._tables import attempts_table

WAIT_SECONDS = 60


@pytest.fixture
def database(either_database: PanelDatabase) -> PanelDatabase:
    return either_database


def adding(key: str) -> Callable[[Connection], str]:
    def work(connection: Connection) -> str:
        connection.execute(insert(attempts_table).values(key=key, failures=1, last_at="2026-03-02"))
        return key

    return work


def kept(database: PanelDatabase) -> set[str]:
    with database.reading() as connection:
        return set(connection.execute(select(attempts_table.c.key)).scalars())


def commits(database: PanelDatabase) -> list[str]:
    """A list that grows with every transaction that ends well."""
    seen: list[str] = []
    if database.engine.dialect.name == "sqlite":

        @event.listens_for(database.engine, "before_cursor_execute")
        def _note(_c: object, _cursor: object, statement: str, *_: object) -> None:
            if statement == "COMMIT":
                seen.append(statement)
    else:
        event.listen(database.engine, "commit", lambda _: seen.append("COMMIT"))
    return seen


def send(
    database: PanelDatabase, threads: ThreadPoolExecutor, *works: Callable[[Connection], str]
) -> list[Future[str]]:
    """The first is at work while the others come; then they are let go together."""
    begun, go = Event(), Event()

    def first(connection: Connection) -> str:
        begun.set()
        assert go.wait(WAIT_SECONDS)
        return works[0](connection)

    sent = [threads.submit(database.together, first)]
    assert begun.wait(WAIT_SECONDS)
    for number, work in enumerate(works[1:], start=1):
        sent.append(threads.submit(database.together, work))
        while database.waiting < number:
            assert not sent[-1].done()
    go.set()
    return sent


def test_those_who_wait_share_the_next_transaction(database: PanelDatabase) -> None:
    ended, names = commits(database), [f"rater {number}" for number in range(9)]
    with ThreadPoolExecutor(9) as threads:
        sent = send(database, threads, *map(adding, names))
        assert [each.result(WAIT_SECONDS) for each in sent] == names
    assert kept(database) == set(names)
    assert len(ended) == 2, "one for the first, and one for all who came meanwhile"


def test_one_that_fails_takes_nothing_of_the_others_with_it(database: PanelDatabase) -> None:
    def refused(connection: Connection) -> str:
        adding("half done")(connection)
        raise MedjuryError("that cannot be")

    with ThreadPoolExecutor(5) as threads:
        works = adding("one"), adding("two"), refused, adding("two"), adding("three")
        one, two, other, twice, three = send(database, threads, *works)
        assert [one.result(WAIT_SECONDS), two.result(), three.result()] == ["one", "two", "three"]
        with pytest.raises(MedjuryError, match="that cannot be"):
            other.result()
        with pytest.raises(IntegrityError):
            twice.result()
    assert kept(database) == {"one", "two", "three"}


def test_nobody_is_told_before_the_transaction_has_ended(database: PanelDatabase) -> None:
    """Whoever is told looks, over another connection, and finds what was written."""

    def told(key: str) -> bool:
        database.together(adding(key))
        return key in kept(database)

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(told, (f"rater {number}" for number in range(24))))


def test_where_the_end_fails_everyone_of_it_is_told(
    database: PanelDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing = database.writing

    class Failing:
        """The disk is full at the end of the transaction."""

        def __enter__(self) -> Connection:
            self.held = writing()
            return self.held.__enter__()

        def __exit__(self, *_: object) -> None:
            error = OperationalError("COMMIT", None, Exception("disk full"))
            self.held.__exit__(type(error), error, None)
            raise error

    with ThreadPoolExecutor(3) as threads:

        def work(connection: Connection) -> str:
            monkeypatch.setattr(database, "writing", Failing)
            return adding("first")(connection)

        first, *others = send(database, threads, work, adding("one"), adding("two"))
        assert first.result(WAIT_SECONDS) == "first"
        for each in others:
            with pytest.raises(OperationalError):
                each.result(WAIT_SECONDS)
    assert kept(database) == {"first"}


def test_whatever_happens_to_who_writes_for_others_all_are_told_and_the_next_get_their_turn(
    database: PanelDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: object) -> None:
        raise MemoryError

    def work(connection: Connection) -> str:
        monkeypatch.setattr(database, "_write", fails)
        return adding("first")(connection)

    with ThreadPoolExecutor(3) as threads:
        first, *others = send(database, threads, work, adding("one"), adding("two"))
        assert first.result(WAIT_SECONDS) == "first"
        for each in others:
            with pytest.raises(MemoryError):
                each.result(WAIT_SECONDS)
    monkeypatch.undo()
    assert database.together(adding("next")) == "next"
    assert kept(database) == {"first", "next"}


def test_who_waits_too_long_is_told_and_the_next_still_get_their_turn(
    database: PanelDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, begun = Event(), Event()

    def slow(connection: Connection) -> str:
        begun.set()
        assert go.wait(WAIT_SECONDS)
        return adding("slow")(connection)

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(database.together, slow)
        assert begun.wait(WAIT_SECONDS)
        monkeypatch.setattr(together, "WAIT_SECONDS", 0.01)
        with pytest.raises(WaitedTooLong):
            database.together(adding("given up"))
        go.set()
        assert first.result(WAIT_SECONDS) == "slow"
        monkeypatch.undo()
        assert database.together(adding("next")) == "next"
    assert kept(database) == {"slow", "next"}
