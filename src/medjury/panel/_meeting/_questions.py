"""Further questions that follow a grade: who is asked what, which text is on the left, and the replies as a table.

A rater is asked once they have rated all their cases, so that a preference cannot colour a grade. The order of two
texts is balanced twice: over the raters of an answer it differs by one at most and, where that leaves a choice,
over the answers of a rater; what is still open is left to chance. The order is stored with the question.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, insert, select

from medjury.foundation.files import whole_file
from medjury.instruments import Score
from medjury.panel._design._form import Passage, labelled, outcome_from_row, passages_from_row
from medjury.panel._design._rounds import Round, round_by_id, rounds
from medjury.panel._rating._answers import newest, progress
from medjury.panel._tables import asked_table, assignments_table, items_table, replies_table
from medjury.statistics import Estimate, counted_share, shown, undefined
from medjury.store.ratings import guard_frame

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Row


LEFT, RIGHT = "left", "right"
_ASKING = (
    "open",
    "closed",
)  # once raters have met they know one another's grades, and are asked nothing more


@dataclass(frozen=True)
class Asked:
    """One question to one rater about one answer, as it is shown. Neither case nor system is here."""

    id: int
    code: str
    question: str
    ask: str
    choices: tuple[str, ...]
    sides: tuple[Passage, ...]  # the left text and the right one; none where the question compares nothing
    shown: tuple[Passage, ...]
    version: int
    choice: str
    why: str
    is_open: bool

    @property
    def is_answered(self) -> bool:
        return self.version > 0


def applies(question: Mapping[str, Any], outcomes: Mapping[str, Any]) -> bool:
    """Whether a rater's grades lead to this question."""
    when = question["when"]
    found = outcomes.get(when["dimension"])
    outcome = None if found is None else outcome_from_row(found)
    return isinstance(outcome, Score) and outcome.value == when["equals"]


def ask_questions(connection: Connection, person: str, now: datetime) -> None:
    """Add the questions that have become due for a rater; the connection writes."""
    for round_ in rounds(connection):
        stated: Sequence[Mapping[str, Any]] = round_.settings.get("questions", ())
        if not (stated and round_.counts and round_.state in _ASKING):
            continue
        done = progress(connection, round_, person)
        if not (done.total and done.is_done):
            continue
        for row in _own(connection, round_, person):
            last = newest(connection, row.id, submitted=True)
            shown = {each.name for each in passages_from_row(row.shown)}
            for question in stated:
                due = last is not None and applies(question, last.outcomes)
                if due and shown.issuperset(question["between"] or ()):
                    _ask(connection, row, question["name"], now)


def questions_for(connection: Connection, person: str) -> list[Asked]:
    """What a rater has been asked, in a random order of their own; without what a changed grade took back."""
    a, q = assignments_table, asked_table
    query = (
        select(q.c.code)
        .join(a, a.c.id == q.c.assignment)
        .where(a.c.person == person, a.c.withdrawn_at.is_(None))
        .order_by(q.c.position)
    )
    found = [asked_of(connection, code, person) for code in connection.execute(query).scalars()]
    return [each for each in found if each is not None]


def asked_of(connection: Connection, code: str, person: str, *, lock: bool = False) -> Asked | None:
    """The rater's own question of that code; None where there is none, or where its grade was changed since."""
    a, i, q = assignments_table, items_table, asked_table
    query = (
        select(q, a.c.round, i.c.shown, a.c.id.label("own"))
        .join(a, a.c.id == q.c.assignment)
        .join(i, i.c.id == a.c.item)
        .where(q.c.code == code, a.c.person == person, a.c.withdrawn_at.is_(None))
    )
    row = connection.execute(query.with_for_update(of=q) if lock else query).first()
    if row is None:
        return None
    round_ = round_by_id(connection, row.round)
    last = newest(connection, row.own, submitted=True)
    stated = next((each for each in round_.settings["questions"] if each["name"] == row.question), None)
    if stated is None or last is None or not applies(stated, last.outcomes):
        return None
    return _asked(connection, row, round_, stated)


def _asked(connection: Connection, row: Row[Any], round_: Round, stated: Mapping[str, Any]) -> Asked:
    passages = labelled(passages_from_row(row.shown), round_.shown)
    between: tuple[str, ...] = tuple(stated["between"] or ())
    by_name = {each.name: each for each in passages}
    sides = tuple(by_name[name] for name in (reversed(between) if row.turned else between))
    table = replies_table
    reply = connection.execute(
        select(table).where(table.c.asked == row.id).order_by(table.c.version.desc()).limit(1)
    ).first()
    return Asked(
        row.id,
        row.code,
        row.question,
        stated["ask"],
        (*((LEFT, RIGHT) if sides else ()), *stated["choices"]),
        sides,
        tuple(each for each in passages if each.name not in between and not (between and each.is_answer)),
        reply.version if reply else 0,
        reply.choice if reply else "",
        reply.why if reply else "",
        round_.state in _ASKING,
    )


