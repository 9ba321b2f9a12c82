"""One item in one rater's hands, as the rater's pages need it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, case, select

from medjury.panel._design._shown import Passage, passages_from_row
from medjury.panel._design._tables import assignments_table, items_table

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


@dataclass(frozen=True)
class Assignment:
    """What may be shown to the rater: texts and code. Neither item nor system is here, so that no page can tell."""

    id: int
    round: int
    person: str
    code: str
    shown: tuple[Passage, ...]
    key: Mapping[str, Any] | None
    is_finished: bool

    @property
    def answer(self) -> Passage | None:
        return next((each for each in self.shown if each.is_answer), None)

    @property
    def sources(self) -> tuple[Passage, ...]:
        return tuple(each for each in self.shown if not each.is_answer)


@dataclass(frozen=True)
class Place:
    """A case in the rater's own order."""

    code: str
    is_finished: bool
    is_begun: bool


def assignment_of(connection: Connection, code: str, person: str) -> Assignment | None:
    """The rater's own case of that code; None where there is none, whoever else may have one."""
    a, i = assignments_table, items_table
    query = (
        select(a.c.id, a.c.round, a.c.person, a.c.code, a.c.finished_at, i.c.shown, i.c.key)
        .join(i, a.c.item == i.c.id)
        .where(a.c.code == code, a.c.person == person, a.c.withdrawn_at.is_(None))
    )
    row = connection.execute(query).first()
    if row is None:
        return None
    shown = passages_from_row(row.shown)
    return Assignment(row.id, row.round, row.person, row.code, shown, row.key, row.finished_at is not None)


def places(connection: Connection, round_id: int, person: str) -> list[Place]:
    """The rater's cases of a round, in the rater's own random order."""
    table = assignments_table
    query = (
        select(table.c.code, table.c.finished_at, table.c.opened_at)
        .where(table.c.round == round_id, table.c.person == person, table.c.withdrawn_at.is_(None))
        .order_by(table.c.position, table.c.code)
    )
    return [
        Place(row.code, row.finished_at is not None, row.opened_at is not None)
        for row in connection.execute(query)
    ]


_T = assignments_table
_HERE = select(_T.c.position).where(_T.c.code == bindparam("after")).scalar_subquery()
_NEXT = (
    select(_T.c.code)
    .where(
        _T.c.round == bindparam("of_round"), _T.c.person == bindparam("rater"), _T.c.withdrawn_at.is_(None)
    )
    .where(_T.c.finished_at.is_(None), _T.c.code != bindparam("after"))
    .order_by(case((_T.c.position > _HERE, 0), else_=1), _T.c.position, _T.c.code)
    .limit(1)
)


def next_code(connection: Connection, round_id: int, person: str, after: str) -> str | None:
    """The next case that is not done: first those that follow, then those that were left behind."""
    return connection.execute(_NEXT, {"of_round": round_id, "rater": person, "after": after}).scalar()
