"""The page of a case, made ready here so that the template only lays it out, and what it sends: the answer, a draft
of it, and signs of life. Many come at the same moment, so each is one piece of work that shares its transaction
with the others; it begins with who is asking.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Example, Outcome
from medjury.intake.cases import FIRST_ANSWER, SECOND_ANSWER
from medjury.panel._access._people import Role
from medjury.panel._access._visitors import Claim, Form, SentForm, claimed_by
from medjury.panel._design._assignments import Assignment, assignment_of, next_code, places
from medjury.panel._design._form import Passage, Said, labelled, read_form, said_in
from medjury.panel._design._rounds import Round, round_by_id
from medjury.panel._language import _, decimal
from medjury.panel._look import page
from medjury.panel._panel import Panel
from medjury.panel._rating._answers import (
    EVERY_SECONDS,
    MARKS,
    Entry,
    Marks,
    add_version,
    conclude_training,
    has_arrived,
    marks_from_row,
    marks_in,
    marks_text,
    newest,
    note_sign_of_life,
    progress,
    text_to_mark,
)
from medjury.panel._rating._course import Standing, standing
from medjury.panel._word_difference import Parts, word_difference

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


_MOST_WORDS = 1000  # of two texts to be compared: beyond that nothing is marked


def differences(first: str, second: str) -> tuple[Parts, Parts]:
    """Both texts in parts. Only whole words differ; capitals and punctuation at a word's edge do not count."""
    both = word_difference(first, second, plain=_plain, most=_MOST_WORDS)
    return both or ([(first, False)], [(second, False)])


_AROUND = ".,;:!?\"'“”’()"  # a word


def _plain(word: str) -> str:
    bare = word.rstrip(_AROUND)
    rest = bare.lstrip(_AROUND)
    before = bare.removesuffix(rest)[-1:]
    is_number = rest[:1].isdigit() and before in (".", ",")  # .5 is not 5
    return (f"{before}{rest}" if is_number else rest).casefold() or word


def case_values(
    connection: Connection,
    round_: Round,
    assignment: Assignment,
    *,
    said: Said | None = None,
    comment: str | None = None,
    marks: Marks | None = None,
    problems: Mapping[str, str] | None = None,
    notice: str = "",
) -> dict[str, Any]:
    """The values of `rating/case.html`; what was typed and not saved takes the place of what was saved."""
    last = newest(connection, assignment.id)
    order = places(connection, round_.id, assignment.person)
    codes = [place.code for place in order]
    number = codes.index(assignment.code)
    source, *answers = _columns(round_, assignment)
    kept: Said = last.said if last is not None else {}
    marked = marks_from_row(last.marks if last is not None else None) if marks is None else marks
    return {
        "round": round_,
        "code": assignment.code,
        "number": number + 1,
        "before": codes[number - 1] if number else None,
        "after": codes[number + 1] if number + 1 < len(codes) else None,
        "progress": progress(connection, round_, assignment.person),
        "by_criteria": assignment.instrument is not None,
        "points": {
            name: _("points: %(points)s", points=decimal(points))
            for name, points in (assignment.instrument or {}).get("points", {}).items()
        },
        "source": source,
        "answers": list(filter(None, answers)),
        "said": {q.name: (said or kept).get(q.name, {"grade": "", "why": ""}) for q in round_.questions},
        "comment": comment if comment is not None else (last.comment if last is not None else ""),
        "marks": marked,
        "marks_text": marks_text(marked),
        "letters": len(text_to_mark(assignment.answer)),
        "version": last.version if last is not None else 0,
        "is_finished": assignment.is_finished,
        "has_draft": last is not None and not last.submitted,
        "is_open": round_.state == "open" and not (round_.kind == "training" and assignment.is_finished),
        "problems": problems or {},
        "notice": notice,
        "instructions": _paragraphs(round_.shown.instructions),
        "examples": [_example(round_, each) for each in round_.instrument.examples],
        "every_seconds": EVERY_SECONDS,
    }


