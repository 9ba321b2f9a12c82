"""What raters said: saving an answer (one new version in one transaction, or none and the reason), the last word
on each case, its history and the passages that were marked, how far everyone has come, and training beside its
key.

How long a rater looked at a case is measured by the server's clock, with idle time removed. While somebody is at
the page it sends a sign of life every few seconds. The time between two signs counts, unless it is longer than
signs lie apart: then nobody was there, or the clock jumped. A page without scripts sends none; then the time from
opening to sending counts, at most the idle limit, and is marked as not measured."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import BindParameter, Text, bindparam, cast, func, insert, select, update

from medjury.foundation.errors import MedjuryError
from medjury.instruments import NotApplicable, Outcome, Score, Unscored
from medjury.panel._design._form import (
    LONGEST,
    Passage,
    Said,
    compare_with_key,
    outcome_from_row,
    outcome_row,
)
from medjury.panel._design._rounds import Round
from medjury.panel._language import _, decimal, language
from medjury.panel._tables import (
    answers_table,
    assignments_table,
    items_table,
    looks_table,
    made,
    members_table,
    rounds_table,
)

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Row


MARKS = "marks"  # the field of the form


@dataclass(frozen=True)
class Mark:
    """One passage: the answer's letters from `start` up to `end`."""

    start: int
    end: int
    text: str


Marks = tuple[Mark, ...]
_READ = TypeAdapter(list[Mark])


def text_to_mark(answer: Passage | None) -> str:
    """The answer's text as a browser has it: each line break is one letter."""
    return "" if answer is None else answer.text.replace("\r\n", "\n").replace("\r", "\n")


def marks_in(form: Mapping[str, str], answer: Passage | None) -> Marks | None:
    """What the form marks, in the order of the text; None where it says nothing of marks. Refused where the words
    are not those at that place, or two marks overlap."""
    if MARKS not in form:
        return None
    text, last, found = text_to_mark(answer), 0, []
    try:
        sent = _READ.validate_json(form[MARKS] or "[]", strict=True)
    except ValidationError:
        sent = [Mark(-1, -1, "")]
    for mark in sorted(sent, key=lambda each: each.start):
        if not last <= mark.start < mark.end <= len(text) or text[mark.start : mark.end] != mark.text:
            raise MedjuryError(
                _("Not saved: what you marked is not in the answer. Open the case again and mark anew.")
            )
        found.append(mark)
        last = mark.end
    return tuple(found)


def marks_row(marks: Sequence[Mark]) -> list[dict[str, object]]:
    """Marks as the database keeps them."""
    return [asdict(each) for each in marks]


def marks_from_row(row: Sequence[Mapping[str, object]] | None) -> Marks:
    """And back; None where nothing was saved yet."""
    return tuple(_READ.validate_python(row or []))


def marks_text(marks: Sequence[Mark]) -> str:
    """Marks as one cell of a table, or one field of the form: JSON."""
    return json.dumps(marks_row(marks), ensure_ascii=False)


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


EVERY_SECONDS = 10  # the page's signs of life
_LONGEST_GAP = 2.5 * EVERY_SECONDS

_A, _R, _S, _L = assignments_table, rounds_table, answers_table, looks_table
# Asked at every save, so they are put together once.
_OF_CASE: BindParameter[int] = bindparam("of_case")
_LOOK = select(_L).where(_L.c.assignment == _OF_CASE)
_BEGIN = update(_A).where(_A.c.id == _OF_CASE, _A.c.opened_at.is_(None)).values(opened_at=bindparam("at"))
_SAVED = (
    update(_L)
    .where(_L.c.assignment == _OF_CASE)
    .values(opened_at=bindparam("at"), last_at=bindparam("at"), seconds=bindparam("so_far"))
)


