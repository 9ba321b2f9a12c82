"""A row on its way out of a store is a rating in all but its checks."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
from tests.ratings.samples import rating, unscored

from medjury.instruments import Reason
from medjury.ratings import Rating, RatingRow, Store
from medjury.ratings._frame import row_of_rating, stored_rows


def test_it_has_the_fields_of_a_rating_in_their_order() -> None:
    assert RatingRow._fields == tuple(each.name for each in fields(Rating))


def test_rows_of_a_store_are_its_ratings_and_a_failure_has_no_score(store: Store) -> None:
    store.write_ratings("run", [rating(), unscored(Reason.TIMEOUT, key="key-2", item="case-2")])
    rows, ratings = list(store.rows("run")), list(store.ratings("run"))
    assert [Rating(*row) for row in rows] == ratings
    assert [row.score is None for row in rows] == [False, True]


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
    found = list(stored_rows([row_of_rating(each) for each in given]))
    assert [Rating(*each) for each in found] == given
    assert [type(each.reason) for each in found] == [type(each.reason) for each in given]
