"""The audit trail: who did what, when. Rows are only added, and each names the hash of the one before it, so that a
row changed, removed or put in later breaks the chain. It names people, rounds and items; no clinical text.

What an erasure takes out of a row leaves its hash, so that the chain holds. The row of the erasure names the rows
that it reduced, and a hash of what is left of them: no other row may lack its words. The log of erasures beside it
knows what was erased by its hash, so that it does not come back unseen.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import desc, insert, select, text, update

from medjury.foundation.errors import MedjuryError
from medjury.foundation.screen import screen_columns
from medjury.panel._access._people import Person, names_of_people
from medjury.panel._tables import erasures_table, stored, trail_table
from medjury.store.ratings import mark_of

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from medjury.panel._panel import Panel


FIRST = "0" * 64
ERASED = "[erased]"  # what a row is about, where that was erased
_ERASURES = {"patient": "erased a patient", "case": "erased cases"}
_REDUCED = re.compile(r"rows of this trail reduced: ([\d,]+), what is left of them: ([0-9a-f]{64})$")


@dataclass(frozen=True)
class TrailEntry:
    """One row. `person` is a person's id, or a word such as "the command line"."""

    number: int
    at: str
    person: str
    what: str
    about: str
    previous: str
    hash: str


def trail(
    connection: Connection, person: Person | str, what: str, about: str = "", *, now: datetime | None = None
) -> None:
    """Add a row, in the caller's transaction: what was done and its trace are there together, or neither."""
    if connection.dialect.name == "postgresql":  # in SQLite the writer's turn is ours already
        connection.execute(text("LOCK TABLE trail IN SHARE ROW EXCLUSIVE MODE"))
    last = connection.execute(
        select(trail_table.c.number, trail_table.c.hash).order_by(desc(trail_table.c.number)).limit(1)
    ).first()
    number, previous = (last.number + 1, last.hash) if last else (1, FIRST)
    at = stored(now or datetime.now(UTC))
    who = person if isinstance(person, str) else person.id
    row = {"number": number, "at": at, "person": who, "what": what, "about": about, "previous": previous}
    connection.execute(insert(trail_table).values(**row, hash=_hash(row)))


def trail_erasure(
    connection: Connection, person: Person | str, by: str, words: str, names: Collection[str], now: datetime
) -> int:
    """Add the row of an erasure, and reduce every row that names one of these to its hash; how many these were. The
    caller has let the transaction change rows."""
    anyone = re.compile("|".join(rf"(?<![\w-]){re.escape(name)}(?![\w-])" for name in sorted(names)))
    rows = [
        replace(entry, about=ERASED)
        for entry in trail_entries(connection)
        if anyone.search(entry.about) and entry.what not in _ERASURES.values()
    ]
    numbers = [entry.number for entry in rows]
    if rows:
        table = trail_table
        connection.execute(update(table).where(table.c.number.in_(numbers)).values(about=ERASED))
        listed = ",".join(map(str, numbers))
        words += f"; rows of this trail reduced: {listed}, what is left of them: {_left(rows)}"
    trail(connection, person, _ERASURES[by], words, now=now)
    return len(rows)


def trail_entries(connection: Connection, *, newest: int | None = None) -> Iterator[TrailEntry]:
    """All rows from the first; or only the newest ones, the last first."""
    query = select(trail_table).order_by(trail_table.c.number)
    if newest is not None:
        query = select(trail_table).order_by(desc(trail_table.c.number)).limit(newest)
    for row in connection.execute(query):
        yield TrailEntry(*row)


def check_trail(connection: Connection) -> TrailEntry | None:
    """The last row, where the whole chain holds (None: nothing was done yet); else an error that says where."""
    last: TrailEntry | None = None
    reduced: dict[int, TrailEntry] = {}  # whose erasure is yet to come
    for entry in trail_entries(connection):
        number, previous = (last.number + 1, last.hash) if last else (1, FIRST)
        row = {name: getattr(entry, name) for name in ("number", "at", "person", "what", "about", "previous")}
        is_whole = entry.hash == _hash(row)
        if entry.number != number or entry.previous != previous or not (is_whole or entry.about == ERASED):
            raise _broken(number)
        if not is_whole:
            reduced[number] = entry
        elif entry.what in _ERASURES.values() and (found := _REDUCED.search(entry.about)):
            numbers = [int(each) for each in found[1].split(",")]
            rows = [reduced.pop(each) for each in numbers if each in reduced]
            if len(rows) != len(numbers) or _left(rows) != found[2]:
                raise _broken(numbers[0])
        last = entry
    if reduced:
        raise _broken(min(reduced))
    return last


