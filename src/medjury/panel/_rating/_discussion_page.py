"""The discussion after a calibration round: the spread of grades without names, and remarks on the definitions."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import insert, select

from medjury.instruments import NotApplicable, Score
from medjury.panel._access import Person, Rater, SentForm
from medjury.panel._design import Passage, Round
from medjury.panel._design._shown import passages_from_row
from medjury.panel._language import _, decimal
from medjury.panel._look import page
from medjury.panel._panel import Panel
from medjury.panel._rating._course import course
from medjury.panel._rating._stored_answers import latest_answers
from medjury.panel._tables import items_table, remarks_table

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


# The discussion of a calibration round: how far apart the grades lie, without names, and remarks on the words.


@dataclass(frozen=True)
class Spread:
    """How often each grade of one question was given on one case, and which one is the reader's own."""

    label: str
    counts: tuple[tuple[str, int], ...]
    own: str

    @property
    def differ(self) -> bool:
        return sum(count > 0 for _, count in self.counts) > 1


@dataclass(frozen=True)
class DiscussedCase:
    """A case of the discussion: its texts, and what everyone said on it."""

    number: int
    shown: tuple[Passage, ...]
    spreads: tuple[Spread, ...]


def discussed_cases(connection: Connection, round_: Round, person: str) -> list[DiscussedCase]:
    """Every case of the round with the spread of its grades, in an order that is the same for all and tells
    nothing: that of the file would show which answers are of one system."""
    given: dict[tuple[str, str, str], Counter[str]] = {}
    own: dict[tuple[str, str, str], str] = {}
    for answer in latest_answers(connection, round_):
        place, word = (answer.item, answer.system, answer.dimension), _word(answer.outcome)
        given.setdefault(place, Counter())[word] += 1
        if answer.person == person:
            own[place] = word
    query = select(items_table).where(items_table.c.round == round_.id).order_by(items_table.c.id)
    rows = list(connection.execute(query))
    random.Random(f"discussion {round_.seed} {round_.name}").shuffle(rows)
    cases = []
    for number, row in enumerate(rows, start=1):
        spreads = []
        for question in round_.of(row.instrument).questions:
            place = (row.item, row.system, question.name)
            found = given.get(place, Counter())
            words = [choice.value for choice in question.grades]
            words += [word for word in (_("not applicable"), _("can't judge")) if found[word]]
            counts = tuple((word, found[word]) for word in words)
            spreads.append(Spread(question.label, counts, own.get(place, "")))
        cases.append(DiscussedCase(number, passages_from_row(row.shown), tuple(spreads)))
    return cases


def remarks(connection: Connection, round_: Round) -> list[tuple[str, str]]:
    """What raters noted on the definitions: the question's label and the text, without names."""
    labels = {question.name: question.label for question in round_.questions}
    query = select(remarks_table).where(remarks_table.c.round == round_.id).order_by(remarks_table.c.id)
    return [(labels.get(row.dimension, ""), row.text) for row in connection.execute(query)]


def add_remark(
    connection: Connection, round_: Round, person: str, dimension: str, text: str, now: datetime
) -> None:
    values = {"round": round_.id, "person": person, "dimension": dimension, "text": text}
    connection.execute(insert(remarks_table).values(**values, written_at=now.isoformat()))


def _word(outcome: object) -> str:
    if isinstance(outcome, Score):
        return f"{outcome.value:g}"
    return _("not applicable") if isinstance(outcome, NotApplicable) else _("can't judge")


_LONGEST = 2000


def add_discussion_routes(router: APIRouter, panel: Panel) -> None:
    @router.get("/rate/discussion/{name}")
    def discussion(request: Request, name: str, person: Rater) -> Response:
        return _page(request, panel, name, person)

    @router.post("/rate/discussion/{name}")
    def remark(request: Request, name: str, person: Rater, form: SentForm) -> Response:
        text, dimension = form.get("text", "").strip(), form.get("dimension", "")
        with panel.database.writing() as connection:
            round_ = _discussed(connection, name, person)
            known = dimension in {question.name for question in round_.questions}
            if known and 0 < len(text) <= _LONGEST:
                add_remark(connection, round_, person.id, dimension, text, panel.now())
                return RedirectResponse(request.url.path, 303)
        problem = _(
            "Choose a question and write a remark of at most %(most)s letters.", most=decimal(_LONGEST)
        )
        return _page(request, panel, name, person, problem=problem, typed=text)


def _page(
    request: Request, panel: Panel, name: str, person: Person, *, problem: str = "", typed: str = ""
) -> Response:
    with panel.database.reading() as connection:
        round_ = _discussed(connection, name, person)
        cases, said = discussed_cases(connection, round_, person.id), remarks(connection, round_)
    values = {"round": round_, "cases": cases, "remarks": said, "problem": problem, "typed": typed}
    return page(request, "rating/discussion.html", status=422 if problem else 200, **values)


def _discussed(connection: Connection, name: str, person: Person) -> Round:
    """The round, where it is being discussed and the rater takes part."""
    for step in course(connection, person.id):
        if step.round.name == name and step.state == "discussion":
            return step.round
    raise HTTPException(404)
