"""A rater's way through the rounds: practice, then the words, then the cases. Who may rate joins by coming. Every
save asks how far the rater has come with the case: one statement, put together once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from sqlalchemy import Select, bindparam, exists, select

from medjury.panel._design._assignments import has_joined, join
from medjury.panel._design._rounds import Round, round_as_set_up, rounds
from medjury.panel._language import _, marked
from medjury.panel._rating._answers import Progress, progress
from medjury.panel._tables import assignments_table, items_table, members_table, rounds_table

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


PRACTICE = ("training", "calibration")  # what comes before the cases, and may hold a rater back
StepState = Literal["now", "done", "locked", "discussion", "waiting", "not passed"]


@dataclass(frozen=True)
class Step:
    """One round on a rater's way, and what the rater can do in it."""

    round: Round
    state: StepState
    progress: Progress
    message: str = ""


def course(connection: Connection, person: str, now: datetime | None = None) -> list[Step]:
    """The rater's rounds in their order. Given the time, the rater joins those that have become open; the
    connection must then be one that writes."""
    everything = rounds(connection)
    steps: list[Step] = []
    blocked = ""
    for each in everything:
        joined = has_joined(connection, each, person)
        if joined is None and not blocked and _may_join(connection, each, everything, person) and now:
            join(connection, each, person, now)
            joined = True
        if joined:
            steps.append(_step(connection, each, person, blocked))
            blocked = blocked or _blocks(steps[-1])
    return steps


def can_join_more(connection: Connection, person: str) -> bool:
    """Whether a round has become open to the rater since the last visit."""
    everything = rounds(connection)
    blocked = any(map(_blocks, course(connection, person)))
    return not blocked and any(
        has_joined(connection, each, person) is None and _may_join(connection, each, everything, person)
        for each in everything
    )


def is_reached(connection: Connection, person: str, round_id: int) -> bool:
    """Whether the rater has come as far as this round. Asked at every save, so it looks only at what can block."""
    blocked = ""
    for each in rounds(connection):
        is_asked = each.id == round_id
        if not (is_asked or each.kind in PRACTICE) or not has_joined(connection, each, person):
            continue
        if is_asked and each.counts and not blocked:
            return each.state != "waiting"
        step = _step(connection, each, person, blocked)
        if is_asked:
            return step.state != "locked"
        blocked = blocked or _blocks(step)
    return False


def _may_join(connection: Connection, each: Round, everything: Sequence[Round], person: str) -> bool:
    """Anyone may join an open round, but a re-score panel has members of its own: the coordinator names them, and
    they do not rate in the rounds that they are to check."""
    if each.state != "open":
        return False
    rescores = [other for other in everything if other.kind == "rescore"]
    if not any(other.kind == "rating" for other in everything):
        return True
    if each.kind == "rescore":
        return False
    return each.kind != "rating" or not any(has_joined(connection, other, person) for other in rescores)


def _step(connection: Connection, each: Round, person: str, blocked: str) -> Step:
    done = progress(connection, each, person)
    if each.kind == "training" and done.is_done:
        if has_passed(connection, each, person):
            return Step(each, "done", done)
        return Step(each, "not passed", done, _("Please talk to the coordinator before you go on."))
    if each.kind == "calibration":
        if each.state == "discussing":
            return Step(each, "discussion", done)
        if each.state == "open" and done.is_done:
            return Step(
                each, "waiting", done, _("Thank you. You will discuss the answers once everyone is here.")
            )
    if each.state == "waiting":
        return Step(each, "locked", done, _("This round is not open yet."))
    if each.state in ("closed", "met"):
        return Step(each, "done", done, _("This round is closed."))
    if not done.total:
        return Step(
            each, "waiting", done, _("There is no case for you yet. Come back when another rater has joined.")
        )
    if done.is_done:
        return Step(each, "done", done)
    return Step(each, "locked", done, blocked) if blocked else Step(each, "now", done)


def _blocks(step: Step) -> str:
    if step.round.kind == "training" and step.state != "done":
        return _("Finish the practice first.")
    if step.round.kind == "calibration" and step.round.state != "closed":
        return _("This opens when the discussion of the definitions is closed.")
    return ""


def has_passed(connection: Connection, each: Round, person: str) -> bool:
    table = members_table
    query = select(table.c.passed_at).where(table.c.round == each.id, table.c.person == person)
    return connection.execute(query).scalar() is not None


CLOSED = marked(
    "This round is closed, so nothing was saved. Ask the coordinator if it should be opened again."
)
_KEY_SHOWN = marked("You have seen the key of this case, so your answer stays as it is.")


@dataclass(frozen=True)
class Standing:
    """A rater's own case: which round it belongs to, and whether an answer was sent already."""

    assignment: int
    round: Round
    person: str
    code: str
    is_finished: bool

    @property
    def refusal(self) -> str | None:
        """Why nothing more is saved here, where that is so."""
        if self.round.state != "open":
            return _(CLOSED)
        return _(_KEY_SHOWN) if self.round.kind == "training" and self.is_finished else None


_Row = TypeVar("_Row", bound=tuple[Any, ...])


def held(query: Select[_Row]) -> Select[_Row]:
    """A query for a case and its round, both held to the end of the transaction: whoever closes the round or gives
    the case to somebody else waits for it, or it sees what they did; so does the same rater in another tab."""
    query = query.with_for_update(of=assignments_table)
    return query.with_statement_hint("FOR SHARE OF rounds", "postgresql")  # SQLite has one writer


_A, _I, _R, _M = assignments_table, items_table, rounds_table, members_table
_OTHERS = rounds_table.alias()
_OWN = (
    select(
        _A.c.id,
        _A.c.finished_at,
        _R.c.id.label("round"),
        _R.c.state,
        _R.c.set_up_at,
        _I.c.instrument,
        exists(select(_OTHERS.c.id).where(_OTHERS.c.kind.in_(PRACTICE))).label("has_practice"),
    )
    .join(_R, _R.c.id == _A.c.round)
    .join(_I, _I.c.id == _A.c.item)
    .join(_M, (_M.c.round == _A.c.round) & (_M.c.person == _A.c.person))
    .where(_A.c.code == bindparam("code"), _A.c.person == bindparam("rater"))
    .where(_A.c.withdrawn_at.is_(None), _M.c.left_at.is_(None))
)


_OWN_HELD = held(_OWN)


def standing(connection: Connection, code: str, person: str, *, hold: bool = False) -> Standing | None:
    """The rater's own case, held where something is to be saved. Another's, one that is not reached yet and one
    that does not exist are None alike."""
    row = connection.execute(_OWN_HELD if hold else _OWN, {"code": code, "rater": person}).first()
    if row is None:
        return None
    if row.state == "waiting" or (row.has_practice and not is_reached(connection, person, row.round)):
        return None
    round_ = round_as_set_up(connection, row.round, row.state, row.set_up_at)
    return Standing(row.id, round_.of(row.instrument), person, code, row.finished_at is not None)