def case_page(
    request: Request, panel: Panel, code: str, person: str, *, status: int = 200, **values: Any
) -> Response:
    with panel.database.reading() as connection:
        assignment = assignment_of(connection, code, person)
        if assignment is None:
            raise HTTPException(404)
        round_ = round_by_id(connection, assignment.round).of(assignment.instrument)
        known = case_values(connection, round_, assignment, **values)
    return page(request, "rating/case.html", status=status, minutes=minutes, **known)


def minutes(seconds: float | None) -> str:
    """A rough time in words."""
    if seconds is None:
        return ""
    whole = max(1, round(seconds / 60))
    if whole < 90:
        return _("about %(minutes)s min left", minutes=whole)
    return _("about %(hours)s hours left", hours=decimal(round(whole / 60, 1)))


def _paragraphs(text: str) -> list[str]:
    """A text of a YAML file: blank lines part it, and single line breaks are only how it was written."""
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]


def _column(label: str, passages: Sequence[Passage], pieces: Mapping[str, Parts]) -> dict[str, Any]:
    """One side of the page: a heading, passages, and by name those that are shown in parts."""
    return {"label": label, "passages": passages, "pieces": pieces}


def _columns(round_: Round, assignment: Assignment) -> tuple[dict[str, Any] | None, ...]:
    """The source, and the answer or the two that are compared."""
    sources = labelled(assignment.sources, round_.shown)
    if compared := [each for each in sources if each.name in (FIRST_ANSWER, SECOND_ANSWER)]:
        others = [each for each in sources if each not in compared]
        label = others[0].label if len(others) == 1 else _("Source")
        source = _column(label, others, {}) if others else None
        return source, *(_column(each.label, (each,), {}) for each in compared)
    answer = next(iter(labelled(filter(None, [assignment.answer]), round_.shown)), None)
    reference = next((each for each in sources if each.name == "reference"), None)
    left: dict[str, Parts] = {}
    right: dict[str, Parts] = {}
    if round_.settings["differences"] and reference and answer:
        left["reference"], right[answer.name] = differences(reference.text, answer.text)
        before = tuple(each for each in sources if each.name == "context")
        if {each.name for each in sources} <= {"context", "reference"}:
            # Two transcripts: the same conversation on both sides, and only its last line differs.
            source = _column(reference.label, (*before, reference), left)
            return source, _column(answer.label, (*before, answer), right)
    label = sources[0].label if len(sources) == 1 else _("Source")
    source = _column(label, sources, left) if sources else None
    return source, _column(answer.label, (answer,), right) if answer else None


def _example(round_: Round, example: Example) -> dict[str, Any]:
    """A worked example beside the form: its texts in parts, the right grades and why."""
    instrument = round_.shown
    labels = {each.name: each.label for each in instrument.inputs}
    texts: dict[str, Parts] = {name: [(text, False)] for name, text in example.inputs.items()}
    if round_.settings["differences"] and {"reference", "candidate"} <= set(texts):
        pair = differences(example.inputs["reference"], example.inputs["candidate"])
        texts["reference"], texts["candidate"] = pair
    grades = [
        (instrument.dimension(name).label, _("not applicable") if grade is None else f"{grade}")
        for name, grade in example.scores.items()
        if name in {each.name for each in instrument.dimensions}
    ]
    shown = [(labels.get(name, name), parts) for name, parts in texts.items()]
    return {"texts": shown, "grades": grades, "explanation": example.explanation}


_PAGE = re.compile("[0-9a-f]{32}")  # a page's own random name
_Claimed = Annotated[Claim, Depends(claimed_by(Role.RATER))]
_T = TypeVar("_T")


