"""What a watch remembers: one SQLite file in its folder. A batch is in it whole or not at all, so that a watch that
was killed goes on as if nothing had happened."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from medjury.errors import MedjuryError
from medjury.files import create_private
from medjury.records import dataclass

FILE = "state.sqlite"
_TABLES = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS batches (number INTEGER PRIMARY KEY, done INTEGER NOT NULL, rows TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS cases (
    place INTEGER PRIMARY KEY, item TEXT NOT NULL, system TEXT NOT NULL, batch INTEGER NOT NULL,
    score REAL, inside INTEGER, probability REAL, drawn INTEGER, judged_at TEXT, label REAL,
    UNIQUE (item, system)
);
CREATE TABLE IF NOT EXISTS alarms (
    number INTEGER PRIMARY KEY, quantity TEXT NOT NULL, event TEXT NOT NULL, found TEXT NOT NULL,
    at TEXT NOT NULL, told INTEGER NOT NULL DEFAULT 0
);
"""


@dataclass(frozen=True, slots=True)
class WatchedCase:
    """A case that was judged. `label` is the clinicians' mean grade, where they gave one."""

    place: int
    item: str
    system: str
    score: float | None
    inside: bool
    probability: float
    drawn: bool
    judged_at: str
    label: float | None


@dataclass(frozen=True, slots=True)
class Alarm:
    """An alarm, or that one is over; `found` are its numbers. It holds no text and no case."""

    number: int
    quantity: str
    event: str
    found: dict[str, Any]
    at: str


class State:
    """The file; `with state.whole():` is one step that is taken whole or not at all."""

    def __init__(self, folder: Path) -> None:
        create_private(folder / FILE)
        self._database = sqlite3.connect(folder / FILE, isolation_level=None, timeout=60)
        self._database.executescript(f"PRAGMA synchronous = FULL; {_TABLES}")

    def close(self) -> None:
        self._database.close()

    @contextmanager
    def whole(self) -> Iterator[None]:
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")

    def fact(self, name: str) -> Any:
        found = self._database.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if found is None else json.loads(found[0])

    def remember(self, name: str, value: Any) -> None:
        self._database.execute("REPLACE INTO facts VALUES (?, ?)", (name, json.dumps(value)))

    def hold(self, name: str, value: str, advice: str) -> None:
        """Remember it the first time; refuse another value ever after."""
        known = self.fact(name)
        if known is not None and known != value:
            raise MedjuryError(f"watch: {advice}")
        self.remember(name, value)

    def mark(self, name: str) -> str | None:
        """How far a file or table was read."""
        found: str | None = self.fact(f"mark {name}")
        return found

    def knows(self, item: str, system: str) -> bool:
        asked = "SELECT 1 FROM cases WHERE item = ? AND system = ?"
        return self._database.execute(asked, (item, system)).fetchone() is not None

    def unfinished(self) -> int | None:
        """The batch whose cases were taken and not yet judged to the end."""
        found = self._database.execute("SELECT number FROM batches WHERE NOT done").fetchone()
        return None if found is None else int(found[0])

    def next_batch(self) -> int:
        return int(self._database.execute("SELECT COALESCE(MAX(number), 0) + 1 FROM batches").fetchone()[0])

    def take_batch(self, number: int, cases: Sequence[tuple[str, str]], rows: Sequence[Any]) -> None:
        self._database.execute(
            "INSERT INTO batches VALUES (?, 0, ?)", (number, json.dumps(rows, default=str))
        )
        add = "INSERT INTO cases (item, system, batch) VALUES (?, ?, ?)"
        self._database.executemany(add, [(*each, number) for each in cases])

    def rows_of(self, number: int) -> list[Any]:
        found = self._database.execute("SELECT rows FROM batches WHERE number = ?", (number,)).fetchone()
        return list(json.loads(found[0]))

    def finish_batch(self, number: int, judged: Sequence[tuple[Any, ...]]) -> None:
        """`judged`: score, inside, probability, drawn, when, item, system."""
        change = (
            "UPDATE cases SET score = ?, inside = ?, probability = ?, drawn = ?, judged_at = ? "
            "WHERE item = ? AND system = ?"
        )
        self._database.executemany(change, judged)
        self._database.execute("UPDATE batches SET done = 1 WHERE number = ?", (number,))

    def label(self, labels: Sequence[tuple[float, str, str]]) -> None:
        """Clinicians' grades of drawn cases; the first one stays."""
        change = "UPDATE cases SET label = ? WHERE item = ? AND system = ? AND drawn AND label IS NULL"
        self._database.executemany(change, labels)

    def cases(self, after: int = 0, batch: int | None = None) -> Iterator[WatchedCase]:
        """Judged cases in the order of arrival, after a place, or of one batch."""
        asked = (
            "SELECT place, item, system, score, inside, probability, drawn, judged_at, label FROM cases "
            "WHERE judged_at IS NOT NULL AND place > ? AND (? IS NULL OR batch = ?) ORDER BY place"
        )
        for row in self._database.execute(asked, (after, batch, batch)).fetchall():
            place, item, system, score, inside, probability, drawn, judged_at, label = row
            yield WatchedCase(
                place, item, system, score, bool(inside), probability, bool(drawn), judged_at, label
            )

    def counts(self) -> dict[str, int]:
        names = ("cases", "scored", "outside", "drawn", "rated")
        asked = (
            "SELECT COUNT(*), COUNT(score), COALESCE(SUM(NOT inside), 0), COALESCE(SUM(drawn), 0), COUNT(label) "
            "FROM cases WHERE judged_at IS NOT NULL"
        )
        return dict(zip(names, self._database.execute(asked).fetchone(), strict=True))

    def raise_alarm(self, quantity: str, event: str, found: dict[str, Any], at: str) -> None:
        add = "INSERT INTO alarms (quantity, event, found, at) VALUES (?, ?, ?, ?)"
        self._database.execute(add, (quantity, event, json.dumps(found), at))

    def alarms(self, *, untold: bool = False) -> list[Alarm]:
        asked = "SELECT number, quantity, event, found, at FROM alarms WHERE NOT (? AND told) ORDER BY number"
        found = self._database.execute(asked, (untold,)).fetchall()
        return [Alarm(number, name, event, json.loads(said), at) for number, name, event, said, at in found]

    def told(self, number: int) -> None:
        self._database.execute("UPDATE alarms SET told = 1 WHERE number = ?", (number,))
