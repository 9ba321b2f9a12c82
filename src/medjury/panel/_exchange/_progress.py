"""How far a round is, rater by rater: for the coordinator alone."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from medjury.instruments import NotApplicable, Score
from medjury.panel._access import people
from medjury.panel._design import Round, item_count, members
from medjury.panel._design._tables import assignments_table
from medjury.panel._rating import RatedAnswer, latest_answers

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


@dataclass(frozen=True)
class RaterProgress:
    """One rater in one round. `seconds` is the middle of the measured times a case, `hours` their sum."""

    name: str
    done: int
    assigned: int
    cannot_judge: int
    seconds: float | None
    hours: float
    last_at: str | None


@dataclass(frozen=True)
class RoundState:
    """One round as a whole."""

    items: int
    raters: tuple[RaterProgress, ...]

    @property
    def assigned(self) -> int:
        return sum(each.assigned for each in self.raters)

    @property
    def done(self) -> int:
        return sum(each.done for each in self.raters)

    @property
    def hours(self) -> float:
        return sum(each.hours for each in self.raters)


def round_state(connection: Connection, round_: Round) -> RoundState:
    names = {state.person.id: state.person.name for state in people(connection)}
    table = assignments_table
    counts = connection.execute(
        select(table.c.person, func.count().label("cases"))
        .where(table.c.round == round_.id, table.c.withdrawn_at.is_(None))
        .group_by(table.c.person)
    ).all()
    said: dict[str, dict[tuple[str, str], list[RatedAnswer]]] = {}
    for each in latest_answers(connection, round_):
        said.setdefault(each.person, {}).setdefault((each.item, each.system), []).append(each)
    assigned = {row.person: row.cases for row in counts}
    everyone = dict.fromkeys([*members(connection, round_), *assigned, *said])
    rows = [_rater(names[person], assigned.get(person, 0), said.get(person, {})) for person in everyone]
    return RoundState(item_count(connection, round_.id), tuple(sorted(rows, key=lambda each: each.name)))


def _rater(name: str, assigned: int, said: dict[tuple[str, str], list[RatedAnswer]]) -> RaterProgress:
    times = [
        sum(each.seconds for each in rows if each.seconds is not None)
        for rows in said.values()
        if rows[0].measured and rows[0].seconds is not None
    ]
    silent = sum(
        not isinstance(each.outcome, Score | NotApplicable) for rows in said.values() for each in rows
    )
    return RaterProgress(
        name,
        len(said),
        assigned,
        silent,
        median(times) if times else None,
        sum(times) / 3600,
        max((each.saved_at for rows in said.values() for each in rows), default=None),
    )
