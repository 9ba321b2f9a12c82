"""Ratings to test with, complete where the test says nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars

from medjury.instruments import TRANSIENT, Reason
from medjury.models import Reply
from medjury.store.ratings import Rating, Store, StoredRecord
from medjury.store.ratings._frame import rating_of_row
from medjury.store.ratings._store.owner import Claim, Owner
from medjury.store.ratings._store.statements import RATING_COLUMNS
from medjury.store.ratings._store.transaction import StoredReply, Transaction

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


def write(
    store: Store,
    *,
    replies: Sequence[StoredReply] = (),
    ratings: Sequence[Rating] = (),
    records: Sequence[StoredRecord] = (),
    members: Mapping[str, Iterable[str]] | None = None,
    releases: tuple[Owner, Iterable[str]] | None = None,
) -> int:
    """Add replies, ratings with their records, and members (run: keys), and let go of claims; how many ratings were
    new."""

    def work(transaction: Transaction) -> int:
        transaction.add_replies(replies)
        joining = {run: set(keys) for run, keys in (members or {}).items()}
        runs = {key: run for run, keys in joining.items() for key in keys}
        new = transaction.add_ratings(ratings, records, runs)
        for run, keys in joining.items():
            transaction.add_members(run, keys)
        if releases:
            transaction.drop_claims(releases[1], releases[0])
        return new

    return store.in_transaction(work)


def claim(store: Store, keys: Collection[str], owner: Owner) -> dict[str, Reply | Claim]:
    """For each key the stored reply, the right to make the call, or that another is making it."""

    def work(transaction: Transaction) -> dict[str, Reply | Claim]:
        transaction.beat(owner)
        return transaction.find_or_claim(keys, owner)

    return store.in_transaction(work)


def settled(store: Store, keys: Collection[str], retry: Collection[Reason] = TRANSIENT) -> set[str]:
    """The keys that need no further work."""
    return store.in_transaction(lambda transaction: transaction.settled(keys, retry), write=False)
