"""Many runs in one database: each lies in tables of its own, and can leave without touching the others."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Sequence
from typing import Any

import psycopg
import pytest
from tests.adversarial.test_lost_server import as_role, by_owner, role  # noqa: F401 - a fixture
from tests.ratings.samples import rating, write
from tests.ratings.test_erasure import NEW, SECRET, bytes_of

from medjury.cli import main
from medjury.models import Reply
from medjury.store.ratings import (
    Question,
    Rating,
    Selection,
    Store,
    StoredRecord,
    erase,
    erasures,
    open_store,
)
from medjury.store.ratings._store.store_error import StoreError
from medjury.store.ratings._store.transaction import StoredReply

TABLES = ("ratings", "replies", "records")


def unit(name: str, words: str = "plain words") -> list[Rating]:
    return [rating(item=name, key=f"unit {name}", dimension=f"d{n}", explanation=words) for n in range(3)]


def judged(store: Store, run: str, names: Sequence[str], words: str = "plain words") -> None:
    """As a run leaves it: replies that it paid for, ratings that were read from them, and how they came about."""
    write(store, replies=[StoredReply(f"call {name}", Reply(words), 0.5, run) for name in names])
    records = [
        StoredRecord(f"unit {name}", name, "scribe", "judge-a", 0, json.dumps({"t": words}), NEW)
        for name in names
    ]
    store.write_ratings(run, [row for name in names for row in unit(name, words)], records)
    questions = [Question(f"unit {name}", "q", f"call {name}", "") for name in names]
    store.in_transaction(lambda transaction: transaction.add_questions(questions))
    store.put_run(run, {"words": words})


def content(store: Store, run: str) -> object:
    return (
        list(store.ratings(run)),
        list(store.records(run)),
        store.counts(run),
        store.spent(run),
        [each for each in store.runs() if each.name == run],
    )


def rows(url: str, statement: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET search_path TO medjury")
        return connection.execute(statement).fetchall()


def test_a_run_is_erased_and_the_others_stay_as_they_were(store: Store, store_address: str) -> None:
    judged(store, "first", ["a", "b"], SECRET * 20)
    judged(store, "first", ["shared"])
    judged(store, "second", ["c"])
    write(store, members={"second": ["unit shared"]})  # found, and not paid for again
    before = content(store, "second")
    counted = erase(store, Selection("run", ("first",)), dry_run=True)
    done = erase(store, Selection("run", ("first",)))
    taken = {"ratings": 6, "replies": 2, "records": 2, "questions": 2, "members": 3}
    assert {name: done.rows[name] for name in taken} == {name: counted.rows[name] for name in taken} == taken
    assert content(store, "second") == before
    assert store.replies(["call shared", "call c"]).keys() == {"call shared", "call c"}
    assert not list(store.ratings("first")) and not list(store.records("first"))
    assert [each.name for each in store.runs()] == ["second"]
    left = bytes_of(store, store_address)
    assert SECRET.encode() not in left and b"plain words" in left
    assert [(each.by, each.rows["ratings"]) for each in erasures(store)] == [("run", 6)]
    judged(store, "first", ["a"])
    assert len(list(store.ratings("first"))) == 3, "it can be judged anew"


def test_the_last_run_takes_what_it_was_left(store: Store) -> None:
    judged(store, "first", ["a", "b"])
    write(store, members={"second": ["unit a", "unit b"], "third": ["unit b"]})
    judged(store, "third", ["c"])
    for run, left in (("first", 3), ("second", 2), ("third", 0)):
        assert erase(store, Selection("run", (run,)))
        assert len({row.item for row in store.ratings()}) == left
    assert not store.replies(["call c"])
    assert store.replies(["call a", "call b"]).keys() <= {"call a", "call b"}


def test_a_reply_is_stored_once_whichever_run_pays(store: Store) -> None:
    write(store, replies=[StoredReply("call", Reply("the first"), 1.0, "one")])
    write(store, replies=[StoredReply("call", Reply("the second"), 2.0, "two")])
    write(
        store,
        replies=[StoredReply("new", Reply("kept"), 1.0, "two"), StoredReply("new", Reply("not"), 1.0, "x")],
    )
    assert {key: reply.text for key, reply in store.replies(["call", "new"]).items()} == {
        "call": "the first",
        "new": "kept",
    }
    assert [store.spent(run).money for run in ("one", "two", "x")] == [1.0, 1.0, 0.0]


def test_another_attempt_lies_with_the_first_whichever_run_made_it(store: Store) -> None:
    store.write_ratings("one", unit("a"))
    again = [rating(item="a", key="unit a", dimension=f"d{n}", score=1.0) for n in range(3)]
    assert store.write_ratings("two", again) == 3
    assert {row.score for row in store.ratings("one")} == {row.score for row in store.ratings("two")} == {1.0}
    erase(store, Selection("run", ("one",)))
    assert {row.score for row in store.ratings("two")} == {1.0} and len(list(store.ratings())) == 3


def test_every_run_lies_in_tables_of_its_own(postgres_url: str) -> None:
    with open_store(postgres_url) as store:
        judged(store, 'it\'s "odd" %s {x}', ["a"])
        judged(store, "second", ["b"])
        write(store, ratings=unit("of no run"))
    for table in TABLES:
        found = dict(rows(postgres_url, f"SELECT key, tableoid::regclass::text FROM {table}"))
        key = "call" if table == "replies" else "unit"
        assert found[f"{key} a"] != found[f"{key} b"]
    assert found["unit a"] == "records_1"
    with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
        rows(postgres_url, "DELETE FROM ratings_1 RETURNING key")
    with pytest.raises(psycopg.errors.UniqueViolation):
        rows(postgres_url, "INSERT INTO reply_parts VALUES ('call a', 2) RETURNING key")


def test_a_key_is_looked_up_in_its_own_part_alone(postgres_url: str) -> None:
    with open_store(postgres_url) as store:
        for number in range(12):
            judged(store, f"run {number}", [f"c{number}"])
        with store._connection.transaction(write=False) as cursor:
            cursor.execute(f"EXPLAIN {store._sql.find_latest}", {"keys": ["unit c3"], "parts": [4]})
            looked_up = "\n".join(row[0] for row in cursor.fetchall())
            cursor.execute(f"EXPLAIN {store._sql.read_run}", store._values(cursor, "run 3"))
            read = "\n".join(row[0] for row in cursor.fetchall())
    assert set(re.findall(r"on ratings_(\d+)", looked_up)) == {"4"}
    assert set(re.findall(r"on ratings_(\d+)", read)) == {"4"}


def test_a_new_run_waits_for_no_reader(postgres_url: str) -> None:
    with open_store(postgres_url, wait_seconds=2) as store:
        judged(store, "first", ["a"])
        reading = store.ratings()
        next(reading)
        judged(store, "second", ["b"])
        assert len(list(store.ratings("second"))) == 3
        assert len(list(reading)) == 2


def test_two_workers_begin_one_run_at_the_same_moment(postgres_url: str) -> None:
    """The second waits for the first, and then has the same part."""
    open_store(postgres_url).close()
    begin = "SELECT medjury.part_of_run('both')"
    found: list[Any] = []
    with psycopg.connect(postgres_url) as one, psycopg.connect(postgres_url) as other:
        first = one.execute(begin).fetchone()
        waiting = threading.Thread(target=lambda: found.append(other.execute(begin).fetchone()))
        waiting.start()
        held_up = f"SELECT pid FROM pg_locks WHERE NOT granted AND pid = {other.info.backend_pid}"
        while not rows(postgres_url, held_up):
            assert waiting.is_alive(), "it did not wait"
        one.commit()
        waiting.join()
    assert found == [first] and len(rows(postgres_url, "SELECT 1 FROM parts WHERE run = 'both'")) == 1


def test_a_role_that_owns_nothing_begins_a_run(postgres_url: str, role: str) -> None:  # noqa: F811
    open_store(postgres_url).close()
    by_owner(
        postgres_url,
        f'GRANT USAGE ON SCHEMA medjury TO "{role}"',
        f'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA medjury TO "{role}"',
    )
    with open_store(as_role(postgres_url, role)) as store:
        judged(store, "by a clerk", [f"c{number}" for number in range(50)])
        assert len(list(store.ratings("by a clerk"))) == 150
        with pytest.raises(StoreError, match="owner"):
            erase(store, Selection("run", ("by a clerk",)))
        assert len(list(store.ratings("by a clerk"))) == 150


def test_the_command_erases_a_run(
    store: Store, store_address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    judged(store, "first", ["a"])
    judged(store, "second", ["b"])
    assert main(["runs", "erase", store_address, "--run", "first"]) == 0
    assert "3 ratings, 1 reply" in capsys.readouterr().out
    assert {row.item for row in store.ratings()} == {"b"}
    assert main(["runs", "erase", store_address, "--run", "nowhere"]) == 2
    assert "nothing was erased" in capsys.readouterr().err
