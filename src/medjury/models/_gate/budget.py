"""The run's caps in money and in calls. The worst case is set aside before a call, so that calls made at the
same time cannot exceed a cap together."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Self

from medjury.instruments import Reason
from medjury.models._chat import ModelError
from medjury.models._gate.audit_log import AuditTotals

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Reservation:
    """What is set aside for one call."""

    money: float


class Budget:
    """Caps for one run; None means no cap. `spent_money`, `spent_calls` and `perhaps_spent` are what earlier
    runs of the same study have used; `perhaps_calls` of those calls were in flight when a run was killed. Every
    request that was really sent counts; a cached answer is free.
    """

    def __init__(
        self,
        money: float | None = None,
        calls: int | None = None,
        *,
        spent_money: float = 0.0,
        spent_calls: int = 0,
        perhaps_spent: float = 0.0,
        perhaps_calls: int = 0,
    ) -> None:
        self.money = money
        self.calls = calls
        self.spent_money = spent_money
        self.spent_calls = spent_calls
        # Lost answers (a timeout, a broken connection) may be on the bill: they count against the cap at
        # their worst case, but are not reported as spent.
        self.perhaps_spent = perhaps_spent
        self.perhaps_calls = perhaps_calls
        self._reserved_money = 0.0
        self._reserved_calls = 0
        self._settled: asyncio.Event | None = None

    @classmethod
    def after(cls, spent: AuditTotals, money: float | None, calls: int | None) -> Self:
        """The caps of a study whose log says what it has spent."""
        return cls(
            money, calls, spent_money=spent.money, spent_calls=spent.calls, perhaps_spent=spent.perhaps,
            perhaps_calls=spent.unended,
        )  # fmt: skip

    async def reserve(self, money: float) -> Reservation:
        """Set aside the worst case of one call; waits where calls in flight may yet make room."""
        while not self.has_room(money):
            if self._reserved_calls == 0 or not self._may_have_room(money):
                raise ModelError(Reason.OVER_BUDGET, self._say())
            if self._settled is None:
                self._settled = asyncio.Event()
            await self._settled.wait()
        self._reserved_money += money
        self._reserved_calls += 1
        return Reservation(money)

    def announced(self, reservation: Reservation) -> None:
        """The call is in the log now. Here nothing changes: it is set aside until it has an end."""

    def settle(
        self, reservation: Reservation, *, cost: float | None, sent: bool = True, lost: bool = False
    ) -> None:
        """The call is over: count what it cost (None: not known, which a cap in money rules out)."""
        self._reserved_money -= reservation.money
        self._reserved_calls -= 1
        if self._reserved_calls == 0:
            self._reserved_money = 0.0  # no drift from rounding
        self.spent_calls += sent
        self.spent_money += cost or 0.0
        if lost:
            self.perhaps_spent += reservation.money
        if self._settled is not None:
            self._settled.set()
            self._settled = None

    def resolve(self, perhaps: float, *, cost: float | None, calls: int = 0) -> None:
        """The end of a call that an earlier process has made is known now: what it cost takes the place of what it
        may have cost. `calls` are those that were not counted then."""
        self.perhaps_spent = max(0.0, self.perhaps_spent - perhaps)
        self.spent_money += cost or 0.0
        self.spent_calls += calls

    def has_room(self, money: float, calls: int = 1) -> bool:
        """Whether so many calls, which cost this much together at worst, may be made beside those in flight."""
        counted = self.spent_money + self.perhaps_spent + self._reserved_money + money
        if self.money is not None and counted > self.money * (1 + _ROUNDING):
            return False
        return self.calls is None or self.spent_calls + self._reserved_calls + calls <= self.calls

    def _may_have_room(self, money: float) -> bool:
        """Whether there would be room if every call in flight turned out to cost nothing."""
        if self.calls is not None and self.spent_calls >= self.calls:
            return False
        counted = self.spent_money + self.perhaps_spent + money
        return self.money is None or counted <= self.money * (1 + _ROUNDING)

    def _say(self) -> str:
        caps = []
        if self.money is not None:
            lost = f", {self.perhaps_spent:.4g} perhaps" if self.perhaps_spent else ""
            caps.append(f"{self.spent_money:.4g} of {self.money:g} in money is spent{lost}")
        if self.calls is not None:
            killed = f", {self.perhaps_calls:,} of them perhaps" if self.perhaps_calls else ""
            caps.append(f"{self.spent_calls:,} of {self.calls:,} calls are made{killed}")
        return f"the budget leaves no room for another call: {'; '.join(caps)}"