def note_opened(connection: Connection, assignment: int, now: datetime) -> None:
    """The rater opened the case (again); from the first time on it is theirs."""
    row = _row(connection, assignment)
    at = now.isoformat()
    connection.execute(_BEGIN, {"of_case": assignment, "at": at})
    if row is None:
        values = {"opened_at": at, "last_at": at, "seconds": 0.0, "beats": 0}
        connection.execute(insert(looks_table).values(assignment=assignment, **values))
    else:
        _change(connection, assignment, opened_at=at, last_at=at)


def note_sign_of_life(connection: Connection, assignment: int, now: datetime) -> None:
    """The rater is at the page. Two tabs of one case do not count twice: the last sign of either is the last."""
    row = _row(connection, assignment)
    if row is None:
        note_opened(connection, assignment, now)
        row = _row(connection, assignment)
    assert row is not None
    values = {
        "last_at": now.isoformat(),
        "seconds": row.seconds + _gap(row.last_at, now),
        "beats": row.beats + 1,
    }
    _change(connection, assignment, **values)


def looked(row: Any, now: datetime, idle_seconds: float) -> tuple[float, bool] | None:
    """The time at a case up to now, by its row, and whether the page itself measured it; None where the case was
    never opened."""
    if row is None or row.opened_at is None:
        return None
    if row.beats:
        return row.seconds + _gap(row.last_at, now), True
    since = (now - datetime.fromisoformat(row.opened_at)).total_seconds()
    return row.seconds + min(max(since, 0.0), idle_seconds), False


def note_saved(connection: Connection, assignment: int, now: datetime, seconds: float) -> None:
    """What was counted up to a save is kept, and counting goes on from there."""
    connection.execute(_SAVED, {"of_case": assignment, "at": now.isoformat(), "so_far": seconds})


def _gap(last: str, now: datetime) -> float:
    seconds = (now - datetime.fromisoformat(last)).total_seconds()
    return seconds if 0 < seconds <= _LONGEST_GAP else 0.0


def _row(connection: Connection, assignment: int) -> Row[Any] | None:
    return connection.execute(_LOOK, {"of_case": assignment}).first()


def _change(connection: Connection, assignment: int, **values: object) -> None:
    connection.execute(update(looks_table).where(looks_table.c.assignment == assignment).values(**values))


# A case keeps every version, and so many letters of them; the answer itself always finds room after its drafts.
MOST_LETTERS = 2_000_000
_FEW_VERSIONS = 50  # so few are not even counted


@dataclass(frozen=True)
class Entry:
    """What a rater sends: the whole form and, where it is to count, what it means. It rests on `version`. A page
    with scripts sends each grade at once, so its name and the turn say which of several came from it last."""

    version: int
    said: Said
    comment: str
    outcomes: Mapping[str, Outcome] | None = None  # None: a draft
    page: str | None = None
    turn: int = 0
    marks: Marks | None = None  # None: as they were

    @property
    def is_submitted(self) -> bool:
        return self.outcomes is not None


_NEWEST = select(_S).where(_S.c.assignment == _OF_CASE).order_by(_S.c.version.desc()).limit(1)
_NEWEST_SUBMITTED = _NEWEST.where(_S.c.submitted)
_SO_FAR = (
    select(_S.c.version, _S.c.submitted, _S.c.said, _S.c.comment, _S.c.marks, _S.c.saved_at, _S.c.page,
           _L.c.opened_at, _L.c.last_at, _L.c.seconds, _L.c.beats, _A.c.finished_at)
    .select_from(_A.outerjoin(_L, _L.c.assignment == _A.c.id).outerjoin(_S, _S.c.assignment == _A.c.id))
    .where(_A.c.id == _OF_CASE)
    .order_by(_S.c.version.desc())
    .limit(1)
)  # fmt: skip
_MARKED = func.coalesce(func.length(cast(_S.c.marks, Text)), 0)
_KEPT = select(func.sum(func.length(cast(_S.c.said, Text)) + func.length(_S.c.comment) + _MARKED)).where(
    _S.c.assignment == _OF_CASE
)
_ADD = insert(answers_table)
_ARRIVED = select(func.max(_S.c.turn)).where(_S.c.assignment == _OF_CASE, _S.c.page == bindparam("from_page"))
_FINISH = update(_A).where(_A.c.id == _OF_CASE).values(finished_at=bindparam("at"))


