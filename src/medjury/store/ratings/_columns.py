"""Ratings column by column: the way of many of them from a store into a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, starmap
from operator import attrgetter
from typing import Any, NamedTuple

from medjury.instruments import Reason
from medjury.store.ratings._rating import RaterKind, Rating, Status

_ROWS_AT_ONCE = 2_000


class RatingColumns(NamedTuple):
    """Some ratings, each field of all of them in a column. They are checked as a whole where they become a table:
    to make a `Rating` of each would take most of the time."""

    item: Sequence[str]
    system: Sequence[str]
    rater: Sequence[str]
    rater_kind: Sequence[RaterKind]
    instrument: Sequence[str]
    dimension: Sequence[str]
    repeat: Sequence[int]
    score: Sequence[float | None]
    status: Sequence[Status]
    reason: Sequence[Reason | None]
    explanation: Sequence[str]
    seconds: Sequence[float | None]
    tokens_in: Sequence[int | None]
    tokens_out: Sequence[int | None]
    cost: Sequence[float | None]
    created_at: Sequence[str]
    key: Sequence[str]
    calls: Sequence[int | None]
    model_asked: Sequence[str | None]
    model_answered: Sequence[str | None]
    probability: Sequence[float | None]

    @property
    def height(self) -> int:
        """How many ratings there are."""
        return len(self.item)

    def ratings(self) -> Iterator[Rating]:
        """The same one by one."""
        return starmap(Rating, zip(*self, strict=True))

    def part(self, start: int, stop: int | None = None, step: int = 1) -> RatingColumns:
        """Some of them, as a slice of a list has them."""
        columns: list[Any] = [column[start:stop:step] for column in self]
        return RatingColumns(*columns)

    @staticmethod
    def joined(blocks: Sequence[RatingColumns]) -> RatingColumns:
        """All ratings of several blocks, of which there is at least one."""
        if len(blocks) == 1:
            return blocks[0]
        columns: list[Any] = [list(chain.from_iterable(parts)) for parts in zip(*blocks, strict=True)]
        return RatingColumns(*columns)

    def at(self, places: Sequence[int]) -> RatingColumns:
        """Those at these places, in this order."""
        columns: list[Any] = [list(map(column.__getitem__, places)) for column in self]
        return RatingColumns(*columns)


def rating_blocks(ratings: Iterable[Rating]) -> Iterator[RatingColumns]:
    """Ratings in blocks, as many at a time as are quick to handle."""
    remaining = iter(ratings)
    while some := list(islice(remaining, _ROWS_AT_ONCE)):
        yield RatingColumns(*zip(*map(_VALUES, some), strict=True))


_VALUES = attrgetter(*RatingColumns._fields)
