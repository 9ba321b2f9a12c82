"""Ratings on their way into a table and into the store: columns, probabilities, questions, records."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import polars
import pytest
from tests.ratings.samples import rating, ratings_of, unscored, write

from medjury.instruments import Reason, Score
from medjury.intake import FileError
from medjury.models import Reply
from medjury.store.ratings import (
    Question,
    Rating,
    RatingColumns,
    Store,
    StoreDesk,
    rating_blocks,
    read_ratings,
    write_ratings,
)
from medjury.store.ratings._frame import row_of_rating, stored_columns
from medjury.store.ratings._store.transaction import StoredReply


def test_there_is_a_column_for_each_field_of_a_rating() -> None:
    assert RatingColumns._fields == tuple(each.name for each in fields(Rating))


def test_blocks_of_a_store_are_its_ratings_and_a_failure_has_no_score(store: Store) -> None:
    store.write_ratings("run", [rating(), unscored(Reason.TIMEOUT, key="key-2", item="case-2")])
    [block] = store.blocks("run")
    assert list(block.ratings()) == list(store.ratings("run"))
    assert [score is None for score in block.score] == [False, True]


def test_what_is_cut_and_joined_again_is_what_it_was() -> None:
    given = [rating(key=f"key-{number}", score=float(number)) for number in range(5)]
    [block] = rating_blocks(given)
    again = RatingColumns.joined([block.part(0, 2), block.part(2, 2), block.part(2)])
    assert again.height == 5 and list(again.ratings()) == given
    assert list(block.at([4, 0]).ratings()) == [given[4], given[0]]
    assert list(block.part(1, step=2).ratings()) == given[1::2]


def test_a_row_that_is_no_rating_is_refused_where_blocks_become_a_table(tmp_path: Path) -> None:
    [block] = rating_blocks([rating(), rating(key="key-2")])
    with pytest.raises(ValueError, match="cannot be a rating"):
        write_ratings([block._replace(score=[4.0, None])], tmp_path / "ratings.parquet")
    assert not list(tmp_path.iterdir())


def test_a_table_of_blocks_holds_what_a_table_of_ratings_holds(tmp_path: Path) -> None:
    given = [
        rating(key=f"key-{number}", explanation=words, rater=words or "r", model_asked=words)
        for number, words in enumerate(["", "plain", "a\x00b", "half \ud800", "\x100000", "é"])
    ]
    write_ratings(given, tmp_path / "one.parquet")
    write_ratings(rating_blocks(given), tmp_path / "blocks.parquet")
    one, blocks = (polars.read_parquet(tmp_path / name) for name in ("one.parquet", "blocks.parquet"))
    assert one.equals(blocks) and ratings_of(blocks) == given


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize(
    "odd",
    [{"explanation": "a\x00b"}, {"item": "\x10 escape"}, {"explanation": "half \ud800"}, {"rater": "\x100000"},
     {"score": None, "status": "unscored", "reason": Reason.REFUSAL}],
    ids=["nul", "escape", "surrogate", "looks escaped", "reason"],
)  # fmt: skip
def test_one_odd_row_among_plain_ones_is_read_as_it_was_written(odd: dict[str, Any], place: int) -> None:
    """Rows are looked at together where all of them are plain."""
    given = [rating(key=f"key-{number}", **(odd if number == place else {})) for number in range(3)]
    found = stored_columns([row_of_rating(each) for each in given])
    assert list(found.ratings()) == given
    assert list(map(type, found.reason)) == [type(each.reason) for each in given]


@pytest.mark.parametrize("wrong", [0.0, -0.1, 1.5, float("nan")])
def test_no_rating_has_a_probability_of_nothing_or_of_more_than_one(wrong: float) -> None:
    with pytest.raises(ValueError, match="not above 0 and at most 1"):
        rating(probability=wrong)


def test_a_probability_that_was_corrected_is_a_new_row_and_the_same_one_is_not(store: Store) -> None:
    assert store.write_ratings("first", [rating()]) == 1
    assert store.write_ratings("first", [rating(probability=0.25)]) == 1
    assert store.write_ratings("first", [rating(probability=0.25)]) == 0
    assert [each.probability for each in store.ratings("first")] == [0.25]


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".jsonl"])
def test_every_export_holds_the_probability(tmp_path: Path, ending: str) -> None:
    rows = [rating(probability=0.1), rating(key="key-2", item="second")]
    write_ratings(rows, tmp_path / f"ratings{ending}")
    assert list(read_ratings(tmp_path / f"ratings{ending}").ratings) == rows


def clinicians(tmp_path: Path, *cells: str) -> Path:
    lines = [f"{number},ann,accuracy,4,{cell}" for number, cell in enumerate(cells)]
    (tmp_path / "clinicians.csv").write_text(
        "\n".join(["item,rater,dimension,score,probability", *lines]) + "\n"
    )
    return tmp_path / "clinicians.csv"


def test_a_clinicians_file_may_state_the_probability_of_every_row(tmp_path: Path) -> None:
    found = read_ratings(clinicians(tmp_path, "1", "0.05", "")).ratings
    assert [each.probability for each in found] == [1.0, 0.05, None]


@pytest.mark.parametrize("wrong", ["0", "1.2", "often"])
def test_a_probability_that_is_none_is_refused_with_its_row(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(FileError, match=r"row 3.*not above 0 and at most 1"):
        read_ratings(clinicians(tmp_path, "1", wrong))


def test_one_rating_with_two_probabilities_is_refused(tmp_path: Path) -> None:
    path = clinicians(tmp_path, "0.5")
    path.write_text(path.read_text() + "0,ann,accuracy,4,0.2\n")
    with pytest.raises(FileError, match="rated a second time, with a different score"):
        read_ratings(path)


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
    write(
        store,
        replies=[StoredReply("call-1", Reply("yes"), 0.1)],
        ratings=[rating(score=4.0, explanation="so")],
    )
    assert store.replies(["call-1", "call-2"]) == {"call-1": Reply("yes", cost=0.1)}
    assert store.outcomes(["key-1", "key-2"]) == {("key-1", rating().dimension): Score(4.0, "so")}
