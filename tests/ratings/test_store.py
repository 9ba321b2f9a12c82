"""The store keeps what it is given, once, in order, and forgets nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.ratings.samples import claim, rating, ratings_of, settled, unscored, write

from medjury.instruments import Reason
from medjury.models import Reply
from medjury.store.ratings import Store, open_store
from medjury.store.ratings._store.owner import new_owner
from medjury.store.ratings._store.store_error import StoreError
from medjury.store.ratings._store.transaction import StoredReply

# Everything a model or a clinician may write, and everything a database may refuse.
HOSTILE_TEXTS = [
    "plain", "", "NUL \x00 inside", "half a pair \ud800", "the other half \udfff", "whole \ud83d\ude00",
    "data link escape \x10 and \x100000", "'; DROP TABLE ratings; --", "%s ? {keys} :name", "שלום עולם",
    "line\r\nbreaks\u2028", "\ufeff\ufffe\uffff", "x" * 2_000_000,
]  # fmt: skip


def test_a_rating_comes_back_exactly(store: Store) -> None:
    given = rating(
        score=4.25, explanation="because", seconds=0.1, tokens_in=3, tokens_out=None, cost=0.25, calls=7,
        probability=1 / 3, model_asked="a, b", model_answered="a, other",
    )  # fmt: skip
    assert store.write_ratings("first", [given]) == 1
    assert list(store.ratings()) == [given]
    assert list(store.ratings("first")) == [given]
    assert list(store.ratings("another run")) == []


def test_statuses_come_back_exactly(store: Store) -> None:
    rows = [
        unscored(reason, key=f"key-{reason}", item=f"case-{number:02}")
        for number, reason in enumerate(Reason)
    ]
    rows.append(rating(item="case-99", key="na", score=None, status="not_applicable"))
    store.write_ratings("first", rows)
    assert list(store.ratings()) == rows


@pytest.mark.parametrize("text", HOSTILE_TEXTS, ids=range(len(HOSTILE_TEXTS)))
def test_any_text_comes_back_exactly(store: Store, text: str) -> None:
    short = text[:100]
    row = rating(item=short, system=short, rater=short, dimension=short, explanation=text, key=f"key {short}")
    reply = Reply(text, model=short)
    write(store, replies=[StoredReply(row.key, reply, None)], ratings=[row], members={short: [row.key]})
    assert list(store.ratings(short)) == [row]
    assert claim(store, [row.key], new_owner()) == {row.key: reply}
    assert settled(store, [row.key]) == {row.key}
    assert store.counts(short) == {(short, "judge", "scored", None): 1}


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    text=st.text(st.characters(codec=None)),
    score=st.floats(allow_nan=False, allow_infinity=False),
    key=st.text(st.characters(codec=None), min_size=1, max_size=40),
)
def test_any_rating_comes_back_exactly(store: Store, text: str, score: float, key: str) -> None:
    row = rating(explanation=text, score=score, key=key)
    write(store, ratings=[row])
    assert row in list(store.ratings())


def test_rows_come_in_a_stable_order_whatever_the_order_of_writing(store: Store) -> None:
    rows = [
        rating(item=item, system=system, dimension=dimension, repeat=repeat, key=f"{item}{system}{repeat}")
        for item in ("B", "a", "ä", "case 10", "case 2")
        for system in ("", "Z", "z")
        for repeat in (0, 1, 10)
        for dimension in ("accuracy", "useful")
    ]
    write(store, ratings=rows[::-1])
    expected = sorted(
        rows, key=lambda row: (row.item.encode(), row.system.encode(), row.dimension, row.repeat)
    )
    assert list(store.ratings()) == expected


def test_the_same_word_again_is_not_a_new_row(store: Store) -> None:
    assert store.write_ratings("first", [rating()]) == 1
    assert store.write_ratings("first", [rating(created_at="later", cost=0.0)]) == 0
    assert [row.created_at for row in store.ratings()] == [rating().created_at]


def test_an_answer_replaces_a_failure_and_both_are_kept(store: Store) -> None:
    write(store, ratings=[unscored(Reason.TIMEOUT), rating(dimension="useful")])
    assert write(store, ratings=[rating(), rating(dimension="useful")]) == 1
    assert [row.status for row in store.ratings()] == ["scored", "scored"]
    with store._connection.transaction(write=False) as cursor:
        cursor.execute("SELECT dimension, attempt, status FROM ratings ORDER BY attempt, dimension")
        assert [tuple(row) for row in cursor.fetchall()] == [
            ("accuracy", 1, "unscored"),
            ("useful", 1, "scored"),
            ("accuracy", 2, "scored"),
        ]


def test_a_passing_failure_does_not_hide_an_answer(store: Store) -> None:
    write(store, ratings=[rating()])
    assert write(store, ratings=[unscored(Reason.PROVIDER)]) == 0
    assert list(store.ratings()) == [rating()]


@pytest.mark.parametrize("reason", [Reason.PARSE, Reason.REFUSAL, Reason.TIMEOUT])
def test_no_failure_of_a_later_attempt_hides_an_answer(store: Store, reason: Reason) -> None:
    """One dimension is asked for again because it failed; the others keep what was said of them."""
    not_applicable = rating(dimension="plan", score=None, status="not_applicable")
    write(store, ratings=[rating(), not_applicable, unscored(Reason.OUT_OF_RANGE, dimension="useful")])
    again = [unscored(reason, dimension=name, explanation="junk") for name in ("accuracy", "plan")]
    assert write(store, ratings=again) == 0
    assert write(store, ratings=[rating(dimension="useful"), unscored(reason, dimension="useful")]) == 1
    assert list(store.ratings()) == [rating(), not_applicable, rating(dimension="useful")]


def test_a_correction_is_a_new_attempt(store: Store) -> None:
    write(store, ratings=[rating(score=4.0)])
    assert write(store, ratings=[rating(score=2.0)]) == 1
    assert [row.score for row in store.ratings()] == [2.0]


def test_two_attempts_in_one_write_are_both_kept(store: Store) -> None:
    assert write(store, ratings=[unscored(), rating(), rating()]) == 2
    assert list(store.ratings()) == [rating()]


def test_settled_means_no_further_work(store: Store) -> None:
    write(store,
        ratings=[
            rating(key="scored"), unscored(Reason.REFUSAL, key="refused"),
            unscored(Reason.TIMEOUT, key="timed out"), rating(key="half", dimension="accuracy"),
            unscored(Reason.RATE_LIMIT, key="half", dimension="useful"),
        ]
    )  # fmt: skip
    keys = ["scored", "refused", "timed out", "half", "never seen"]
    assert settled(store, keys) == {"scored", "refused"}
    assert settled(store, keys, retry=[]) == {"scored", "refused", "timed out", "half"}
    assert settled(store, keys, retry=frozenset(Reason)) == {"scored"}
    assert settled(store, []) == set()


def test_a_key_belongs_to_every_run_that_used_it(store: Store) -> None:
    write(store, ratings=[rating(), rating(item="case-2", key="key-2")], members={"a": ["key-1"]})
    write(store, members={"b": ["key-1", "key-2"]})
    write(store, members={"b": ["key-1", "key-2"]})
    assert [row.item for row in store.ratings("a")] == ["case-1"]
    assert [row.item for row in store.ratings("b")] == ["case-1", "case-2"]


def test_only_the_run_that_paid_has_spent(store: Store) -> None:
    write(store,
        replies=[
            StoredReply("1", Reply("x"), 0.25, "a"), StoredReply("2", Reply("x"), 0.5, "a"),
            StoredReply("3", Reply("x"), None, "a"), StoredReply("4", Reply("x"), 8.0, "b"),
        ]
    )  # fmt: skip
    write(store, replies=[StoredReply("1", Reply("y"), 4.0, "b")])
    assert store.spent("a") == (0.75, 3)
    assert store.spent("b") == (8.0, 1)
    assert store.spent("none") == (0.0, 0)
    assert claim(store, ["1"], new_owner()) == {"1": Reply("x", cost=0.25)}, "the first reply stays"


def test_counts_are_by_rater_status_and_reason(store: Store) -> None:
    store.write_ratings("first", [
        rating(key="1"), rating(key="2", item="case-2"), unscored(Reason.PARSE, key="3"),
        rating(key="4", rater="jury", rater_kind="jury"),
    ])  # fmt: skip
    write(store, ratings=[unscored(Reason.TIMEOUT, key="5")])
    write(store, ratings=[rating(key="5")])
    assert store.counts("first") == {
        ("judge-a", "judge", "scored", None): 2,
        ("judge-a", "judge", "unscored", Reason.PARSE): 1,
        ("jury", "jury", "scored", None): 1,
    }


def test_runs_are_listed_with_their_newest_manifest(store: Store) -> None:
    store.put_run("first", {"status": "running", "note": "half \ud800"})
    store.put_run("second", {})
    store.put_run("first", {"status": "complete"})
    store.write_ratings("first", [rating()])
    assert [(run.name, run.manifest) for run in store.runs()] == [
        ("first", {"status": "complete"}),
        ("second", {}),
    ]


def test_the_table_has_the_rows_of_the_stream(store: Store) -> None:
    rows = [rating(item=f"case-{number:05}", key=str(number), explanation="\x00") for number in range(2_100)]
    store.write_ratings("first", rows)
    assert ratings_of(store.frame("first")) == rows == list(store.ratings("first"))
    assert store.frame("none").is_empty()
    assert store.frame("none").schema == store.frame("first").schema
    assert sum(frame.height for frame in store.frames("first")) == len(rows)


def test_writers_need_not_wait_for_a_reader_that_stops_halfway(store: Store) -> None:
    write(store, ratings=[rating(item=f"case-{number}", key=str(number)) for number in range(5_000)])
    reading = store.ratings()
    next(reading)
    write(store, ratings=[rating(key="new")])
    assert len(list(reading)) == 4_999, "the reader sees the store as it was when it began"


@pytest.mark.parametrize("table", ["ratings", "replies"])
@pytest.mark.parametrize("change", ["UPDATE {} SET key = 'other'", "DELETE FROM {}"])
def test_what_is_stored_can_be_neither_changed_nor_deleted(store: Store, table: str, change: str) -> None:
    write(store, ratings=[rating()], replies=[StoredReply("key-1", Reply("x"), None)])
    with pytest.raises(StoreError, match="append-only"), store._connection.transaction(write=True) as cursor:
        cursor.execute(change.format(table))
    assert list(store.ratings()) == [rating()]


def test_a_transaction_is_all_or_nothing(store: Store) -> None:
    with pytest.raises(StoreError, match="600 characters together"):
        write(
            store,
            replies=[StoredReply("key-1", Reply("x"), 1.0, "run")],
            ratings=[rating(), rating(key="k" * 601)],
        )
    assert store.spent("run") == (0.0, 0)
    assert list(store.ratings()) == []


def test_a_store_of_another_version_is_refused(store_address: str) -> None:
    with open_store(store_address) as store, store._connection.transaction(write=True) as cursor:
        cursor.execute("INSERT INTO schema_version VALUES (99)")
    with pytest.raises(StoreError, match=r"another version of medjury \(schema 99"):
        open_store(store_address)


def test_a_rating_is_never_both_scored_and_unscored_in_the_database(store: Store) -> None:
    write(store, ratings=[rating()])
    with pytest.raises(StoreError), store._connection.transaction(write=True) as cursor:
        cursor.execute(
            "INSERT INTO ratings (item, system, rater, rater_kind, instrument, dimension, repeat, score, "
            "status, explanation, created_at, key, attempt) "
            "SELECT item, system, rater, rater_kind, instrument, dimension, repeat, score, 'unscored', "
            "explanation, created_at, key, 2 FROM ratings"
        )


def test_sqlite_addresses(tmp_path: Path) -> None:
    file = tmp_path / "a.sqlite"
    with open_store(f"sqlite:///{file}") as store:
        write(store, ratings=[rating()])
        assert store.place == str(file)
    with open_store(file, create=False) as store:
        assert len(list(store.ratings())) == 1