def add_saving_routes(router: APIRouter, panel: Panel) -> None:
    @router.post("/rate/{code}")
    def send(request: Request, code: str, claim: _Claimed, form: SentForm) -> Response:
        now, submitted = panel.now(), form.get("action") != "save"

        def work(connection: Connection, own: Standing) -> Response | tuple[Standing, int, dict[str, object]]:
            read = read_form(form, own.round.instrument, own.round.questions)
            typed: dict[str, object] = {"said": read.said, "comment": read.comment}
            try:
                marks = _marks(connection, own, form)
            except MedjuryError as error:
                return own, 409, typed | {"notice": str(error)}
            typed["marks"] = marks
            if own.refusal is not None:
                return own, 409, typed | {"notice": own.refusal}
            if submitted and read.problems:
                add_version(
                    connection, own.assignment, own.round, _entry(form, read.said, read.comment, marks), now
                )
                return own, 422, typed | {"problems": read.problems}
            entry = _entry(form, read.said, read.comment, marks, read.outcomes if submitted else None)
            done = add_version(connection, own.assignment, own.round, entry, now)
            if isinstance(done, str):
                return own, 409, typed | {"notice": done}
            return RedirectResponse(_following(connection, own, submitted, now), 303)

        done = _with_own_case(panel, claim, code, now, work)
        if isinstance(done, Response):
            return done
        own, status, typed = done
        return case_page(request, panel, code, own.person, status=status, **typed)

    @router.post("/rate/{code}/draft")
    def draft(code: str, claim: _Claimed, form: SentForm) -> Response:
        now = panel.now()

        def work(connection: Connection, own: Standing) -> Response:
            said, comment = said_in(form, own.round.questions)
            try:
                entry = _entry(form, said, comment, _marks(connection, own, form))
            except MedjuryError as error:
                return JSONResponse({"message": str(error)}, 409)
            if own.refusal is not None:
                if has_arrived(connection, own.assignment, entry):
                    return JSONResponse({"version": entry.version})
                return JSONResponse({"message": own.refusal}, 409)
            done = add_version(connection, own.assignment, own.round, entry, now)
            return (
                JSONResponse({"message": done}, 409)
                if isinstance(done, str)
                else JSONResponse({"version": done})
            )

        return _with_own_case(panel, claim, code, now, work)

    @router.post("/rate/{code}/here")
    def here(code: str, claim: _Claimed, form: SentForm) -> Response:
        now = panel.now()

        def work(connection: Connection, own: Standing) -> Response:
            note_sign_of_life(connection, own.assignment, now)
            return Response(status_code=204)

        return _with_own_case(panel, claim, code, now, work)


def _with_own_case(
    panel: Panel, claim: Claim, code: str, now: datetime, work: Callable[[Connection, Standing], _T]
) -> _T:
    """What `work` makes of the rater's own case; whoever has none, or may not, is answered as everywhere."""

    def whole(connection: Connection) -> _T | Exception:
        person = claim.person(connection, now)
        if isinstance(person, Exception):
            return person
        own = standing(connection, code, person.id, hold=True)
        return HTTPException(404) if own is None else work(connection, own)

    done = panel.database.together(whole)
    if isinstance(done, Exception):
        raise done
    return done


def _following(connection: Connection, own: Standing, submitted: bool, now: datetime) -> str:
    """Where the rater goes from here. It hangs on nothing but the rater's own cases and their order."""
    if not submitted:
        return f"/rate/{own.code}?saved=1"
    following = next_code(connection, own.round.id, own.person, own.code)
    if own.round.kind == "training":
        if following is None:
            conclude_training(connection, own.round, own.person, now)
        return f"/rate/{own.code}/key"
    return f"/rate/{following}" if following else "/rate"


def _entry(
    form: Form, said: Said, comment: str, marks: Marks | None, outcomes: Mapping[str, Outcome] | None = None
) -> Entry:
    page = form.get("page", "")
    named = page if _PAGE.fullmatch(page) else None
    return Entry(form.number("version"), said, comment, outcomes, named, form.number("turn"), marks)


def _marks(connection: Connection, own: Standing, form: Form) -> Marks | None:
    """What the form marks in the answer, which is read only where something is marked."""
    is_any = form.get(MARKS, "") not in ("", "[]")
    case = assignment_of(connection, own.code, own.person) if is_any else None
    return marks_in(form, case.answer if case is not None else None)
