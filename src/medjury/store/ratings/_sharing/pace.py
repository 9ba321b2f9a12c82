"""One limit by the minute for all workers: the bucket of `models/_gate/limits.py`, kept by PostgreSQL's clock."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from medjury.store.ratings._sharing.account import Account
from medjury.store.ratings._store.owner import Owner
from medjury.store.ratings._store.transaction import Transaction

_NOW = "extract(epoch FROM clock_timestamp())::float8"
_CHANGE = f"""INSERT INTO paces (log, name, level, moment) VALUES (%(log)s, %(name)s, %(most)s - %(taken)s, {_NOW})
    ON CONFLICT (log, name) DO UPDATE SET moment = {_NOW}, level = least(%(most)s, paces.level + %(given)s
        + greatest(0, {_NOW} - paces.moment) * %(rate)s) - %(taken)s
    RETURNING level"""  # noqa: S608 - our own words


@dataclass(frozen=True, slots=True)
class _Change:
    """So much more, or so much given back."""

    amount: float


class SharedPace:
    """A bucket that holds one second's worth, and out of which the workers of a study take in turn. What one had
    taken when it died is not given back: the others are a little slower for a moment."""

    def __init__(self, account: Account, name: str, per_minute: float) -> None:
        self._account = account
        self._name = name
        self._rate = per_minute / 60
        self._most = max(1.0, self._rate)

    async def take(self, amount: float) -> None:
        level = await self._account.desk.together(self._carry_out, _Change(amount))
        missing = min(0.0, level + max(0.0, amount - self._most))
        if missing < 0:
            await asyncio.sleep(-missing / self._rate)

    def give_back(self, amount: float) -> None:
        giving = self._account.desk.together(self._carry_out, _Change(-amount))
        giving.add_done_callback(lambda done: None if done.cancelled() else done.exception())

    def _carry_out(self, transaction: Transaction, owner: Owner, changes: Sequence[_Change]) -> list[Any]:
        """The level after each of the changes, in their order."""
        taken = sum(each.amount for each in changes if each.amount > 0)
        given = -sum(each.amount for each in changes if each.amount < 0)
        values = {"log": self._account.name, "name": self._name, "rate": self._rate, "most": self._most}
        transaction.cursor.execute(_CHANGE, values | {"taken": taken, "given": given})
        level = float(transaction.cursor.fetchone()[0]) + taken
        levels = []
        for each in changes:
            level -= max(0.0, each.amount)
            levels.append(level)
        return levels
