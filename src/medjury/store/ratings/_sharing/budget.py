"""One budget for all workers: each sets the worst case of its calls aside where the others see it.

What was sent is counted by the shared log. A worker that dies has set nothing aside any more; what it had sent
stays counted. So calls of several machines cannot exceed a cap together, whenever one of them ends.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from medjury.instruments import Reason
from medjury.models import Budget, ModelError, Reservation
from medjury.store.ratings._sharing.account import Account
from medjury.store.ratings._store.owner import Owner
from medjury.store.ratings._store.store_error import StoreError
from medjury.store.ratings._store.transaction import Transaction

_FIRST_WAIT, _LONGEST_WAIT = 0.02, 0.5  # seconds between two looks for room
_SPENT = "SELECT calls, money, perhaps FROM spendings WHERE log = %s"
_OTHERS = """SELECT coalesce(sum(calls), 0), coalesce(sum(money), 0), coalesce(sum(on_their_way), 0)
    FROM allowances WHERE log = %s AND owner <> %s"""
_KEEP = """INSERT INTO allowances (owner, log, calls, money, on_their_way) VALUES (%s, %s, %s, %s, %s)
    ON CONFLICT (owner, log) DO UPDATE SET calls = excluded.calls, money = excluded.money,
        on_their_way = excluded.on_their_way"""

_Word = Literal["granted", "wait", "no room"]


@dataclass(frozen=True, slots=True)
class _Set(Reservation):
    """What is set aside for one call, by its number."""

    number: int


@dataclass(frozen=True, slots=True)
class _Over:
    """The call for which something was set aside has ended."""

    number: int


class SharedBudget(Budget):
    """Caps for all workers of a study together; None means no cap."""

    def __init__(self, account: Account, money: float | None = None, calls: int | None = None) -> None:
        super().__init__(money, calls)
        self._account = account
        self._numbers = itertools.count(1)
        self._set_aside: dict[int, float] = {}  # not in the log yet
        self._on_their_way: dict[int, None] = {}  # in the log, without an end

    @property
    def _capped(self) -> bool:
        return self.money is not None or self.calls is not None

    async def reserve(self, money: float) -> Reservation:
        """Set aside the worst case of one call; waits where a call of any worker may yet make room."""
        asked = _Set(money, next(self._numbers))
        wait = _FIRST_WAIT
        while self._capped:
            answering = self._account.desk.together(self._carry_out, asked)
            try:
                word: _Word = await asyncio.shield(answering)
            except BaseException:
                answering.add_done_callback(lambda _: self._let_go(asked))
                raise
            if word == "no room":
                raise ModelError(Reason.OVER_BUDGET, self._say())
            if word == "granted":
                break
            await asyncio.sleep(wait)
            wait = min(2 * wait, _LONGEST_WAIT)
        return asked

    def announced(self, reservation: Reservation) -> None:
        """The shared log counts it from now on."""
        if isinstance(reservation, _Set) and self._set_aside.pop(reservation.number, None) is not None:
            self._on_their_way[reservation.number] = None

    def settle(
        self, reservation: Reservation, *, cost: float | None, sent: bool = True, lost: bool = False
    ) -> None:
        """The call is over; what it cost is counted by the shared log."""
        if self._capped and isinstance(reservation, _Set):
            self._let_go(reservation)

    def _let_go(self, reservation: _Set) -> None:
        """Tell the others. Its end is in the log by the same transaction; until then there may yet be room."""
        self._set_aside.pop(reservation.number, None)
        with suppress(StoreError):  # a desk that is closed has let go of all
            telling = self._account.desk.together(self._carry_out, _Over(reservation.number))
            telling.add_done_callback(lambda done: self._told(done, reservation.number))

    def _told(self, telling: asyncio.Future[None], number: int) -> None:
        self._on_their_way.pop(number, None)
        if not telling.cancelled():
            telling.exception()  # a store that fails tells those who wait for it

    def _carry_out(self, transaction: Transaction, owner: Owner, wishes: Sequence[_Set | _Over]) -> list[Any]:
        """In the desk's thread, and perhaps again: what was granted before and is asked now is asked anew."""
        cursor = transaction.cursor
        cursor.execute(_SPENT, (self._account.name,))
        self.spent_calls, self.spent_money, self.perhaps_spent = cursor.fetchone()
        others = self._others(cursor, owner)
        for wish in wishes:
            self._set_aside.pop(wish.number, None)
        words = []
        for wish in wishes:
            word = self._word(wish.money, others) if isinstance(wish, _Set) else None
            if isinstance(wish, _Set) and word == "wait" and transaction.drop_dead_owners(owner):
                others = self._others(cursor, owner)
                word = self._word(wish.money, others)
            if isinstance(wish, _Set) and word == "granted":
                self._set_aside[wish.number] = wish.money
            words.append(word)
        held = list(self._set_aside.values())
        under_way = set(self._on_their_way) - {wish.number for wish in wishes}
        cursor.execute(_KEEP, (owner.id, self._account.name, len(held), sum(held), len(under_way)))
        return words

    def _others(self, cursor: Any, owner: Owner) -> tuple[int, float, int]:
        cursor.execute(_OTHERS, (self._account.name, owner.id))
        calls, money, on_their_way = cursor.fetchone()
        return int(calls), float(money), int(on_their_way)

    def _word(self, money: float, others: tuple[int, float, int]) -> _Word:
        held = list(self._set_aside.values())
        self._reserved_calls, self._reserved_money = len(held) + others[0], sum(held) + others[1]
        if self.has_room(money):
            return "granted"
        busy = self._reserved_calls + others[2] + len(self._on_their_way)
        return "wait" if busy else "no room"
