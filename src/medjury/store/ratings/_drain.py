"""From the log that workers share into the log of the run folder: every line once, in order, and chained there.

A line is deleted only a while after it was copied: a worker that lost its connection may send the same one again,
and the store must know it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from typing import Any

from medjury.models import AuditLog
from medjury.store.ratings._store.store import Store
from medjury.store.ratings._store.transaction import Transaction

_ROWS_AT_ONCE = 2_000
_KEPT = 100_000  # lines that stay after they were copied, until the run ends
_READ = """SELECT number, owner, serial, ends, entry FROM requests WHERE log = %s AND number > %s
    ORDER BY number LIMIT %s"""
_OWNER = 12  # letters of a worker's name that are enough to tell it from others


class LogDrain:
    """Copies lines of `log` into `audit`. A log in a run folder that another run has begun is gone on with."""

    def __init__(self, store: Store, log: str, audit: AuditLog) -> None:
        self._store = store
        self._log = log
        self._turn = threading.Lock()
        self._audit = audit
        self._last = 0
        self.preflights = 0  # questions among them that only asked whether a model is there
        self._open: dict[tuple[str, int], int] = {}  # requests without an end: the number of their line
        self._recall()

    def pull(self) -> int:
        """Copy what is new; how many lines."""
        with self._turn:
            return self._pull()

    def _pull(self) -> int:
        count = 0
        while rows := self._store.in_transaction(self._read, write=False):
            self._audit.record_all(lambda first, rows=rows: self._entries(first, rows))  # type: ignore[misc]
            self._last = int(rows[-1][0])
            count += len(rows)
            if len(rows) < _ROWS_AT_ONCE:
                break
        if count:
            self._delete(self._last - _KEPT)
        return count

    def finish(self) -> None:
        """No worker is left: copy the rest, and keep nothing."""
        self.pull()
        self._audit.close()
        self._delete(self._last)

    def _read(self, transaction: Transaction) -> list[tuple[Any, ...]]:
        transaction.cursor.execute(_READ, (self._log, self._last, _ROWS_AT_ONCE))
        return list(transaction.cursor.fetchall())

    def _delete(self, number: int) -> None:
        values = (self._log, number)
        self._store.in_transaction(
            lambda each: each.cursor.execute("DELETE FROM requests WHERE log = %s AND number <= %s", values)
        )

    def _entries(self, first: int, rows: Sequence[tuple[Any, ...]]) -> list[dict[str, Any]]:
        entries = []
        for place, (number, owner, serial, ends, entry) in enumerate(rows, first):
            given = {**json.loads(entry), "worker": owner[:_OWNER], "shared": number}
            if ends is not None:
                of = self._open.pop((owner[:_OWNER], ends), None)
                given = {**({} if of is None else {"of": of}), **given}
            elif given.get("event") == "sent":
                self.preflights += given.get("preflight") is True
                given["request"] = serial
                self._open[owner[:_OWNER], serial] = place
            entries.append(given)
        return entries

    def _recall(self) -> None:
        """What an earlier run has copied, from the log itself."""
        if not self._audit.path.exists():
            return
        announced: dict[Any, tuple[str, int]] = {}
        with self._audit.path.open("rb") as file:
            for line in file:
                if b'"shared":' not in line:
                    continue
                try:
                    entry = json.loads(line)
                except ValueError:  # torn: sealed before the next line
                    continue
                self._last = max(self._last, int(entry["shared"]))
                if "request" in entry:
                    announced[int(entry["n"])] = str(entry["worker"]), int(entry["request"])
                else:
                    announced.pop(entry.get("of"), None)
        self._open = {request: number for number, request in announced.items()}


def undrained(store: Store) -> int:
    """How many lines of requests no run folder has yet; a file holds none."""

    def work(transaction: Transaction) -> int:
        if transaction.dialect == "sqlite":
            return 0
        transaction.cursor.execute("SELECT count(*) FROM requests")
        return int(transaction.cursor.fetchone()[0])

    return store.in_transaction(work, write=False)
