"""The log that the workers of one study share: a row for every request before it leaves, and one for its end.

Rows lie in PostgreSQL until the run folder's log has them (`drain`). What requests have cost is counted in the same
transaction, as the log in the run folder counts it. A worker that was killed leaves requests without an end, which
count as made and, at their worst case, as perhaps paid for.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from medjury.foundation.clock import utc_now
from medjury.instruments import Reason
from medjury.models import AuditTotals, ModelError
from medjury.store.ratings._store.desk import StoreDesk
from medjury.store.ratings._store.escaping import escape
from medjury.store.ratings._store.owner import Claimed, Owner
from medjury.store.ratings._store.store import Store
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
_TAKEN_OVER = (
    "another worker has taken this call over, because nothing was heard of this one; nothing was sent"
)


def begin_account(store: Store, log: str, spent: AuditTotals) -> None:
    """Before the workers begin: what the study has spent so far, and nothing set aside."""

    def work(transaction: Transaction) -> None:
        cursor = transaction.cursor
        cursor.execute(_BEGIN, (log, spent.calls, spent.money, spent.perhaps))
        cursor.execute("DELETE FROM allowances WHERE log = %s", (log,))
        cursor.execute("DELETE FROM paces WHERE log = %s", (log,))

    store.in_transaction(work)


def spent_together(store: Store, log: str) -> tuple[int, float]:
    """Calls and money of all workers, and of earlier runs of the study."""

    def work(transaction: Transaction) -> tuple[int, float]:
        transaction.cursor.execute("SELECT calls, money FROM spendings WHERE log = %s", (log,))
        calls, money = transaction.cursor.fetchone()
        return int(calls), float(money)

    return store.in_transaction(work, write=False)


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
        said = dict(entry)
        of = said.pop("of", None)
        before = self._perhaps.pop(of, 0.0) if isinstance(of, int) else 0.0
        calls, money, perhaps = 0, 0.0, 0.0
        if said.get("event") == "call":
            in_vain = said.get("preflight") is True and "reply" not in said
            counted = of is not None  # when it was announced
            calls = -counted if in_vain or said.get("left") is False else 1 - counted
            money = 0.0 if in_vain else float(said.get("cost") or 0.0)
            perhaps = (0.0 if in_vain else float(said.get("perhaps") or 0.0)) - before
        return _Line(next(self._serials), of, json.dumps(said), calls, money, perhaps)

    def write(self, transaction: Transaction, owner: Owner, lines: Sequence[_Line]) -> Sequence[bool]:
        """All lines of one moment; whether each was written."""
        claimed = {line.claimed for line in lines if line.claimed is not None}
        lost = claimed - (transaction.held_by(owner, claimed) if claimed else set())
        # Somebody took us for dead, as after a long sleep: what nobody else is at may be taken up again.
        lost -= {
            key
            for key, answer in (transaction.find_or_claim(lost, owner) if lost else {}).items()
            if isinstance(answer, Claimed)
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
