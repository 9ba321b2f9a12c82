"""Where a rater stands with one of their cases, as every save asks it: one statement, put together once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Select, bindparam, exists, select

from medjury.panel._design import Round, round_as_set_up
from medjury.panel._design._tables import assignments_table, members_table, rounds_table
from medjury.panel._rating._course import PRACTICE, is_reached

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

CLOSED = "This round is closed, so nothing was saved. Ask the coordinator if it should be opened again."
_KEY_SHOWN = "You have seen the key of this case, so your answer stays as it is."


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
            return CLOSED
        return _KEY_SHOWN if self.round.kind == "training" and self.is_finished else None


_Row = TypeVar("_Row", bound=tuple[Any, ...])


def held(query: Select[_Row]) -> Select[_Row]:
    """A query for a case and its round, both held to the end of the transaction: whoever closes the round or gives
    the case to somebody else waits for it, or it sees what they did; so does the same rater in another tab."""
    query = query.with_for_update(of=assignments_table)
    return query.with_statement_hint("FOR SHARE OF rounds", "postgresql")  # SQLite has one writer


_A, _R, _M = assignments_table, rounds_table, members_table
_OTHERS = rounds_table.alias()
_OWN = (
    select(
        _A.c.id,
        _A.c.finished_at,
        _R.c.id.label("round"),
        _R.c.state,
        _R.c.set_up_at,
        exists(select(_OTHERS.c.id).where(_OTHERS.c.kind.in_(PRACTICE))).label("has_practice"),
    )
    .join(_R, _R.c.id == _A.c.round)
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
    return Standing(row.id, round_, person, code, row.finished_at is not None)
