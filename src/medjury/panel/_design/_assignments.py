"""Who has which item: one rater's case as their pages need it, and the work of a round as it is."""

from __future__ import annotations

import random
import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, case, insert, select, update

from medjury.panel._design._rounds import Round
from medjury.panel._design._shown import Passage, passages_from_row
from medjury.panel._tables import assignments_table, items_table, made, members_table

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Row


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
    instrument: Mapping[str, Any] | None  # where the item has one of its own

    @property
    def answer(self) -> Passage | None:
        return next((each for each in self.shown if each.is_answer), None)

    @property
    def sources(self) -> tuple[Passage, ...]:
        return tuple(each for each in self.shown if not each.is_answer)


def assignment_of(connection: Connection, code: str, person: str) -> Assignment | None:
    """The rater's own case of that code; None where there is none, whoever else may have one."""
    a, i = assignments_table, items_table
    query = (
        select(a.c.id, a.c.round, a.c.person, a.c.code, a.c.finished_at, i.c.shown, i.c.key, i.c.instrument)
        .join(i, a.c.item == i.c.id)
        .where(a.c.code == code, a.c.person == person, a.c.withdrawn_at.is_(None))
    )
    row: Any = connection.execute(query).first()
    if row is None:
        return None
    shown = passages_from_row(row.shown)
    return made(Assignment, row, shown=shown, is_finished=row.finished_at is not None)


def places(connection: Connection, round_id: int, person: str) -> Sequence[Row[Any]]:
    """The rater's cases of a round, in the rater's own random order: `code`, `is_finished`, `is_begun`."""
    c = assignments_table.c
    state = c.finished_at.is_not(None).label("is_finished"), c.opened_at.is_not(None).label("is_begun")
    own = c.round == round_id, c.person == person, c.withdrawn_at.is_(None)
    return connection.execute(select(c.code, *state).where(*own).order_by(c.position, c.code)).all()


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


@dataclass(frozen=True)
class Held:
    """One item in one rater's hands."""

    assignment: int
    item: int
    person: str
    begun: bool
    finished: bool


@dataclass
class Work:
    """Every item of a round with those who hold it; kept up as work is given and taken."""

    connection: Connection
    round: Round
    now: datetime
    items: list[int] = field(default_factory=list)
    drawn: dict[int, tuple[float, int]] = field(default_factory=dict)  # probability and place of an item
    held: dict[tuple[int, str], Held] = field(default_factory=dict)
    withdrawn: dict[tuple[int, str], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        table = assignments_table
        items = items_table.c
        query = select(items.id, items.probability, items.place).where(items.round == self.round.id)
        for row in self.connection.execute(query.order_by(items.id)):
            self.items.append(row.id)
            if row.probability is not None:
                self.drawn[row.id] = (row.probability, row.place)
        self.chance = random.Random(f"{self.round.seed} {self.round.name}")
        for row in self.connection.execute(select(table).where(table.c.round == self.round.id)):
            if row.withdrawn_at is None:
                begun, finished = row.opened_at is not None, row.finished_at is not None
                self._hold(row.id, row.item, row.person, begun, finished)
            else:
                self.withdrawn[row.item, row.person] = row.id

    def _hold(
        self,
        identity: int,
        item: int,
        person: str,
        begun: bool = False,
        finished: bool = False,
    ) -> None:
        self.held[item, person] = Held(identity, item, person, begun, finished)

    def loads(self) -> Counter[str]:
        return Counter(person for _, person in self.held)

    def holders_by_item(self) -> dict[int, set[str]]:
        found: dict[int, set[str]] = {item: set() for item in self.items}
        for item, person in self.held:
            found[item].add(person)
        return found

    def give(self, items: Iterable[int], person: str) -> None:
        """These items to this person, under codes that tell nothing, in a random order of their own. What was drawn
        for review comes to everybody in the order of the draw, which is random too: so what has been read is a fair
        draw, and read by all its raters, whenever they stop."""
        rows = []
        for item in items:
            if (item, person) in self.held:
                continue
            before = self.withdrawn.pop((item, person), None)
            if before is not None:
                self._change(before, withdrawn_at=None)
                self._hold(before, item, person, begun=True)
                continue
            chance = secrets.randbelow(2**52) / 2**52
            probability, position = self.drawn.get(item, (None, chance))
            rows.append(
                {
                    "round": self.round.id,
                    "item": item,
                    "person": person,
                    "code": secrets.token_urlsafe(12),
                    "position": position,
                    "probability": probability,
                    "assigned_at": self.now.isoformat(),
                }
            )
        if rows:
            self.connection.execute(insert(assignments_table), rows)
            query = select(assignments_table.c.id, assignments_table.c.item).where(
                assignments_table.c.round == self.round.id,
                assignments_table.c.person == person,
                assignments_table.c.withdrawn_at.is_(None),
            )
            for row in self.connection.execute(query):
                if (row.item, person) not in self.held:
                    self._hold(row.id, row.item, person)

    def take(self, held: Held) -> None:
        """Withdraw an item; what was said on it stays in the history."""
        del self.held[held.item, held.person]
        self.withdrawn[held.item, held.person] = held.assignment
        self._change(held.assignment, withdrawn_at=self.now.isoformat())

    def _change(self, assignment: int, **values: object) -> None:
        table = assignments_table
        self.connection.execute(update(table).where(table.c.id == assignment).values(**values))


def members(connection: Connection, round_: Round) -> list[str]:
    """Those who rate in this round, in the order in which they joined."""
    table = members_table
    query = select(table.c.person).where(table.c.round == round_.id, table.c.left_at.is_(None))
    return list(connection.execute(query.order_by(table.c.joined_at, table.c.person)).scalars())