def _broken(number: int) -> MedjuryError:
    return MedjuryError(
        f"the audit trail is broken at row {number}: it was changed, or rows are missing before it. "
        "Compare it with the last backup."
    )


def about_in_words(entry: TrailEntry, names: Mapping[str, str]) -> str:
    """What the row is about, with a person's name in the place of their id."""
    first, space, rest = entry.about.partition(" ")
    return f"{names.get(first, first)}{space}{rest}"


def _left(rows: Sequence[TrailEntry]) -> str:
    return hashlib.sha256(json.dumps([astuple(each) for each in rows]).encode()).hexdigest()


def _hash(row: dict[str, object]) -> str:
    return hashlib.sha256(json.dumps(row, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


def note_erasure(
    connection: Connection,
    person: Person | str,
    by: str,
    names: Collection[str],
    items: Collection[str],
    codes: Collection[str],
    rows: Mapping[str, int],
    now: datetime,
) -> int:
    """Log that this was erased, in the log of erasures and in the trail; how many rows of the trail were reduced
    because they name it. `codes` are the random names by which pages called the items."""
    before = connection.execute(select(erasures_table.c.salt, erasures_table.c.number)).all()
    salt = (
        before[0].salt if before else secrets.token_hex(16)
    )  # one for all, so that a case is hashed once to look it up
    entry: dict[str, Any] = {
        "number": len(before) + 1, "at": stored(now), "by": by, "salt": salt, "counts": dict(rows),
        "named": sorted(mark_of(each, salt) for each in names),
        "cases": sorted(mark_of(each, salt) for each in items),
    }  # fmt: skip
    connection.execute(insert(erasures_table).values(**entry))
    digest = hashlib.sha256(json.dumps(entry, sort_keys=True).encode()).hexdigest()
    words = f"entry {entry['number']} of the log of erasures, with the hash {digest}"
    return trail_erasure(connection, person, by, words, {*names, *items, *codes}, now)


def erased_at(connection: Connection, by: str, names: Collection[str]) -> str:
    """When these very names were erased the last time; empty: never."""
    rows = connection.execute(select(erasures_table).order_by(erasures_table.c.number.desc()))
    for row in rows:
        if row.by == by and row.named == sorted(mark_of(each, row.salt) for each in names):
            return str(row.at)
    return ""


def erased_among(connection: Connection, items: Collection[str]) -> set[str]:
    """Which of these cases were erased. The hash is slow on purpose: ask for those alone that would be new."""
    rows = connection.execute(select(erasures_table.c.salt, erasures_table.c.cases)).all()
    if not rows:
        return set()
    marks = {mark for row in rows for mark in row.cases}
    return {each for each in items if mark_of(each, rows[0].salt) in marks}


def trail_text(panel: Panel, *, check_only: bool = False) -> str:
    """All rows after the chain was checked, or only what the check found. A broken chain is an error. A program
    gets cells with tabs between them, a person at a terminal a line to read."""
    with panel.database.reading() as connection:
        last = check_trail(connection)
        if last is None:
            return "The audit trail is empty."
        rows = "1 row" if last.number == 1 else f"{last.number:,} rows"
        held = f"The audit trail is intact: {rows}, the last with the hash {last.hash}"
        if check_only:
            return held
        names = names_of_people(connection)
        cells = [
            (
                str(each.number),
                each.at,
                names.get(each.person, each.person),
                each.what,
                about_in_words(each, names),
            )
            for each in trail_entries(connection)
        ]
    lines = ["\t".join(each) for each in cells] if screen_columns() is None else [*map(_to_read, cells)]
    return "\n".join([*lines, held])


def _to_read(cells: tuple[str, str, str, str, str]) -> str:
    """The moment to the second, in UTC as it was kept."""
    number, at, who, what, about = cells
    return f"{number:>4}  {at[:19].replace('T', ' ')}  {' '.join(filter(None, (f'{who}:', what, about)))}"
