"""The pages of one difference, for its raters and for the adjudicator: texts, who said what, what was settled.
Neither case nor system is named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import select

from medjury.foundation.errors import MedjuryError
from medjury.instruments import NotApplicable, Outcome, Score, Unscored
from medjury.panel._access._people import Person, Role, names_of_people
from medjury.panel._access._trail import trail
from medjury.panel._access._visitors import Adjudicator, Form, Rater, SentForm
from medjury.panel._design._form import Read, Said, labelled, passages_from_row
from medjury.panel._design._rounds import Round, round_by_id
from medjury.panel._language import _, marked
from medjury.panel._look import page
from medjury.panel._meeting._differences import (
    MeetingItem,
    RatedItem,
    Settled,
    item_by_code,
    items_for_adjudicator,
    items_of_person,
    rated_items,
)
from medjury.panel._meeting._settling import (
    Overtaken,
    confirm,
    decide,
    do_not_agree,
    propose,
    questions_to_settle,
    read_settled,
    said_before,
    typed_text,
)
from medjury.panel._panel import Panel
from medjury.panel._rating._answers import Marks
from medjury.panel._tables import items_table

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


_Grade = dict[str, str]  # who gave it, the grade, its words, and why


def _rated(connection: Connection, item: MeetingItem) -> RatedItem:
    """The answer with what each of its raters said, as the round asks about it."""
    (rated,) = rated_items(connection, round_by_id(connection, item.meeting.round), only=item.item)
    return rated


def difference_of(connection: Connection, item: MeetingItem, rated: RatedItem, reader: str) -> dict[str, Any]:
    """Everything that a page may show of the difference, as this person sees it."""
    round_, who = rated.round, _names(connection, item, reader)
    row = connection.execute(select(items_table.c.shown).where(items_table.c.id == item.item)).scalar_one()
    shown = labelled(passages_from_row(row), round_.shown)
    names = [each.name for each in round_.instrument.dimensions]
    return {
        "round": round_,
        "texts": [each for each in shown if not each.is_answer],
        "answers": [each for each in shown if each.is_answer],
        "questions": questions_to_settle(round_.shown, item, rated),
        "differing": [_given(rated, name, who) for name in names if name in item.dimensions],
        "agreed": [_given(rated, name, who) for name in names if name not in item.dimensions],
        "proposals": [_entered(round_, each, item, who) for each in item.proposals],
        "decisions": [_entered(round_, each, item, who) for each in item.decisions],
        "marked": [(name, marks) for person, name in who.items() if (marks := _marks(rated, person))],
    }


def _marks(rated: RatedItem, person: str) -> Marks:
    """The passages that a rater marked alone; they are the same beside each of the rater's grades."""
    return next((each.marks for each in rated.said.get(person, {}).values()), ())


def grades_in_short(connection: Connection, items: Sequence[MeetingItem]) -> dict[str, list[tuple[str, str]]]:
    """By the code of an answer what raters gave where they differ, as "4 v 1", in the order of their letters."""
    rounds_ = [round_by_id(connection, each) for each in {each.meeting.round for each in items}]
    rated = {each.id: each for round_ in rounds_ for each in rated_items(connection, round_)}
    found, against = {}, _("v")
    for each in items:
        who = dict.fromkeys(each.participants, "")
        given = [_given(rated[each.item], name, who) for name in each.dimensions]
        found[each.code] = [
            (label, f" {against} ".join(one["grade"] for one in said)) for label, said in given
        ]
    return found


def _names(connection: Connection, item: MeetingItem, reader: str) -> dict[str, str]:
    """Raters are letters, unless the study lets them see names; one's own is marked."""
    known = names_of_people(connection) if item.meeting.names else {}
    named = {
        each: known.get(each, _("Rater %(letter)s", letter=item.letter(each))) for each in item.participants
    }
    return {each: _("%(name)s (you)", name=name) if each == reader else name for each, name in named.items()}


def _given(rated: RatedItem, name: str, who: Mapping[str, str]) -> tuple[str, list[_Grade]]:
    """The label of a question, and what everybody said."""
    round_ = rated.round
    dimension = round_.shown.dimension(name)
    given = rated.outcomes(name)
    said = [_grade(round_, name, given[person], shown) for person, shown in who.items() if person in given]
    return dimension.label or name, said


def _grade(round_: Round, name: str, outcome: Outcome, who: str) -> _Grade:
    grade, words = _("can't judge"), ""
    if isinstance(outcome, Score):
        grade, words = f"{outcome.value:g}", round_.shown.dimension(name).grades.get(int(outcome.value), "")
    elif isinstance(outcome, NotApplicable):
        grade = _("not applicable")
    why = outcome.message if isinstance(outcome, Unscored) else outcome.explanation
    return {"who": who, "grade": grade, "words": words, "why": why}


def _entered(round_: Round, settled: Settled, item: MeetingItem, who: Mapping[str, str]) -> dict[str, Any]:
    """One version of what was entered together, or decided."""
    labels = {each.name: each.label or each.name for each in round_.shown.dimensions}
    return {
        "who": who.get(settled.person, _("The adjudicator")),
        "settled": settled,
        "grades": [
            _grade(round_, name, settled.outcomes[name], labels[name])
            for name in item.dimensions
            if name in settled.outcomes
        ],
        "confirmed": [who[each] for each in item.participants if each in settled.confirmed],
        "waiting_for": [who[each] for each in item.participants if each not in settled.confirmed],
    }


