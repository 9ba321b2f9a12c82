"""Ratings column by column: the same ratings, in blocks that can be cut and joined."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import polars
import pytest
from tests.ratings.samples import rating, unscored

from medjury.instruments import Reason
from medjury.store.ratings import Rating, RatingColumns, Store, rating_blocks, write_ratings
from medjury.store.ratings._frame import ratings_from_frame, row_of_rating, stored_columns


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
    assert one.equals(blocks) and ratings_from_frame(blocks) == given


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
