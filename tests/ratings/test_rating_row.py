"""A row on its way out of a store is a rating in all but its checks."""

from __future__ import annotations

from dataclasses import fields

from tests.ratings.samples import rating, unscored

from medjury.instruments import Reason
from medjury.ratings import Rating, RatingRow, Store


def test_it_has_the_fields_of_a_rating_in_their_order() -> None:
    assert RatingRow._fields == tuple(each.name for each in fields(Rating))


def test_rows_of_a_store_are_its_ratings_and_a_failure_has_no_score(store: Store) -> None:
    store.write_ratings("run", [rating(), unscored(Reason.TIMEOUT, key="key-2", item="case-2")])
    rows, ratings = list(store.rows("run")), list(store.ratings("run"))
    assert [Rating(*row) for row in rows] == ratings
    assert [row.score is None for row in rows] == [False, True]