_OVERTAKEN = marked(
    "Somebody saved something else for this case while you had it open, so nothing of yours was saved. Theirs is "
    "shown below, and what you typed is still in the form. Look at both, then send it again."
)
_Change = Callable[["Connection"], object]


def add_together_routes(router: APIRouter, panel: Panel) -> None:
    """Raters settle a case together."""

    @router.get("/together/{code}")
    def one(request: Request, code: str, person: Rater) -> Response:
        return _show(request, panel, code, person)

    @router.post("/together/{code}")
    def enter(request: Request, code: str, person: Rater, form: SentForm) -> Response:
        return _enter(request, panel, code, person, form, propose, "entered grades together")

    @router.post("/together/{code}/confirm")
    def yes(request: Request, code: str, person: Rater, form: SentForm) -> Response:
        def change(connection: Connection) -> None:
            confirm(connection, code, person.id, form.number("version"), panel.now())

        return _act(request, panel, code, person, change, "confirmed grades")

    @router.post("/together/{code}/no-agreement")
    def no(request: Request, code: str, person: Rater, form: SentForm) -> Response:
        reason = typed_text(form, "reason")

        def change(connection: Connection) -> None:
            do_not_agree(connection, code, person.id, form.number("version"), reason, panel.now())

        try:
            return _act(request, panel, code, person, change, "did not agree", reason=reason)
        except MedjuryError as error:
            return _show(request, panel, code, person, problem=str(error), reason=reason, status=400)


def add_decision_routes(router: APIRouter, panel: Panel) -> None:
    """The adjudicator decides what raters could not settle."""

    @router.get("/decisions")
    def everything(request: Request, person: Adjudicator) -> Response:
        with panel.database.reading() as connection:
            items = items_for_adjudicator(connection)
            grades = grades_in_short(connection, items)
        return page(request, "meeting/decisions.html", items=items, grades=grades)

    @router.get("/decisions/{code}")
    def one(request: Request, code: str, person: Adjudicator) -> Response:
        return _show(request, panel, code, person)

    @router.post("/decisions/{code}")
    def enter(request: Request, code: str, person: Adjudicator, form: SentForm) -> Response:
        return _enter(request, panel, code, person, form, decide, "decided")


def _own(connection: Connection, code: str, person: Person) -> MeetingItem:
    """Whoever did not rate the case, or to whom it was not sent, does not learn that there is one."""
    item = item_by_code(connection, code)
    if item is None:
        raise HTTPException(404)
    if person.role == Role.ADJUDICATOR:
        is_own = item.state in ("adjudicator", "adjudicated")
    else:
        is_own = person.id in item.participants and item.meeting.by == "raters"
    if not is_own:
        raise HTTPException(404)
    return item


def _enter(
    request: Request,
    panel: Panel,
    code: str,
    person: Person,
    form: Form,
    save: Callable[[Connection, str, str, int, Read, datetime], object],
    what: str,
) -> Response:
    """Save the grades of a form, as far as they can be taken."""
    with panel.database.reading() as connection:
        item = _own(connection, code, person)
        rated = _rated(connection, item)
    read = read_settled(form, rated.round.instrument, item, rated)
    if read.problems:
        return _show(request, panel, code, person, said=read.said, problems=read.problems, status=400)

    def change(connection: Connection) -> None:
        save(connection, code, person.id, form.number("version"), read, panel.now())

    return _act(request, panel, code, person, change, what, said=read.said)


def _act(
    request: Request,
    panel: Panel,
    code: str,
    person: Person,
    change: _Change,
    what: str,
    *,
    said: Said | None = None,
    reason: str = "",
) -> Response:
    """Do it in one transaction and show the case again; where somebody was quicker, with what was typed."""
    try:
        with panel.database.writing() as connection:
            change(connection)
            trail(connection, person, what, code, now=panel.now())
    except Overtaken:
        return _show(
            request, panel, code, person, said=said, problem=_(_OVERTAKEN), reason=reason, status=409
        )
    except LookupError:
        raise HTTPException(404) from None
    return RedirectResponse(f"/{request.url.path.split('/')[1]}/{code}", 303)


def _show(
    request: Request,
    panel: Panel,
    code: str,
    person: Person,
    *,
    said: Said | None = None,
    problems: Mapping[str, str] | None = None,
    problem: str = "",
    reason: str = "",
    status: int = 200,
) -> Response:
    decides = person.role == Role.ADJUDICATOR
    with panel.database.reading() as connection:
        item = _own(connection, code, person)
        rated = _rated(connection, item)
        shown = difference_of(connection, item, rated, person.id)
        mine = items_for_adjudicator(connection) if decides else items_of_person(connection, person.id)
    entered = shown["decisions" if decides else "proposals"]
    if said is None and decides:
        said = item.decision.said if item.decision else {}
    codes = [each.code for each in mine]
    place = codes.index(code)
    return page(
        request,
        "meeting/decision.html" if decides else "meeting/difference.html",
        status=status,
        shown=shown,
        item=item,
        state=item.state,
        last=entered[-1] if entered else None,
        said=said if said is not None else said_before(item, rated),
        problems=problems or {},
        problem=problem,
        reason=reason,
        number=place + 1,
        total=len(mine),
        following=codes[place + 1] if place + 1 < len(codes) else None,
    )
