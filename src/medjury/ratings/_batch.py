"""One transaction's worth of requests to a store, and who waits for each of them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TypeAlias

from medjury.instruments import Reason
from medjury.models import Reply
from medjury.ratings._owner import Busy, Claimed, Owner
from medjury.ratings._rating import Rating
from medjury.ratings._transaction import StoredReply, Transaction

Answer: TypeAlias = Reply | Claimed | Busy


@dataclass(slots=True)
class SettledQuestion:
    """A question which keys need no further work, entering them in a run where one is named."""

    keys: Collection[str]
    retry: Collection[Reason]
    run: str | None
    future: asyncio.Future[set[str]]
    answer: set[str] = field(default_factory=set)


@dataclass(slots=True)
class RatedQuestion:
    """A question which keys have any rating at all."""

    keys: Collection[str]
    future: asyncio.Future[set[str]]
    answer: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Batch:
    """What one transaction is to do, and who waits for it."""

    find: dict[str, asyncio.Future[Answer]] = field(default_factory=dict)
    replies: list[StoredReply] = field(default_factory=list)
    releases: list[str] = field(default_factory=list)
    ratings: list[Rating] = field(default_factory=list)
    members: dict[str, set[str]] = field(default_factory=dict)
    settled: list[SettledQuestion] = field(default_factory=list)
    rated: list[RatedQuestion] = field(default_factory=list)
    written: list[asyncio.Future[None]] = field(default_factory=list)
    found: dict[str, Answer] = field(default_factory=dict)
    error: Exception | None = None

    def only_reads(self) -> bool:
        joins = any(each.run is not None for each in self.settled)
        return not (self.find or self.replies or self.releases or self.ratings or self.members or joins)

    def carry_out(self, transaction: Transaction, owner: Owner) -> None:
        transaction.add_replies(self.replies)
        transaction.add_ratings(self.ratings)
        for run, keys in self.members.items():
            transaction.add_members(run, keys)
        transaction.drop_claims(self.releases, owner)
        if self.find:
            self.found = transaction.find_or_claim(self.find, owner)
        for question in self.settled:
            question.answer = transaction.settled(question.keys, question.retry)
            if question.run is not None:
                transaction.add_members(question.run, question.answer)
        for asked in self.rated:
            asked.answer = transaction.rated(asked.keys)
