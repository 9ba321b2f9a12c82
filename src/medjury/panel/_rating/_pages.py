"""The rater's pages: who I am, where I am, one case, what follows it, and the discussion of a calibration round.
Every page works without JavaScript.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import delete, insert, select

from medjury.instruments import NotApplicable, Score
from medjury.intake.cases import clean_text
from medjury.panel._access._people import Person, Role
from medjury.panel._access._visitors import Rater, SentForm
from medjury.panel._design._assignments import assignment_of, next_code, places
from medjury.panel._design._form import passages_from_row
from medjury.panel._design._rounds import Round, waiting_drafts
from medjury.panel._language import _, decimal, marked
from medjury.panel._look import NavigationLink, page
from medjury.panel._panel import Panel
from medjury.panel._rating._answers import compared_answers, latest_answers, note_opened
from medjury.panel._rating._case_page import add_saving_routes, case_page, case_values, minutes
from medjury.panel._rating._coordinator_pages import add_history_routes, add_round_routes
from medjury.panel._rating._course import Step, can_join_more, course, standing
from medjury.panel._rating._criteria_pages import add_criteria_routes
from medjury.panel._tables import items_table, profiles_table, remarks_table

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


# The discussion of a calibration round: how far apart the grades lie, without names, and remarks on the words.


def discussed_cases(connection: Connection, round_: Round, person: str) -> list[dict[str, Any]]:
    """Every case of the round with its texts and the spread of its grades, in an order that is the same for all and
    tells nothing: that of the file would show which answers are of one system."""
    given: dict[tuple[str, str, str], Counter[str]] = {}
    own: dict[tuple[str, str, str], str] = {}
    for answer in latest_answers(connection, round_):
        place, word = (answer.item, answer.system, answer.dimension), _word(answer.outcome)
        given.setdefault(place, Counter())[word] += 1
        if answer.rater == person:
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
            spread = {"label": question.label, "own": own.get(place, ""), "differ": len(found) > 1}
            spreads.append({**spread, "counts": [(word, found[word]) for word in words]})
        cases.append({"number": number, "shown": passages_from_row(row.shown), "spreads": spreads})
    return cases


def remarks(connection: Connection, round_: Round) -> list[tuple[str, str]]:
    """What raters noted on the definitions: the question's label and the text, without names."""
    labels = {question.name: question.label for question in round_.questions}
    query = select(remarks_table).where(remarks_table.c.round == round_.id).order_by(remarks_table.c.id)
    return [(labels.get(row.dimension, ""), row.text) for row in connection.execute(query)]


def _word(outcome: object) -> str:
    if isinstance(outcome, Score):
        return f"{outcome.value:g}"
    return _("not applicable") if isinstance(outcome, NotApplicable) else _("can't judge")


