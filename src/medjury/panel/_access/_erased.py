"""The panel's log of erasures: what was erased is known again by its hash, and does not come back unseen."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select

from medjury.panel._access._moments import stored
from medjury.panel._access._people import Person
from medjury.panel._access._tables import erasures_table
from medjury.panel._access._trail import trail_erasure
from medjury.store.ratings import mark_of, new_salt

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


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
        before[0].salt if before else new_salt()
    )  # one for all, so that a case is hashed once to look it up
    entry: dict[str, Any] = {
        "number": len(before) + 1, "at": stored(now), "by": by, "salt": salt, "counts": dict(rows),
        "named": sorted(mark_of(each, salt) for each in names),
        "cases": sorted(mark_of(each, salt) for each in items),
    }  # fmt: skip
    connection.execute(insert(erasures_table).values(**entry))
    digest = hashlib.sha256(json.dumps(entry, sort_keys=True).encode()).hexdigest()
    told = f"entry {entry['number']} of the log of erasures, with the hash {digest}"
    return trail_erasure(connection, person, by, told, {*names, *items, *codes}, now)


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
