"""Ratings to test with, complete where the test says nothing."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from typing import Any

from medjury.instruments import Reason
from medjury.store.ratings import Rating

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


def drop_later_tables(old: sqlite3.Connection) -> None:
    """Take from a new store what came with its sixth schema and after: a step towards an old one."""
    old.execute("ALTER TABLE replies DROP COLUMN tokens_written")
    old.execute("ALTER TABLE replies DROP COLUMN token")
    old.execute("ALTER TABLE questions DROP COLUMN read_as")
    for table in ("batch_jobs", "batch_calls", "erasures", "secrets"):
        old.execute(f"DROP TABLE {table}")