def add_version(
    connection: Connection, assignment: int, round_: Round, entry: Entry, now: datetime
) -> int | str:
    """Add a version of a case that is held: the number of the version that now holds what was sent, or why nothing
    was saved. What was sent twice is saved once. Not saved is what rests on an older version (the rater saved the
    case in another tab meanwhile), a text that is too long, and one version more than are kept."""
    case = {"of_case": assignment}
    last = connection.execute(_SO_FAR, case).one()
    version = last.version or 0
    marked = marks_from_row(last.marks)
    marks = marked if entry.marks is None else entry.marks
    if version:
        says_the_same = (last.said, last.comment, marked) == (entry.said, entry.comment, marks)
        if says_the_same and (last.submitted or not entry.is_submitted):
            return version  # sent twice, or a draft that says nothing new
        if has_arrived(connection, assignment, entry):
            return version
        rests_on_it = entry.version == version or (entry.page is not None and entry.page == last.page)
        if not rests_on_it and not says_the_same:
            at = datetime.fromisoformat(last.saved_at).strftime("%H:%M")
            return _(
                "This case was saved at %(time)s UTC from another tab or device. What you see below is not "
                "saved yet: send it again to keep it. The other version stays in the history.",
                time=at,
            )
    if (too_much := _too_much(connection, assignment, version, entry)) is not None:
        return too_much
    seconds, measured = looked(last, now, round_.idle_seconds) or (None, False)
    outcomes = {name: outcome_row(each) for name, each in (entry.outcomes or {}).items()}
    added = {
        "assignment": assignment,
        "version": version + 1,
        "submitted": entry.is_submitted,
        "said": entry.said,
        "outcomes": outcomes,
        "comment": entry.comment,
        "seconds": seconds,
        "measured": measured,
        "language": language(),
        "saved_at": now.isoformat(),
        "page": entry.page,
        "turn": entry.turn if entry.page else None,
        "marks": marks_row(marks),
    }
    connection.execute(_ADD, added)
    if seconds is not None:
        note_saved(connection, assignment, now, seconds)
    if entry.is_submitted and last.finished_at is None:
        connection.execute(_FINISH, case | {"at": now.isoformat()})
    return version + 1


def has_arrived(connection: Connection, assignment: int, entry: Entry) -> bool:
    """Whether this draft, or a later one of the page, is kept already: a page sends again what it got no answer
    to, and one may overtake another on the way."""
    if entry.page is None or entry.is_submitted:
        return False
    turn = connection.execute(_ARRIVED, {"of_case": assignment, "from_page": entry.page}).scalar()
    return turn is not None and turn >= entry.turn


def _too_much(connection: Connection, assignment: int, version: int, entry: Entry) -> str | None:
    """Every version is kept, so there is an end to what one person can store."""
    longest = max(len(text) for text in (entry.comment, *(each["why"] for each in entry.said.values())))
    if longest > LONGEST:
        return _(
            "Not saved: a text may have %(most)s letters, and one has %(letters)s. Shorten it, then submit.",
            most=decimal(LONGEST),
            letters=decimal(longest),
        )
    if version < _FEW_VERSIONS:
        return None
    kept = connection.execute(_KEPT, {"of_case": assignment}).scalar_one()
    if kept <= (2 * MOST_LETTERS if entry.is_submitted else MOST_LETTERS):
        return None
    if entry.is_submitted:
        return _("Not saved: this case was changed so often that no more is kept. Ask the coordinator.")
    return _("Not saved: this case has more drafts than are kept. Submit the answer; that is kept.")


def newest(connection: Connection, assignment: int, *, submitted: bool = False) -> Row[Any] | None:
    """The last version, draft or not; or the last that was submitted."""
    return connection.execute(_NEWEST_SUBMITTED if submitted else _NEWEST, {"of_case": assignment}).first()
