"""Panels of two or three clinicians, and which cases each has. The coordinator makes them."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import insert, select

from medjury.foundation.errors import MedjuryError
from medjury.panel._access import Person
from medjury.panel._meeting._tables import (
    reference_cases_table,
    reference_panels_table,
    reference_work_table,
)

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

FEWEST, MOST = 2, 3


@dataclass(frozen=True)
class ReferencePanel:
    """Members are people's ids, in the random order by which they are called Member A, Member B."""

    id: int
    name: str
    members: tuple[str, ...]
    names: bool


def make_panel(
    connection: Connection,
    name: str,
    members: Sequence[Person],
    *,
    cases: Sequence[str] = (),
    names: bool = False,
    now: datetime,
) -> ReferencePanel:
    """A new panel for these cases, or for all that have none yet."""
    name = " ".join(name.split())
    if not name or len(name) > 80:
        raise MedjuryError("Give the panel a name of at most 80 letters.")
    if connection.execute(
        select(reference_panels_table.c.id).where(reference_panels_table.c.name == name)
    ).first():
        raise MedjuryError(f"There is a panel called {name!r} already. Choose another name.")
    if not FEWEST <= len(members) <= MOST:
        raise MedjuryError(f"A panel has {FEWEST} or {MOST} members; {len(members)} were chosen.")
    chosen = _free_cases(connection, cases)
    chance = secrets.SystemRandom()
    order = chance.sample([each.id for each in members], len(members))
    row = {"name": name, "members": order, "names": names, "made_at": now.isoformat()}
    made = connection.execute(insert(reference_panels_table).values(**row))
    identity = int(made.inserted_primary_key[0]) if made.inserted_primary_key else 0
    work = [
        {"panel": identity, "case": case, "code": secrets.token_urlsafe(12), "position": chance.random()}
        for case in chosen
    ]
    connection.execute(insert(reference_work_table), work)
    return ReferencePanel(identity, name, tuple(order), names)


def reference_panels(connection: Connection) -> list[ReferencePanel]:
    rows = connection.execute(select(reference_panels_table).order_by(reference_panels_table.c.id))
    return [ReferencePanel(row.id, row.name, tuple(row.members), row.names) for row in rows]


def cases_without_panel(connection: Connection) -> dict[str, int]:
    """By name, the cases that no panel has yet."""
    c, w = reference_cases_table, reference_work_table
    query = select(c.c.item, c.c.id).outerjoin(w, w.c.case == c.c.id).where(w.c.id.is_(None)).order_by(c.c.id)
    return {row.item: row.id for row in connection.execute(query)}


def _free_cases(connection: Connection, named: Sequence[str]) -> list[int]:
    free = cases_without_panel(connection)
    if not named:
        if not free:
            raise MedjuryError("Every case has a panel already.")
        return list(free.values())
    unknown = [each for each in named if each not in free]
    if unknown:
        raise MedjuryError(f"The case {unknown[0]!r} is not in the study, or another panel has it.")
    return [free[each] for each in dict.fromkeys(named)]
