"""What a watch remembers: one SQLite file in its folder. A batch is in it whole or not at all, so that a watch that
was killed goes on as if nothing had happened."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import create_private

FILE = "state.sqlite"
_TABLES = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS batches (number INTEGER PRIMARY KEY, done INTEGER NOT NULL, rows TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS cases (
    place INTEGER PRIMARY KEY, item TEXT NOT NULL, system TEXT NOT NULL, batch INTEGER NOT NULL,
    cluster TEXT NOT NULL, grouped INTEGER NOT NULL,
    score REAL, inside INTEGER, probability REAL, drawn INTEGER, judged_at TEXT, label REAL,
    UNIQUE (item, system)
);
CREATE INDEX IF NOT EXISTS groups ON cases (grouped, place);
CREATE INDEX IF NOT EXISTS clusters ON cases (cluster, grouped);
CREATE TABLE IF NOT EXISTS known (
    quantity TEXT NOT NULL, cluster TEXT NOT NULL, groups INTEGER NOT NULL, generation INTEGER NOT NULL,
    PRIMARY KEY (quantity, cluster)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS alarms (
    number INTEGER PRIMARY KEY, quantity TEXT NOT NULL, event TEXT NOT NULL, found TEXT NOT NULL,
    at TEXT NOT NULL, told INTEGER NOT NULL DEFAULT 0
);
"""
_CASES = (
    "SELECT place, item, system, score, inside, probability, drawn, judged_at, label, cluster, grouped FROM cases "
    "WHERE judged_at IS NOT NULL AND "
)


@dataclass(frozen=True, slots=True)
class WatchedCase:
    """A case that was judged. `label` is the clinicians' mean grade, where they gave one; `cluster` what it
    belongs to, such as a patient, under a name that does not say who, and `grouped` with which cases of it it
    counts as one."""

    place: int
    item: str
    system: str
    score: float | None
    inside: bool
    probability: float
    drawn: bool
    judged_at: str
    label: float | None
    cluster: str = ""
    grouped: int = 0


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

    def take_batch(self, number: int, cases: Sequence[tuple[str, str, str]], rows: Sequence[Any]) -> None:
        """`cases`: item, system, cluster. The cases of a cluster that come together are one group; those of a
        day also where they come in several batches, until the day was counted."""
        self._database.execute(
            "INSERT INTO batches VALUES (?, 0, ?)", (number, json.dumps(rows, default=str))
        )
        last = self._database.execute("SELECT COALESCE(MAX(grouped), 0) FROM cases").fetchone()[0]
        fed = self.fact("fed by jury") or 0
        groups: dict[str, int] = {}
        for _, _, cluster in cases:
            if cluster in groups:
                continue
            asked = "SELECT MAX(grouped) FROM cases WHERE cluster = ?"
            own = self._database.execute(asked, (cluster,)).fetchone()[0]
            if not cluster.startswith("day ") or own is None or own <= fed:
                own = last = last + 1
            groups[cluster] = own
        add = "INSERT INTO cases (item, system, batch, cluster, grouped) VALUES (?, ?, ?, ?, ?)"
        self._database.executemany(
            add, [(item, system, number, cluster, groups[cluster]) for item, system, cluster in cases]
        )

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

    def cases(self, batch: int) -> list[WatchedCase]:
        """The judged cases of a batch in the order of arrival."""
        return self._cases("batch = ? ORDER BY place", batch)

    def groups(self, after: int) -> Iterator[list[WatchedCase]]:
        """Groups after another, in the order in which they began, up to one with a case yet to be judged."""
        asked = "SELECT MIN(grouped) FROM cases WHERE batch IN (SELECT number FROM batches WHERE NOT done)"
        end = self._database.execute(asked).fetchone()[0]
        chosen = "grouped > ? AND (? IS NULL OR grouped < ?) ORDER BY grouped, place"
        for _, found in groupby(self._cases(chosen, after, end, end), lambda case: case.grouped):
            yield [*found]

    def latest(self, fed: int, most: int) -> list[WatchedCase]:
        """The last cases of the groups up to this one."""
        chosen = "grouped <= ? ORDER BY place DESC LIMIT ?"
        return self._cases(chosen, fed, most)

    def is_last_day(self, cluster: str) -> bool:
        """Whether no case of a later day has come."""
        asked = "SELECT 1 FROM cases WHERE cluster > ? AND cluster LIKE 'day %' LIMIT 1"
        return self._database.execute(asked, (cluster,)).fetchone() is None

    def _cases(self, chosen: str, *values: Any) -> list[WatchedCase]:
        rows = self._database.execute(_CASES + chosen, values).fetchall()
        return [
            WatchedCase(place, item, system, score, bool(inside), probability, bool(drawn), *rest)
            for place, item, system, score, inside, probability, drawn, *rest in rows
        ]

    def known(self, quantity: str, cluster: str) -> tuple[int, int]:
        """How many groups of a cluster a quantity has taken, and the generation after the last of them."""
        asked = "SELECT groups, generation FROM known WHERE quantity = ? AND cluster = ?"
        found = self._database.execute(asked, (quantity, cluster)).fetchone()
        return (0, 0) if found is None else (int(found[0]), int(found[1]))

    def know(self, quantity: str, cluster: str, groups: int, generation: int) -> None:
        self._database.execute(
            "REPLACE INTO known VALUES (?, ?, ?, ?)", (quantity, cluster, groups, generation)
        )

    def counts(self) -> dict[str, int]:
        names = ("cases", "scored", "outside", "drawn", "rated", "by_patient", "by_day", "by_case")
        asked = (
            "SELECT COUNT(*), COUNT(score), COALESCE(SUM(NOT inside), 0), COALESCE(SUM(drawn), 0), COUNT(label), "
            "COALESCE(SUM(cluster LIKE 'patient %'), 0), COALESCE(SUM(cluster LIKE 'day %'), 0), "
            "COALESCE(SUM(cluster LIKE 'case %'), 0) FROM cases WHERE judged_at IS NOT NULL"
        )
        return dict(zip(names, self._database.execute(asked).fetchone(), strict=True))

    def raise_alarm(self, quantity: str, event: str, found: dict[str, Any], at: str) -> None:
        add = "INSERT INTO alarms (quantity, event, found, at) VALUES (?, ?, ?, ?)"
        self._database.execute(add, (quantity, event, json.dumps(found), at))

    def alarms(self, *, untold: bool = False) -> list[Alarm]:
        asked = "SELECT number, quantity, event, found, at FROM alarms WHERE NOT (? AND told) ORDER BY number"
        found = self._database.execute(asked, (untold,)).fetchall()
        return [Alarm(number, name, event, json.loads(text), at) for number, name, event, text, at in found]

    def mark_sent(self, number: int) -> None:
        self._database.execute("UPDATE alarms SET told = 1 WHERE number = ?", (number,))
