"""Saving an answer: one new version in one transaction, or none and the reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import BindParameter, Select, Text, bindparam, cast, func, insert, select, update

from medjury.instruments import Outcome
from medjury.panel._design import LONGEST, Round, Said, outcome_row
from medjury.panel._design._tables import assignments_table, rounds_table
from medjury.panel._rating._standing import held
from medjury.panel._rating._tables import answers_table, looks_table
from medjury.panel._rating._timing import looked_until, note_saved

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Row

# A case keeps every version, and so many letters of them; the answer itself always finds room after its drafts.
MOST_LETTERS = 2_000_000
_FEW_VERSIONS = 50  # so few are not even counted


@dataclass(frozen=True)
class Entry:
    """What a rater sends: the whole form and, where it is to count, what it means. It rests on `version`."""

    version: int
    said: Said
    comment: str
    outcomes: Mapping[str, Outcome] | None = None  # None: a draft

    @property
    def is_submitted(self) -> bool:
        return self.outcomes is not None


@dataclass(frozen=True)
class Saved:
    """The number of the version that now holds what was sent."""

    version: int


@dataclass(frozen=True)
class Stale:
    """Somebody (the rater, in another tab) saved since the form was opened. Nothing was saved now."""

    version: int
    saved_at: str


@dataclass(frozen=True)
class TooMuch:
    """A text is too long, or the case has more versions than are kept. Nothing was saved now."""

    words: str


@dataclass(frozen=True)
class Closed:
    """The round was closed, or the case given to somebody else, since the form was read. Nothing was saved now."""


# Asked at every save, so they are put together once.
_A, _R, _S, _L = assignments_table, rounds_table, answers_table, looks_table
_OF_CASE: BindParameter[int] = bindparam("of_case")
_HOLD: Select[Any] = held(
    select(_R.c.state, _A.c.withdrawn_at).join(_R, _R.c.id == _A.c.round).where(_A.c.id == _OF_CASE)
)
_NEWEST = select(_S).where(_S.c.assignment == _OF_CASE).order_by(_S.c.version.desc()).limit(1)
_NEWEST_SUBMITTED = _NEWEST.where(_S.c.submitted)
_SO_FAR = (
    select(_S.c.version, _S.c.submitted, _S.c.said, _S.c.comment, _S.c.saved_at, _L.c.opened_at, _L.c.last_at,
           _L.c.seconds, _L.c.beats, _A.c.finished_at)
    .select_from(_A.outerjoin(_L, _L.c.assignment == _A.c.id).outerjoin(_S, _S.c.assignment == _A.c.id))
    .where(_A.c.id == _OF_CASE)
    .order_by(_S.c.version.desc())
    .limit(1)
)  # fmt: skip
_KEPT = select(func.sum(func.length(cast(_S.c.said, Text)) + func.length(_S.c.comment))).where(
    _S.c.assignment == _OF_CASE
)
_ADD = insert(answers_table)
_FINISH = update(_A).where(_A.c.id == _OF_CASE).values(finished_at=bindparam("at"))


def save(
    connection: Connection, assignment: int, round_: Round, entry: Entry, now: datetime
) -> Saved | Stale | TooMuch | Closed:
    """Add a version, where the case is still the rater's and its round still open."""
    found = connection.execute(_HOLD, {"of_case": assignment}).one()
    if found.state != "open" or found.withdrawn_at is not None:
        return Closed()
    return add_version(connection, assignment, round_, entry, now)


def add_version(
    connection: Connection, assignment: int, round_: Round, entry: Entry, now: datetime
) -> Saved | Stale | TooMuch:
    """Add a version of a case that is held. What was sent twice is saved once; what rests on an older version is
    not saved."""
    case = {"of_case": assignment}
    last = connection.execute(_SO_FAR, case).one()
    version = last.version or 0
    if version:
        says_the_same = (last.said, last.comment) == (entry.said, entry.comment)
        if says_the_same and (last.submitted or not entry.is_submitted):
            return Saved(version)  # sent twice, or a draft that says nothing new
        if entry.version != version and not says_the_same:
            return Stale(version, last.saved_at)
    if (too_much := _too_much(connection, assignment, version, entry)) is not None:
        return too_much
    time = looked_until(last, now, round_.idle_seconds)
    outcomes = {name: outcome_row(each) for name, each in (entry.outcomes or {}).items()}
    added = {
        "assignment": assignment,
        "version": version + 1,
        "submitted": entry.is_submitted,
        "said": entry.said,
        "outcomes": outcomes,
        "comment": entry.comment,
        "seconds": None if time is None else time.seconds,
        "measured": time is not None and time.measured,
        "saved_at": now.isoformat(),
    }
    connection.execute(_ADD, added)
    if time is not None:
        note_saved(connection, assignment, now, time.seconds)
    if entry.is_submitted and last.finished_at is None:
        connection.execute(_FINISH, case | {"at": now.isoformat()})
    return Saved(version + 1)


def _too_much(connection: Connection, assignment: int, version: int, entry: Entry) -> TooMuch | None:
    """Every version is kept, so there is an end to what one person can store."""
    longest = max(len(text) for text in (entry.comment, *(each["why"] for each in entry.said.values())))
    if longest > LONGEST:
        return TooMuch(
            f"Not saved: a text may have {LONGEST:,} letters, and one has {longest:,}. Shorten it, then submit."
        )
    if version < _FEW_VERSIONS:
        return None
    kept = connection.execute(_KEPT, {"of_case": assignment}).scalar_one()
    if kept <= (2 * MOST_LETTERS if entry.is_submitted else MOST_LETTERS):
        return None
    if entry.is_submitted:
        return TooMuch("Not saved: this case was changed so often that no more is kept. Ask the coordinator.")
    return TooMuch("Not saved: this case has more drafts than are kept. Submit the answer; that is kept.")


def newest(connection: Connection, assignment: int, *, submitted: bool = False) -> Row[Any] | None:
    """The last version, draft or not; or the last that was submitted."""
    return connection.execute(_NEWEST_SUBMITTED if submitted else _NEWEST, {"of_case": assignment}).first()
