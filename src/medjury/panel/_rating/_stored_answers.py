"""What raters said: the last word on each case, its history, how far everyone has come, and training beside its
key.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import func, select, update

from medjury.instruments import Outcome
from medjury.panel._design import Compared, Round, Said, compare_with_key, outcome_from_row, share_right
from medjury.panel._rating._marks import Marks, marks_from_row
from medjury.panel._tables import answers_table, assignments_table, items_table, made, members_table

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


@dataclass(frozen=True)
class RatedAnswer:
    """One rater's last word on one dimension of one case. `seconds` is this row's share of the time at the case, so
    that its sum is the time that the work took; `probability` is that of the case being drawn (None: all alike)."""

    item: str
    system: str
    person: str
    dimension: str
    outcome: Outcome
    seconds: float | None
    measured: bool
    probability: float | None
    comment: str
    saved_at: str
    version: int
    fingerprint: str
    marks: Marks


@dataclass(frozen=True)
class Version:
    """One saved state of an answer: a draft, or what was submitted. Nothing of it is ever changed."""

    number: int
    is_submitted: bool
    said: Said
    comment: str
    seconds: float | None
    measured: bool
    saved_at: str
    marks: Marks


@dataclass(frozen=True)
class Progress:
    """How far a rater has come, and about how long the rest will take (None: not known yet)."""

    done: int
    total: int
    seconds_left: float | None

    @property
    def is_done(self) -> bool:
        return self.done == self.total


def latest_answers(
    connection: Connection, round_: Round, *, only: int | None = None
) -> Iterator[RatedAnswer]:
    """The last submitted version of every answer of a round (or to one item of it), one row for each dimension."""
    a, i, s = assignments_table, items_table, answers_table
    last = (
        select(s.c.assignment, func.max(s.c.version).label("version"))
        .where(s.c.submitted)
        .group_by(s.c.assignment)
        .subquery()
    )
    query = (
        select(s, i.c.item.label("case_item"), i.c.system, i.c.fingerprint, a.c.person, a.c.probability)
        .join(last, (s.c.assignment == last.c.assignment) & (s.c.version == last.c.version))
        .join(a, a.c.id == s.c.assignment)
        .join(i, i.c.id == a.c.item)
        .where(a.c.round == round_.id, a.c.withdrawn_at.is_(None))
        .order_by(i.c.id, a.c.person)
    )
    if only is not None:
        query = query.where(i.c.id == only)
    for row in connection.execute(query):
        for name, kept in row.outcomes.items():
            yield made(
                RatedAnswer,
                row,
                item=row.case_item,
                dimension=name,
                outcome=outcome_from_row(kept),
                marks=marks_from_row(row.marks),
                seconds=None if row.seconds is None else row.seconds / len(row.outcomes),
            )


def history(connection: Connection, assignment: int) -> list[Version]:
    """Every version of an answer, the first first."""
    table = answers_table
    query = select(table).where(table.c.assignment == assignment).order_by(table.c.version)
    return [
        made(
            Version,
            row,
            number=row.version,
            is_submitted=row.submitted,
            marks=marks_from_row(row.marks),
        )
        for row in connection.execute(query)
    ]


def progress(connection: Connection, round_: Round, person: str) -> Progress:
    """The rater's own progress, and the time left by the median of the cases done."""
    a, s = assignments_table, answers_table
    own = (a.c.round == round_.id) & (a.c.person == person) & a.c.withdrawn_at.is_(None)
    done, total = connection.execute(
        select(func.count(a.c.finished_at), func.count()).select_from(a).where(own)
    ).one()
    times = connection.execute(
        select(func.max(s.c.seconds))
        .join(a, a.c.id == s.c.assignment)
        .where(own, s.c.submitted)
        .group_by(a.c.id)
    ).scalars()
    known = sorted(each for each in times if each is not None)
    typical = known[len(known) // 2] if known else None
    return Progress(done, total, None if typical is None else typical * (total - done))


def compared_answers(connection: Connection, round_: Round, person: str) -> dict[str, list[Compared]]:
    """What a rater said in a training round beside the key, by the code of the case."""
    a, i, s = assignments_table, items_table, answers_table
    query = (
        select(a.c.code, i.c.key, i.c.instrument, s.c.outcomes)
        .join(i, a.c.item == i.c.id)
        .join(s, s.c.assignment == a.c.id)
        .where(a.c.round == round_.id, a.c.person == person, s.c.submitted)
        .order_by(s.c.version.desc())  # of several the first one is read last, and stays
    )
    within = int(round_.settings["within"])
    found = {}
    for row in connection.execute(query):
        outcomes = {name: outcome_from_row(each) for name, each in row.outcomes.items()}
        found[row.code] = compare_with_key(round_.of(row.instrument).shown, outcomes, row.key, within)
    return found


def conclude_training(connection: Connection, round_: Round, person: str, now: datetime) -> float:
    """The share of right grades; the rater has passed where it reaches the mark, or where none is set."""
    compared = compared_answers(connection, round_, person)
    share = share_right([each for case in compared.values() for each in case])
    mark = round_.settings["pass_mark"]
    if mark is None or share >= mark:
        let_pass(connection, round_, person, now)
    return share


def let_pass(connection: Connection, round_: Round, person: str, now: datetime) -> None:
    """By the mark, or by the coordinator's word."""
    table = members_table
    mine = (table.c.round == round_.id) & (table.c.person == person)
    connection.execute(update(table).where(mine).values(passed_at=now.isoformat()))
