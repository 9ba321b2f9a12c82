"""The store keeps what it is given, once, in order, and forgets nothing."""

from __future__ import annotations

from tests.ratings.samples import rating

from medjury.ratings import Store


def test_a_rating_comes_back_exactly(store: Store) -> None:
    given = rating(score=4.25, explanation="because", seconds=0.1, tokens_in=3, tokens_out=None, cost=0.25)
    assert store.write_ratings("first", [given]) == 1
    assert list(store.ratings()) == [given]
    assert list(store.ratings("first")) == [given]
    assert list(store.ratings("another run")) == []