_LONGEST_REMARK = 2000


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
            if known and 0 < len(text) <= _LONGEST_REMARK:
                row = {"round": round_.id, "person": person.id, "dimension": dimension, "text": text}
                at = panel.now().isoformat()
                connection.execute(insert(remarks_table).values(**row, written_at=at))
                return RedirectResponse(request.url.path, 303)
        problem = _(
            "Choose a question and write a remark of at most %(most)s letters.", most=decimal(_LONGEST_REMARK)
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


SENIORITIES = (
    marked("student"), marked("resident or trainee"), marked("specialist"), marked("consultant or attending"),
    marked("nurse"), marked("other"),
)  # fmt: skip
_LONGEST, _MOST_YEARS = 120, 70


def read_profile(form: Mapping[str, str]) -> dict[str, Any] | str:
    """The profile in a form, or what has to be put right."""
    years, specialty = form.get("years", "").strip(), clean_text(form.get("specialty", "")).strip()
    affiliation, seniority = clean_text(form.get("affiliation", "")).strip(), form.get("seniority", "")
    if not (years.isascii() and years.isdigit() and int(years[:4]) <= _MOST_YEARS):
        return _("Give your years in practice as a whole number from 0 to %(most)s.", most=_MOST_YEARS)
    if not specialty:
        return _("Give your specialty.")
    if len(specialty) > _LONGEST or len(affiliation) > _LONGEST:
        return _("Specialty and affiliation may have %(most)s letters each.", most=_LONGEST)
    if seniority not in SENIORITIES:
        return _("Choose your seniority.")
    own = {"specialty": specialty, "affiliation": affiliation, "seniority": seniority}
    return {"years": int(years[:4]), **own}


def profile_of(connection: Connection, person: str) -> dict[str, Any] | None:
    """A rater's own words about themselves."""
    found = select(profiles_table).where(profiles_table.c.person == person)
    row = connection.execute(found).mappings().first()
    return None if row is None else dict(row)


def keep_profile(connection: Connection, person: str, profile: Mapping[str, Any], now: datetime) -> None:
    connection.execute(delete(profiles_table).where(profiles_table.c.person == person))
    row = {**profile, "person": person, "written_at": now.isoformat()}
    connection.execute(insert(profiles_table).values(**row))


NAVIGATION = (
    NavigationLink("/rate", marked("My cases"), frozenset({Role.RATER}), order=10),
    NavigationLink("/rounds", "Rounds", frozenset({Role.COORDINATOR}), order=35),
)


def routes(panel: Panel) -> APIRouter:
    router = APIRouter(include_in_schema=False)
    _add_profile(router, panel)
    add_discussion_routes(router, panel)
    add_criteria_routes(router, panel)
    add_round_routes(router, panel)
    add_history_routes(router, panel)
    _add_home(router, panel)
    _add_case(router, panel)
    add_saving_routes(router, panel)
    return router


def _add_profile(router: APIRouter, panel: Panel) -> None:
    """Where a rater says who they are, at the first visit and whenever it changes."""

    @router.get("/rate/profile")
    def profile(request: Request, person: Rater) -> Response:
        with panel.database.reading() as connection:
            known = profile_of(connection, person.id)
        return page(request, "rating/profile.html", typed=known or {}, seniorities=SENIORITIES, problem="")

    @router.post("/rate/profile")
    def keep(request: Request, person: Rater, form: SentForm) -> Response:
        read = read_profile(form)
        if isinstance(read, str):
            values = {"typed": form, "seniorities": SENIORITIES, "problem": read}
            return page(request, "rating/profile.html", status=422, **values)
        with panel.database.writing() as connection:
            keep_profile(connection, person.id, read, panel.now())
        return RedirectResponse("/rate", 303)


def _add_home(router: APIRouter, panel: Panel) -> None:
    @router.get("/rate")
    def home(request: Request, person: Rater) -> Response:
        with panel.database.reading() as connection:
            if profile_of(connection, person.id) is None:
                return RedirectResponse("/rate/profile", 303)
            more = can_join_more(connection, person.id)
        if more:
            with panel.database.writing() as connection:
                course(connection, person.id, panel.now())
        with panel.database.reading() as connection:
            steps = course(connection, person.id)
            orders = {step.round.id: places(connection, step.round.id, person.id) for step in steps}
        nexts = {
            identity: next((place.code for place in order if not place.is_finished), None)
            for identity, order in orders.items()
        }
        values: dict[str, Any] = {"steps": steps, "orders": orders, "nexts": nexts, "texts": _texts(steps)}
        values["drafts"] = 0 if steps or panel.study is None else waiting_drafts(panel.study)
        return page(request, "rating/home.html", minutes=minutes, **values)


def _add_case(router: APIRouter, panel: Panel) -> None:
    @router.get("/rate/{code}")
    def case(request: Request, code: str, person: Rater, saved: str = "") -> Response:
        now = panel.now()

        def opened(connection: Connection) -> bool:
            if (own := standing(connection, code, person.id)) is not None:
                note_opened(connection, own.assignment, now)
            return own is not None

        if not panel.database.together(opened):
            raise HTTPException(404)
        return case_page(request, panel, code, person.id, notice=_("Your draft is saved.") if saved else "")

    @router.get("/rate/{code}/key")
    def key(request: Request, code: str, person: Rater) -> Response:
        with panel.database.reading() as connection:
            own, assignment = (
                standing(connection, code, person.id),
                assignment_of(connection, code, person.id),
            )
            if own is None or assignment is None or assignment.key is None or not own.is_finished:
                raise HTTPException(404)
            values = case_values(connection, own.round, assignment)
            values["compared"] = compared_answers(connection, own.round, person.id)[code]
            values["following"] = next_code(connection, own.round.id, person.id, code)
        values["reason"] = assignment.key["reason"]
        return page(request, "rating/key.html", minutes=minutes, **values)


def _texts(steps: list[Step]) -> dict[str, Any]:
    return dict(steps[0].round.settings["texts"]) if steps else {"welcome": "", "task": "", "thanks": ""}
