"""Which reply answered which question of a rating is kept with the rating, in either database."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from tests.ratings.samples import drop_later_tables, rating

from medjury.instruments import Score
from medjury.models import Reply
from medjury.store.ratings import Question, Store, StoreDesk, open_store
from medjury.store.ratings._store.transaction import StoredReply

FAILURE = '{"reason": "context", "message": "half \\ud83d"}'


async def keep(store: Store, *questions: Question) -> None:
    async with StoreDesk(store, "first") as desk:
        await desk.write_ratings("first", [rating()], (), questions)


async def test_questions_are_found_by_the_ratings_they_were_asked_for(store: Store) -> None:
    asked = [Question("key-1", "a.0", "call-1"), Question("key-1", "a.1", None, FAILURE)]
    await keep(store, *asked, Question("key-2", "a.0", "call-2"))
    assert sorted(store.questions(["key-1"]), key=lambda each: each.name) == asked
    assert store.questions(["key-3"]) == [] == store.questions([])


async def test_a_reply_takes_the_place_of_a_failure_and_never_the_other_way(store: Store) -> None:
    await keep(store, Question("key-1", "a.0", None, FAILURE))
    await keep(store, Question("key-1", "a.0", "call-1"))
    await keep(store, Question("key-1", "a.0", None, FAILURE))
    await keep(store, Question("key-1", "a.0", "call-2"))
    assert store.questions(["key-1"]) == [Question("key-1", "a.0", "call-1")]


def test_replies_and_outcomes_are_found_by_their_keys(store: Store) -> None:
    store.write(
        replies=[StoredReply("call-1", Reply("yes"), 0.1)], ratings=[rating(score=4.0, explanation="so")]
    )
    assert store.replies(["call-1", "call-2"]) == {"call-1": Reply("yes", cost=0.1)}
    assert store.outcomes(["key-1", "key-2"]) == {("key-1", rating().dimension): Score(4.0, "so")}


def test_a_store_of_the_second_schema_is_brought_up_to_date(tmp_path: Path) -> None:
    with open_store(tmp_path / "old.sqlite") as store:
        store.write_ratings("first", [rating()])
    old = sqlite3.connect(tmp_path / "old.sqlite", isolation_level=None)
    drop_later_tables(old)
    old.execute("DROP TABLE questions")
    for later in ("model_asked", "model_answered", "probability"):
        old.execute(f"ALTER TABLE ratings DROP COLUMN {later}")
    old.execute("DELETE FROM schema_version WHERE version >= 3")
    old.close()
    with open_store(tmp_path / "old.sqlite") as store:
        assert list(store.ratings("first")) == [rating()] and store.questions(["key-1"]) == []


def test_the_models_asked_for_and_answering_come_back_exactly(store: Store) -> None:
    named = rating(model_asked="a, b", model_answered="a, other")
    store.write_ratings("first", [named, rating(key="key-2")])
    assert [(row.model_asked, row.model_answered) for row in store.ratings("first")] == [
        ("a, b", "a, other"),
        (None, None),
    ]
