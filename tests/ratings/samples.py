"""Ratings to test with, complete where the test says nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars

from medjury.instruments import Reason
from medjury.store.ratings import Rating
from medjury.store.ratings._frame import rating_of_row
from medjury.store.ratings._store.statements import RATING_COLUMNS

_PLAIN = Rating(
    item="case-1", system="scribe", rater="judge-a", rater_kind="judge", instrument="note_quality@1",
    dimension="accuracy", repeat=0, score=4.0, status="scored", reason=None, explanation="", seconds=0.5,
    tokens_in=100, tokens_out=20, cost=0.001, created_at="2026-01-31T12:00:00.000+00:00", key="key-1",
)  # fmt: skip


def rating(**changes: Any) -> Rating:
    """A scored rating of a judge."""
    return replace(_PLAIN, **changes)


def unscored(reason: Reason = Reason.TIMEOUT, **changes: Any) -> Rating:
    """A rating without a score."""
    return replace(_PLAIN, score=None, status="unscored", reason=reason, **changes)


def ratings_of(table: polars.DataFrame) -> list[Rating]:
    """The ratings that a table of them holds."""
    return [rating_of_row(row) for row in table.select(RATING_COLUMNS).iter_rows()]
