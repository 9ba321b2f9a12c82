"""What workers on several machines share through PostgreSQL: one log, one budget, one pace.

The log has a row for every request before it leaves, and one for its end. Rows lie in PostgreSQL until the run
folder's log has them (`LogDrain`). What requests have cost is counted in the same transaction, as the log in the
run folder counts it. A worker that was killed leaves requests without an end, which count as made and, at their
worst case, as perhaps paid for.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from medjury.foundation.clock import utc_now
from medjury.instruments import Reason
from medjury.models import AuditTotals, Budget, ModelError, Reservation
from medjury.store.ratings._store.escaping import escape
from medjury.store.ratings._store.owner import Claim, Owner
from medjury.store.ratings._store.queue import StoreDesk
from medjury.store.ratings._store.store import Store
from medjury.store.ratings._store.store_error import StoreError
from medjury.store.ratings._store.transaction import Transaction

_ADD = """WITH added AS (
        INSERT INTO requests (log, owner, serial, ends, entry, calls, money, perhaps)
        SELECT %s, %s, serial, ends, entry, calls, money, perhaps
        FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::bigint[], %s::float8[], %s::float8[])
            WITH ORDINALITY AS row (serial, ends, entry, calls, money, perhaps, place) ORDER BY place
        ON CONFLICT DO NOTHING RETURNING calls, money, perhaps),
    summed AS (SELECT sum(calls) AS calls, sum(money) AS money, sum(perhaps) AS perhaps FROM added)
    UPDATE spendings SET calls = spendings.calls + summed.calls, money = spendings.money + summed.money,
        perhaps = greatest(0, spendings.perhaps + summed.perhaps)
    FROM summed WHERE log = %s AND summed.calls IS NOT NULL"""
_BEGIN = """INSERT INTO spendings (log, calls, money, perhaps) VALUES (%s, %s, %s, %s) ON CONFLICT (log) DO UPDATE
    SET calls = excluded.calls, money = excluded.money, perhaps = excluded.perhaps"""
_TAKEN_OVER = "another worker has taken this call over, because this one did not report; nothing was sent"


@dataclass(frozen=True, slots=True, eq=False)
class _Line:
    """A row of the log: what it says, and what it changes of all that was spent."""

    serial: int
    ends: int | None
    entry: str
    calls: int
    money: float
    perhaps: float
    claimed: str | None = None  # the key of a call that only the one who holds it may make


class Account:
    """One worker's hand on the shared log, which `log` names. Its logs number their lines together."""

    def __init__(self, desk: StoreDesk, log: str) -> None:
        self.desk = desk
        self.name = log
        self._serials = itertools.count(1)
        self._perhaps: dict[int, float] = {}  # of requests without an end: what each may cost

    @staticmethod
    def begin(store: Store, log: str, spent: AuditTotals) -> None:
        """Before the workers begin: what the study has spent so far, and nothing set aside."""

        def work(transaction: Transaction) -> None:
            cursor = transaction.cursor
            cursor.execute(_BEGIN, (log, spent.calls, spent.money, spent.perhaps))
            cursor.execute("DELETE FROM allowances WHERE log = %s", (log,))
            cursor.execute("DELETE FROM paces WHERE log = %s", (log,))

        store.in_transaction(work)

    @staticmethod
    def spent(store: Store, log: str) -> tuple[int, float]:
        """Calls and money of all workers, and of earlier runs of the study."""

        def work(transaction: Transaction) -> tuple[int, float]:
            transaction.cursor.execute("SELECT calls, money FROM spendings WHERE log = %s", (log,))
            calls, money = transaction.cursor.fetchone()
            return int(calls), float(money)

        return store.in_transaction(work, write=False)

    def budget(self, money: float | None = None, calls: int | None = None) -> SharedBudget:
        """The caps that all workers keep together; None means no cap."""
        return SharedBudget(self, money, calls)

    def pace(self, name: str, per_minute: float) -> SharedPace:
        """The limit by the minute that all workers keep together."""
        return SharedPace(self, name, per_minute)

    def log(self, mark: Mapping[str, Any] | None = None, *, claimed: bool = True) -> SharedLog:
        """The log with `mark` on each line. Where calls are `claimed`, one that another has taken over is not
        announced."""
        return SharedLog(self, dict(mark or {}), claimed)

    def announcement(self, entry: Mapping[str, Any], claimed: bool) -> _Line:
        counts = entry.get("for") == "call"
        perhaps = float(entry.get("perhaps") or 0.0) if counts else 0.0
        serial = next(self._serials)
        self._perhaps[serial] = perhaps
        key = str(entry["key"]) if counts and claimed else None
        return _Line(serial, None, json.dumps(entry), int(counts), 0.0, perhaps, key)

    def end(self, entry: Mapping[str, Any]) -> _Line:
        given = dict(entry)
        of = given.pop("of", None)
        before = self._perhaps.pop(of, 0.0) if isinstance(of, int) else 0.0
        calls, money, perhaps = 0, 0.0, 0.0
        if given.get("event") == "call":
            in_vain = given.get("preflight") is True and "reply" not in given
            counted = of is not None  # when it was announced
            calls = -counted if in_vain or given.get("left") is False else 1 - counted
            money = 0.0 if in_vain else float(given.get("cost") or 0.0)
            perhaps = (0.0 if in_vain else float(given.get("perhaps") or 0.0)) - before
        return _Line(next(self._serials), of, json.dumps(given), calls, money, perhaps)

    def write(self, transaction: Transaction, owner: Owner, lines: Sequence[_Line]) -> Sequence[bool]:
        """All lines of one moment; whether each was written."""
        claimed = {line.claimed for line in lines if line.claimed is not None}
        lost = claimed - (transaction.held_by(owner, claimed) if claimed else set())
        # Somebody took us for dead, as after a long sleep: what nobody else is at may be taken up again.
        lost -= {
            key
            for key, answer in (transaction.find_or_claim(lost, owner) if lost else {}).items()
            if answer is Claim.OURS
        }
        written = [line for line in lines if line.claimed is None or line.claimed not in lost]
        if written:
            columns = [list(column) for column in zip(*map(_row, written), strict=True)]
            transaction.cursor.execute(_ADD, (self.name, owner.id, *columns, self.name))
        return [line.claimed is None or line.claimed not in lost for line in lines]


