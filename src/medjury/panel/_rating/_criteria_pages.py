"""Where clinicians decide what a model proposed: each draft of a criterion is accepted, edited or dropped, and they
write their own. The rounds are set up when no draft waits any more; from then on criteria are as raters saw them.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from threading import Lock
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import (
    Case,
    WrittenCriterion,
    clean_text,
    criterion_id,
    read_written_criteria,
    write_written_criteria,
)
from medjury.panel._access._visitors import Form, Rater, SentForm
from medjury.panel._design._form import ANSWER, hider, labelled, shown_of
from medjury.panel._design._rounds import rounds, set_up, waiting_drafts
from medjury.panel._language import _
from medjury.panel._look import page
from medjury.panel._panel import Panel

_MOST_POINTS, _LONGEST = 100, 1000
_writing = Lock()


def _criteria_file(panel: Panel) -> Path | None:
    """Where the criteria of the study's cases are written, where it says so."""
    study = panel.study
    return None if study is None else study.settings.cases.criteria_in(study.file.resolve().parent)


def add_criteria_routes(router: APIRouter, panel: Panel) -> None:
    @router.get("/rate/criteria")
    def cases(request: Request, person: Rater) -> Response:
        written = _by_case(panel)
        waiting = [
            Counter(each.state for each in written[case.id])["draft"] for case in _cases(panel, written)
        ]
        return page(request, "rating/drafts.html", case=None, waiting=waiting)

    @router.get("/rate/criteria/{place}")
    def one(request: Request, place: int, person: Rater) -> Response:
        return _one(request, panel, place)

    @router.post("/rate/criteria/{place}")
    def decide(request: Request, place: int, person: Rater, form: SentForm) -> Response:
        problem = _decided(panel, place, person.name, form)
        if problem:
            return _one(request, panel, place, problem=problem, typed=form)
        if panel.study is not None and not waiting_drafts(panel.study):
            try:
                with panel.database.writing() as connection:
                    set_up(connection, panel.study, panel.now())
            except MedjuryError as error:
                return _one(request, panel, place, problem=str(error))
        return RedirectResponse(f"/rate/criteria/{place}#c-{form.get('id', 'own')}", 303)


def _by_case(panel: Panel) -> dict[str, list[WrittenCriterion]]:
    file = _criteria_file(panel)
    if file is None:
        raise HTTPException(404)
    found: dict[str, list[WrittenCriterion]] = {}
    for each in read_written_criteria(file):
        found.setdefault(each.case, []).append(each)
    return found


def _cases(panel: Panel, written: dict[str, list[WrittenCriterion]]) -> list[Case]:
    """The cases that have drafts or criteria there, each once, in the order of their file."""
    assert panel.study is not None
    return list({case.id: case for case in panel.study.cases if case.id in written}.values())


def _case(panel: Panel, place: int) -> tuple[Case, list[WrittenCriterion], int]:
    written = _by_case(panel)
    cases = _cases(panel, written)
    if not 1 <= place <= len(cases):
        raise HTTPException(404)
    case = cases[place - 1]
    return case, written[case.id], len(cases)


def _is_settled(panel: Panel) -> bool:
    """Whether raters mark by them already."""
    with panel.database.reading() as connection:
        return bool(rounds(connection))


def _one(
    request: Request, panel: Panel, place: int, *, problem: str = "", typed: Form | None = None
) -> Response:
    case, written, total = _case(panel, place)
    assert panel.study is not None
    passages = shown_of(case, panel.study.instrument, None, hider(panel.study.panel.blind_words))
    values: dict[str, Any] = {
        "case": case.id,
        "place": place,
        "total": total,
        "passages": [each for each in labelled(passages, panel.study.instrument) if each.name != ANSWER],
        "own": [each for each in case.criteria if each.id not in {one.id for one in written}],
        "written": written,
        "is_open": not _is_settled(panel),
        "problem": problem,
        "typed": typed or {},
    }
    return page(request, "rating/drafts.html", status=422 if problem else 200, **values)


def _decided(panel: Panel, place: int, person: str, form: Form) -> str:
    """Keep what was decided; what has to be put right, where that is so."""
    action, text = form.get("action", ""), clean_text(form.get("text", "")).strip()
    points = _points(form.get("points", ""))
    if action != "drop" and not 0 < len(text) <= _LONGEST:
        return _("Write the criterion in one sentence of at most %(most)s letters.", most=_LONGEST)
    if action != "drop" and points is None:
        return _("Give its points as a number that is not 0, negative where the answer must not do it.")
    with _writing:
        case, written, _total = _case(panel, place)
        if _is_settled(panel):
            return _("Raters mark by these criteria already, so nothing was changed.")
        file = _criteria_file(panel)
        assert file is not None
        identity, at = form.get("id", ""), panel.now().isoformat(timespec="seconds")
        by = {"person": person, "at": at}
        everything = read_written_criteria(file)
        if action == "own":
            known = {"case": case.id, "id": criterion_id(text, points or 1, "w"), "state": "written"}
            made = WrittenCriterion.model_validate({**known, "text": text, "points": points, **by})
            if made.id in {*(each.id for each in case.criteria), *(each.id for each in written)}:
                return _("This criterion is there already.")
            everything.append(made)
        elif any(each.id == identity for each in written) and action in ("accept", "drop"):
            everything = [
                _changed(each, action, text, points, by)
                if (each.case, each.id) == (case.id, identity)
                else each
                for each in everything
            ]
        else:
            raise HTTPException(404)
        write_written_criteria(file, everything)
    return ""


def _changed(
    draft: WrittenCriterion, action: str, text: str, points: float | None, by: dict[str, str]
) -> WrittenCriterion:
    if action == "drop":
        return draft.model_copy(update={"state": "dropped", **by})
    if draft.model == "":
        return draft.model_copy(update={"text": text, "points": points, "state": "written", **by})
    first = draft.proposed or f"{draft.points:g}: {draft.text}"
    state = "accepted" if first == f"{points:g}: {text}" else "edited"
    proposed = "" if state == "accepted" else first
    return draft.model_copy(
        update={"text": text, "points": points, "state": state, "proposed": proposed, **by}
    )


def _points(typed: str) -> float | None:
    try:
        points = float(typed.strip().replace(",", ".").replace("\N{MINUS SIGN}", "-"))
    except ValueError:
        return None
    return points if 0 < abs(points) <= _MOST_POINTS else None
