"""One transaction's worth of requests to a store, and who waits for each of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from medjury.instruments import Reason
from medjury.models import Reply
from medjury.store.ratings._rating import Question, Rating, StoredRecord
from medjury.store.ratings._store.owner import Claim, Owner
from medjury.store.ratings._store.transaction import StoredReply, Transaction

Answer: TypeAlias = Reply | Claim
# Carries out all wishes of one kind at once, and has an answer to each. It may be repeated.
CarryOut: TypeAlias = Callable[[Transaction, Owner, Sequence[Any]], Sequence[Any]]


@dataclass(slots=True)
class SettledQuestion:
    """A question which keys need no further work, entering them in a run where one is named."""

    keys: Collection[str]
    retry: Collection[Reason]
    run: str | None
    future: asyncio.Future[set[str]]
    answer: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Write:
    """What one task wants kept, all of it or nothing; the claims in `releases` end with it."""

    future: asyncio.Future[None]
    replies: Sequence[StoredReply] = ()
    ratings: Sequence[Rating] = ()
    records: Sequence[StoredRecord] = ()
    questions: Sequence[Question] = ()
    run: str = ""
    releases: Sequence[str] = ()


@dataclass(slots=True)
class Wishes:
    """What several tasks want of the same kind."""

    wanted: list[Any] = field(default_factory=list)
    futures: list[asyncio.Future[Any]] = field(default_factory=list)
    answers: Sequence[Any] = ()


@dataclass(slots=True)
class Batch:
    """What one transaction is to do, and who waits for it."""

    find: dict[str, asyncio.Future[Answer]] = field(default_factory=dict)
    releases: list[str] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    settled: list[SettledQuestion] = field(default_factory=list)
    together: dict[CarryOut, Wishes] = field(default_factory=dict)
    found: dict[str, Answer] = field(default_factory=dict)
    error: Exception | None = None

    def only_reads(self) -> bool:
        joins = any(each.run is not None for each in self.settled)
        keeps = any(each.replies or each.ratings or each.releases for each in self.writes)
        return not (self.find or self.releases or self.together or keeps or joins)

    def parts(self) -> Iterator[Batch]:
        """The same requests, each in a batch of its own."""
        yield Batch(releases=self.releases)
        for write in self.writes:
            yield Batch(writes=[write])
        for key, future in self.find.items():
            yield Batch(find={key: future})
        for question in self.settled:
            yield Batch(settled=[question])
        for carry_out, wishes in self.together.items():
            yield Batch(together={carry_out: wishes})

    def carry_out(self, transaction: Transaction, owner: Owner) -> None:
        for carry_out, wishes in self.together.items():
            wishes.answers = carry_out(transaction, owner, wishes.wanted)
        transaction.add_replies([reply for write in self.writes for reply in write.replies])
        runs = {rating.key: write.run for write in reversed(self.writes) for rating in write.ratings}
        transaction.add_ratings(
            [rating for write in self.writes for rating in write.ratings],
            [record for write in self.writes for record in write.records],
            runs,
        )
        transaction.add_questions([question for write in self.writes for question in write.questions])
        members: dict[str, set[str]] = {}
        for write in self.writes:
            if write.ratings:
                members.setdefault(write.run, set()).update([rating.key for rating in write.ratings])
        for run, keys in members.items():
            transaction.add_members(run, keys)
        ended = [key for write in self.writes for key in write.releases]
        transaction.drop_claims([*self.releases, *ended], owner)
        if self.find:
            self.found = transaction.find_or_claim(self.find, owner)
        for question in self.settled:
            question.answer = transaction.settled(question.keys, question.retry)
            if question.run is not None:
                transaction.add_members(question.run, question.answer)