def _row(line: _Line) -> tuple[Any, ...]:
    return line.serial, line.ends, escape(line.entry), line.calls, line.money, line.perhaps


class SharedLog:
    """What the gate writes to (see `RequestLog`), in the place of a file."""

    def __init__(self, account: Account, mark: Mapping[str, Any], claimed: bool) -> None:
        self._account = account
        self._mark = mark
        self._claimed = claimed

    async def announce(self, entry: Mapping[str, Any]) -> int:
        """Returns when the line is safely stored. Where the caller is cancelled meanwhile, the log says that
        nothing came of it; where another worker has the call by now, it is refused."""
        line = self._account.announcement(self._dated(entry), self._claimed)
        writing = self._account.desk.together(self._account.write, line)
        try:
            written = await asyncio.shield(writing)
        except asyncio.CancelledError:
            writing.add_done_callback(lambda done: self._never_left(done, line.serial, entry))
            raise
        if not written:
            raise ModelError(Reason.PROVIDER, _TAKEN_OVER)
        return line.serial

    async def append(self, entry: Mapping[str, Any]) -> None:
        """The end of an answered request: it is in the transaction that stores the reply."""
        self.record(entry)

    def record(self, entry: Mapping[str, Any]) -> None:
        """The end of a request. Should it not be written, the request counts at its worst case."""
        writing = self._account.desk.together(self._account.write, self._account.end(self._dated(entry)))
        writing.add_done_callback(_looked_at)

    def _never_left(self, writing: asyncio.Future[bool], serial: int, entry: Mapping[str, Any]) -> None:
        if not writing.cancelled() and writing.exception() is None and writing.result():
            self.record({"of": serial, "event": entry["for"], "status": "cancelled", "left": False})

    def _dated(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        return {**entry, **self._mark, "at": utc_now()}


def _looked_at(writing: asyncio.Future[Any]) -> None:
    """A store that fails tells those who wait for it."""
    if not writing.cancelled():
        writing.exception()


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
            telling = self._account.desk.together(self._carry_out, reservation.number)
            telling.add_done_callback(lambda done: self._reported(done, reservation.number))

    def _reported(self, telling: asyncio.Future[None], number: int) -> None:
        self._on_their_way.pop(number, None)
        if not telling.cancelled():
            telling.exception()  # a store that fails tells those who wait for it

    def _carry_out(self, transaction: Transaction, owner: Owner, wishes: Sequence[_Set | int]) -> list[Any]:
        """In the desk's thread, and perhaps again: what was granted before and is asked now is asked anew. A number
        is that of a call which has ended."""
        cursor = transaction.cursor
        cursor.execute(_SPENT, (self._account.name,))
        self.spent_calls, self.spent_money, self.perhaps_spent = cursor.fetchone()
        others = self._others(cursor, owner)
        numbers = {wish.number if isinstance(wish, _Set) else wish for wish in wishes}
        for number in numbers:
            self._set_aside.pop(number, None)
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
        under_way = set(self._on_their_way) - numbers
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


_NOW = "extract(epoch FROM clock_timestamp())::float8"
_CHANGE = f"""INSERT INTO paces (log, name, level, moment) VALUES (%(log)s, %(name)s, %(most)s - %(taken)s, {_NOW})
    ON CONFLICT (log, name) DO UPDATE SET moment = {_NOW}, level = least(%(most)s, paces.level + %(given)s
        + greatest(0, {_NOW} - paces.moment) * %(rate)s) - %(taken)s
    RETURNING level"""  # noqa: S608 - our own words


class SharedPace:
    """A bucket that holds one second's worth, and out of which the workers of a study take in turn. What one had
    taken when it died is not given back: the others are a little slower for a moment."""

    def __init__(self, account: Account, name: str, per_minute: float) -> None:
        self._account = account
        self._name = name
        self._rate = per_minute / 60
        self._most = max(1.0, self._rate)

    async def take(self, amount: float) -> None:
        level = await self._account.desk.together(self._carry_out, amount)
        missing = min(0.0, level + max(0.0, amount - self._most))
        if missing < 0:
            await asyncio.sleep(-missing / self._rate)

    def give_back(self, amount: float) -> None:
        giving = self._account.desk.together(self._carry_out, -amount)
        giving.add_done_callback(lambda done: None if done.cancelled() else done.exception())

    def _carry_out(self, transaction: Transaction, owner: Owner, changes: Sequence[float]) -> list[Any]:
        """The level after each of the changes, in their order."""
        taken = sum(each for each in changes if each > 0)
        given = -sum(each for each in changes if each < 0)
        values = {"log": self._account.name, "name": self._name, "rate": self._rate, "most": self._most}
        transaction.cursor.execute(_CHANGE, values | {"taken": taken, "given": given})
        level = float(transaction.cursor.fetchone()[0]) + taken
        levels = []
        for each in changes:
            level -= max(0.0, each)
            levels.append(level)
        return levels
