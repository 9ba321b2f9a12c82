"""A record stands beside the ratings it explains: stored with them, replaced with them, exported word for word."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.ratings.samples import rating, unscored

from medjury.instruments import Reason
from medjury.store.ratings import (
    Store,
    StoreDesk,
    StoredRecord,
    open_store,
    rating_frame,
    read_ratings,
    write_ratings,
    write_records,
)


def record(body: object, key: str = "key-1") -> StoredRecord:
    text = json.dumps(body, ensure_ascii=False)
    return StoredRecord(key, "case-1", "scribe", "judge-a", 0, text, "2026-01-31T12:00:00.000+00:00")


def test_a_record_comes_back_with_its_run_and_with_no_other(store: Store) -> None:
    told = record({"kind": "deliberation", "turns": ["שלום", "NUL \x00", "half \ud800"]})
    store.write_ratings("first", [rating()], [told])
    assert list(store.records("first")) == [told]
    assert list(store.records("second")) == []


async def test_the_desk_stores_records_in_the_transaction_of_their_ratings(store: Store) -> None:
    async with StoreDesk(store, "first") as desk:
        await desk.write_ratings("first", [rating()], [record({"kind": "claims"})])
    assert [each.content() for each in store.records("first")] == [{"kind": "claims"}]


def test_a_failure_that_does_not_replace_an_answer_does_not_replace_its_record(store: Store) -> None:
    store.write_ratings("first", [rating()], [record({"kind": "claims", "try": 1})])
    store.write_ratings("first", [unscored(Reason.TIMEOUT)], [record({"kind": "claims", "try": 2})])
    assert [each.content()["try"] for each in store.records("first")] == [1]


def test_an_answer_after_a_failure_brings_its_own_record(store: Store) -> None:
    store.write_ratings("first", [unscored(Reason.TIMEOUT)], [record({"kind": "claims", "try": 1})])
    store.write_ratings("first", [rating()], [record({"kind": "claims", "try": 2})])
    assert [each.content()["try"] for each in store.records("first")] == [2]


def test_an_attempt_that_may_not_stand_whole_leaves_ratings_and_record_as_they_were(store: Store) -> None:
    """Asked anew for one dimension, a judge fails on the other: the old answer stands, and so does its story."""
    first = [rating(dimension="concordant", calls=1), unscored(Reason.PARSE, dimension="preference", calls=1)]
    anew = [
        unscored(Reason.REFUSAL, dimension="concordant", calls=1),
        rating(dimension="preference", calls=1),
    ]
    store.write_ratings("first", first, [record({"kind": "concordance", "try": 1})])
    assert store.write_ratings("first", anew, [record({"kind": "concordance", "try": 2})]) == 0
    assert [each.content()["try"] for each in store.records("first")] == [1]
    assert {each.dimension: each.status for each in store.ratings("first")} == {
        "concordant": "scored",
        "preference": "unscored",
    }


@pytest.mark.parametrize("with_record", [True, False])
def test_calls_and_costs_are_those_of_the_attempt_that_stands(store: Store, with_record: bool) -> None:
    """A unit went on where it had stopped: its shares are of all its calls, also on the row that said the same."""
    story = [record({"kind": "concordance"})] if with_record else []
    first = [
        rating(dimension="concordant", calls=1, cost=1.0),
        unscored(Reason.TIMEOUT, dimension="preference", calls=1, cost=1.0),
    ]
    then = [
        rating(dimension="concordant", calls=2, cost=1.5),
        rating(dimension="preference", calls=1, cost=1.5),
    ]
    store.write_ratings("first", first, story)
    assert store.write_ratings("first", then, story) == 1
    assert store.write_ratings("first", then, story) == 0
    found = list(store.ratings("first"))
    assert sum(each.calls or 0 for each in found) == 3 and sum(each.cost or 0 for each in found) == 3.0


def test_records_are_only_ever_added(tmp_path: Path) -> None:
    with open_store(tmp_path / "r.sqlite") as store:
        store.write_ratings("first", [rating()], [record({"kind": "claims"})])
    connection = sqlite3.connect(tmp_path / "r.sqlite")
    for statement in ("DELETE FROM records", "UPDATE records SET body = ''"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(statement)
    connection.close()


def test_the_file_of_records_has_one_line_for_each(tmp_path: Path, store: Store) -> None:
    store.write_ratings("first", [rating()], [record({"kind": "claims", "claims": [{"text": "a\nb"}]})])
    assert write_records(store.records("first"), tmp_path / "records.jsonl") == 1
    (line,) = (tmp_path / "records.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(line) == {
        "key": "key-1", "item": "case-1", "system": "scribe", "rater": "judge-a", "repeat": 0, "kind": "claims",
        "body": {"kind": "claims", "claims": [{"text": "a\nb"}]},
    }  # fmt: skip


def test_calls_come_back_exactly(tmp_path: Path, store: Store) -> None:
    store.write_ratings("first", [rating(calls=7)])
    assert [row.calls for row in store.ratings()] == [7]
    write_ratings(rating_frame([rating(calls=7)]), tmp_path / "new.csv")
    assert list(read_ratings(tmp_path / "new.csv").ratings) == [rating(calls=7)]


def test_a_record_that_is_no_object_is_refused() -> None:
    with pytest.raises(ValueError, match="not a JSON object"):
        StoredRecord("k", "i", "s", "r", 0, "[1]", "now").content()


def test_two_that_write_the_same_file_at_once_do_not_stand_in_each_others_way(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"

    def slowly() -> Iterator[StoredRecord]:
        yield record({"kind": "first"})
        with ThreadPoolExecutor() as other:
            assert other.submit(write_records, [record({"kind": "second"})], path).result() == 1
        assert json.loads(path.read_text(encoding="utf-8"))["kind"] == "second"

    assert write_records(slowly(), path) == 1
    assert json.loads(path.read_text(encoding="utf-8"))["kind"] == "first"
    assert write_records([], path) == 0 and list(tmp_path.iterdir()) == []