def _own(connection: Connection, round_: Round, person: str) -> Sequence[Any]:
    a, i = assignments_table, items_table
    own = (a.c.round == round_.id) & (a.c.person == person) & a.c.withdrawn_at.is_(None)
    query = select(a.c.id, a.c.item, a.c.person, i.c.shown).join(i, i.c.id == a.c.item).where(own)
    return connection.execute(query.order_by(a.c.position)).all()


def _ask(connection: Connection, row: Row[Any], question: str, now: datetime) -> None:
    q = asked_table
    known = select(q.c.id).where(q.c.assignment == row.id, q.c.question == question)
    if connection.execute(known).first():
        return
    # The item's row is locked, so that two raters who come at once do not both find the same order rarer.
    connection.execute(select(items_table.c.id).where(items_table.c.id == row.item).with_for_update())
    if connection.execute(known).first():
        return
    connection.execute(
        insert(q).values(
            assignment=row.id,
            question=question,
            code=secrets.token_urlsafe(12),
            position=secrets.randbelow(2**52) / 2**52,
            turned=_turned(connection, row, question),
            asked_at=now.isoformat(),
        )
    )


def _turned(connection: Connection, row: Row[Any], question: str) -> bool:
    a, q = assignments_table, asked_table
    counted = (
        select(q.c.turned, func.count()).join(a, a.c.id == q.c.assignment).where(q.c.question == question)
    )
    for same in (a.c.item == row.item, a.c.person == row.person):
        rows = connection.execute(counted.where(same).group_by(q.c.turned)).all()
        counts = {row[0]: row[1] for row in rows}
        if (straight := counts.get(False, 0)) != (turned := counts.get(True, 0)):
            return bool(straight > turned)
    return bool(secrets.randbelow(2))


@dataclass(frozen=True)
class QuestionReply:
    """One rater's last reply. `choice` is as it was shown, `chosen` what it means: the text that stood there."""

    item: str
    system: str
    person: str
    question: str
    left: str
    right: str
    choice: str
    chosen: str
    why: str
    said_at: str
    version: int
    probability: float | None


def question_replies(connection: Connection, round_: Round) -> Iterator[QuestionReply]:
    """The last replies of a round, without those whose grade was changed since, so that nobody would ask."""
    a, i, q, r = assignments_table, items_table, asked_table, replies_table
    stated = {each["name"]: each for each in round_.settings.get("questions", ())}
    query = (
        select(q, a.c.person, a.c.probability, a.c.id.label("own"), i.c.item.label("case_item"), i.c.system)
        .join(a, a.c.id == q.c.assignment)
        .join(i, i.c.id == a.c.item)
        .where(a.c.round == round_.id, a.c.withdrawn_at.is_(None))
        .order_by(q.c.question, i.c.id, a.c.person)
    )
    for row in connection.execute(query).all():
        last = newest(connection, row.own, submitted=True)
        said = connection.execute(
            select(r).where(r.c.asked == row.id).order_by(r.c.version.desc()).limit(1)
        ).first()
        question = stated.get(row.question)
        if said is None or last is None or question is None or not applies(question, last.outcomes):
            continue
        first, second = question["between"] or ("", "")
        left, right = (second, first) if row.turned else (first, second)
        chosen = {LEFT: left, RIGHT: right}.get(said.choice, said.choice) if left else said.choice
        yield QuestionReply(
            row.case_item, row.system, row.person, row.question, left, right, said.choice, chosen, said.why,
            said.said_at, said.version, row.probability,
        )  # fmt: skip


def left_share(replies: Iterable[QuestionReply], question: str) -> Estimate:
    """How often the left text was chosen of the replies that chose a side, whatever it was: half where order does
    nothing. A habit is a person's, so the interval takes all replies of one rater together."""
    own = (each for each in replies if each.question == question and each.left)
    chose = [each for each in own if each.choice in (LEFT, RIGHT)]
    raters = [each.person for each in chose]
    if len(set(raters)) < 2:
        return undefined("two raters or more must have chosen a side", len(chose), "none")
    return counted_share([each.choice == LEFT for each in chose], raters)


def what_order_did(replies: Iterable[QuestionReply], question: str) -> str:
    """The same in a sentence."""
    share = left_share(replies, question)
    chose = f"{share.n:,} {'reply' if share.n == 1 else 'replies'}"
    return (
        f"{question}: the left text was chosen in {shown(share)} of {chose} that chose a side "
        "(0.5 where order does nothing)"
    )


def write_question_replies(replies: Iterable[QuestionReply], file: str | Path) -> int:
    """Write the replies as CSV and say how many there are."""
    import polars

    rows = [asdict(each) for each in replies]
    kinds = {"version": polars.Int64, "probability": polars.Float64}
    schema = {each.name: kinds.get(each.name, polars.String) for each in fields(QuestionReply)}
    with whole_file(Path(file)) as out:
        out.write(guard_frame(polars.DataFrame(rows, schema=schema)).write_csv())
    return len(rows)
