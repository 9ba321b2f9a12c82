"""What raters said: the last word on each case, its history, how far everyone has come, and training beside its
key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select, update

from medjury.instruments import NotApplicable, Outcome, Score, Unscored
from medjury.panel._design import Round, compare_with_key, outcome_from_row
from medjury.panel._rating._marks import Marks, marks_from_row
from medjury.panel._tables import answers_table, assignments_table, items_table, made, members_table

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Row


@dataclass(frozen=True)
class Collected:
    """One rating: a rater's last word on one dimension of one case, or what takes its place. `rater` is a person's
    id, and their name where it leaves the panel; `panel` is the round in which it was given. `seconds` is this
    row's share of the time at the case, so that its sum is the time that the work took, `probability` that of the
    case being drawn for review (None: all cases alike). `blinded`: no page shows a rater what a judge said; of
    what was rated elsewhere nobody knows."""

    item: str
    system: str
    rater: str
    panel: str
    dimension: str
    outcome: Outcome
    seconds: float | None = None
    measured: bool = True
    probability: float | None = None
    comment: str = ""
    given_at: str = ""
    version: int = 1
    fingerprint: str = ""
    marks: Marks = ()
    profile: Mapping[str, str] = field(default_factory=dict)
    blinded: bool | None = True

    @property
    def score(self) -> float | None:
        return self.outcome.value if isinstance(self.outcome, Score) else None

    @property
    def status(self) -> str:
        if isinstance(self.outcome, Score):
            return "scored"
        return "not_applicable" if isinstance(self.outcome, NotApplicable) else "unscored"

    @property
    def reason(self) -> str | None:
        return self.outcome.reason.value if isinstance(self.outcome, Unscored) else None

    @property
    def explanation(self) -> str:
        return self.outcome.message if isinstance(self.outcome, Unscored) else self.outcome.explanation


@dataclass(frozen=True)
class Progress:
    """How far a rater has come, and about how long the rest will take (None: not known yet)."""

    done: int
    total: int
    seconds_left: float | None

    @property
    def is_done(self) -> bool:
        return self.done == self.total


def latest_answers(connection: Connection, round_: Round, *, only: int | None = None) -> Iterator[Collected]:
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
                Collected,
                row,
                item=row.case_item,
                rater=row.person,
                panel=round_.name,
                dimension=name,
                given_at=row.saved_at,
                outcome=outcome_from_row(kept),
                marks=marks_from_row(row.marks),
                seconds=None if row.seconds is None else row.seconds / len(row.outcomes),
            )


def history(connection: Connection, assignment: int) -> Sequence[Row[Any]]:
    """Every version of an answer, draft or submitted, the first first."""
    table = answers_table
    return connection.execute(
        select(table).where(table.c.assignment == assignment).order_by(table.c.version)
    ).all()


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


def compared_answers(connection: Connection, round_: Round, person: str) -> dict[str, list[dict[str, Any]]]:
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


def conclude_training(connection: Connection, round_: Round, person: str, now: datetime) -> None:
    """The rater has passed where the share of right grades reaches the mark, or where none is set."""
    compared = [each for case in compared_answers(connection, round_, person).values() for each in case]
    share = sum(each["is_right"] for each in compared) / len(compared) if compared else 1.0
    mark = round_.settings["pass_mark"]
    if mark is None or share >= mark:
        let_pass(connection, round_, person, now)


def let_pass(connection: Connection, round_: Round, person: str, now: datetime) -> None:
    """By the mark, or by the coordinator's word."""
    table = members_table
    mine = (table.c.round == round_.id) & (table.c.person == person)
    connection.execute(update(table).where(mine).values(passed_at=now.isoformat()))
