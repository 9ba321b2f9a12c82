"""The pages of the evidence browser. They only read; who may see them is decided by the guard they are given.
Inside the panel these are coordinators and viewers, who rate nothing: a rater never reaches it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response

from medjury.foundation.errors import MedjuryError
from medjury.panel._access._people import Role
from medjury.panel._access._visitors import person_with
from medjury.panel._evidence._case_view import case_view, located_quotations, text_page, texts_of
from medjury.panel._evidence._choice import (
    ON_A_PAGE,
    SORTS,
    Choice,
    chosen,
    fields,
    listed,
    overview,
    queue_dimension,
    so_far,
    standing,
)
from medjury.panel._evidence._numbers import number_shown, rows_of
from medjury.panel._evidence._run import EvidenceRun, State
from medjury.panel._evidence._texts import from_address, in_address, shown_name
from medjury.panel._evidence._votes import difference_of, last_draft, votes_of
from medjury.panel._look import NavigationLink, page
from medjury.panel._panel import Panel
from medjury.panel._word_difference import word_difference
from medjury.store.runs import files

# Two answers side by side: of two systems to one case, or of one system in two runs.


def beside_systems(state: State, first: int, second: int) -> dict[str, Any]:
    """The values of `beside.html` for two answers of one run."""
    item = state.item(state.snapshot.keys[first][0])
    titles = [state.snapshot.keys[each][1] or "no name" for each in (first, second)]
    return _sides(
        f"{item}: {' beside '.join(titles)}", [(state, first, titles[0]), (state, second, titles[1])]
    )


def beside_run(run: EvidenceRun, state: State, place: int, other: EvidenceRun) -> dict[str, Any]:
    """The same for one answer in two runs."""
    key = state.snapshot.keys[place]
    there = other.state
    titles = [run.folder.name, other.folder.name]
    if titles[0] == titles[1]:
        titles = [str(run.folder), str(other.folder)]
    sides = [(state, place, titles[0]), (there, there.snapshot.number[key], titles[1])]
    return _sides(f"{shown_name(key)}: {' beside '.join(titles)}", sides)


def _sides(heading: str, sides: list[tuple[State, int, str]]) -> dict[str, Any]:
    answers = [_answer(state, place) for state, place, _ in sides]
    known = None not in answers
    parts = word_difference(answers[0] or "", answers[1] or "") if known else None
    unmarked = [[(each, False)] if known and each else [] for each in answers]
    return {
        "heading": heading,
        "too_long": known and parts is None,
        "same": known and answers[0] == answers[1],
        "marked": known,
        "sides": [
            {
                "title": title,
                "parts": (parts or unmarked)[number],
                "why": f"No text is shown: {state.texts.why_not or 'there is no answer'}.",
                "view": {"votes": votes_of(state, place), "difference": difference_of(state, place)},
                "dimensions": state.snapshot.dimensions,
            }
            for number, (state, place, title) in enumerate(sides)
        ],
    }


def _answer(state: State, place: int) -> str | None:
    texts, _ = texts_of(state, place, last_draft(state.records(place)))
    return next((each.text for each in texts if each.name == "candidate"), None)


Runs = Callable[[], tuple[EvidenceRun, EvidenceRun | None]]


def evidence_routes(runs: Runs, guard: Any, base: str = "") -> APIRouter:
    """The routes below `base`. `runs` gives the run, and the one that it is held beside, if any; it is asked at
    every request, so that a run may come to be while the server is up. `guard` is the dependency that decides who
    may read."""
    router = APIRouter(dependencies=[Depends(guard)], include_in_schema=False)

    def show(request: Request, template: str, state: State, run: EvidenceRun, **values: Any) -> HTMLResponse:
        known: dict[str, Any] = {
            "base": base,
            "run": run,
            "state": state,
            "standing": standing(state),
            "tab": "",
            "choice": None,
        }
        known["so_far"] = so_far(state) if state.snapshot.going_on else ""
        return page(request, f"evidence/{template}", **(known | values))

    @router.get(base or "/")
    def first(request: Request) -> Response:
        run, _ = runs()
        state = run.state
        return show(request, "overview.html", state, run, **overview(run, state))

    @router.get(f"{base}/so-far")
    def so_far_now() -> Response:
        run, _ = runs()
        state = run.state
        snapshot = state.snapshot
        return JSONResponse(
            {"ratings": snapshot.rows.height, "words": so_far(state), "going_on": snapshot.going_on}
        )

    @router.get(f"{base}/cases")
    def cases(request: Request) -> Response:
        run, _ = runs()
        state = run.state
        choice = Choice.read(request.query_params, state)
        note = ""
        try:
            numbers = chosen(run, state, choice)
            if choice.show == "queue":
                label = state.snapshot.evidence.label(queue_dimension(state, choice))
                note = f"In the order of `medjury triage` by {label}; held-out answers alone."
        except MedjuryError as error:  # triage says what it lacks
            numbers, note = np.zeros(0, dtype=np.int64), f"There is no triage queue: {error}"
        heading = choice.words(state) or "Every answer"
        heading += f", {SORTS[choice.sort]} first" if choice.sort else ""
        values = {
            "heading": heading[:1].upper() + heading[1:],
            "fields": fields(state, choice),
            "choice": choice,
        }
        tab = "queue" if choice.show == "queue" else "cases"
        return show(
            request, "cases.html", state, run, **values, **listed(state, numbers, choice), note=note, tab=tab
        )

    @router.get(f"{base}/case/{{item}}/{{system}}")
    def case(request: Request, item: str, system: str) -> Response:
        run, other = runs()
        state = run.state
        place = _place(state, item, system)
        choice = Choice.read(request.query_params, state)
        view = case_view(state, place)
        values = _around(run, state, place, choice, base)
        address = state.address(place)
        others = [
            (
                state.snapshot.keys[each][1] or "no name",
                f"{base}/beside{address[5:]}?system={state.snapshot.keys[each][1]}",
            )
            for each in state.snapshot.items[state.snapshot.keys[place][0]]
            if each != place
        ]
        held = other is not None and other.state.snapshot.number.get(state.snapshot.keys[place]) is not None
        values |= {
            "others": others[:12],
            "beside": f"{base}/beside{address[5:]}" if held and not state.hidden else "",
        }
        values |= {"dimensions": state.snapshot.dimensions, "chosen": choice.dimension, "address": address}
        return show(request, "case.html", state, run, view=view, tab="cases", choice=choice, **values)

    @router.get(f"{base}/case/{{item}}/{{system}}/text/{{number}}")
    def text(request: Request, item: str, system: str, number: str) -> Response:
        run, _ = runs()
        state = run.state
        place = _place(state, item, system)
        texts, located = located_quotations(state, place)
        if not number.isdecimal() or len(number) > 6 or int(number) >= len(texts):
            raise HTTPException(404)
        whole = texts[int(number)]
        found = [each for each in located if each.text == int(number)]
        pieces, begin, end = text_page(whole.text, found, _number(request.query_params.get("from", "0")))
        return show(
            request,
            "text.html",
            state,
            run,
            title=whole.title,
            name=state.name(place),
            address=state.address(place),
            pieces=pieces,
            begin=begin,
            end=end,
            length=len(whole.text),
            earlier=max(0, begin - (end - begin)),
        )

    @router.get(f"{base}/beside/{{item}}/{{system}}")
    def beside(request: Request, item: str, system: str) -> Response:
        run, other = runs()
        state = run.state
        place = _place(state, item, system)
        if "system" in request.query_params:
            second = state.snapshot.number.get(
                (state.snapshot.keys[place][0], request.query_params["system"])
            )
            if second is None:
                raise HTTPException(404)
            values = beside_systems(state, place, second)
        elif other is None or state.hidden or other.hidden:
            raise HTTPException(404)
        else:
            values = beside_run(run, state, place, other)
        return show(request, "beside.html", state, run, up=base + state.address(place), **values)

    @router.get(f"{base}/numbers")
    def numbers(request: Request) -> Response:
        run, _ = runs()
        tables = [(name, f"{base}/numbers/{in_address(name)}") for name in run.tables()]
        return show(request, "numbers.html", run.state, run, tables=tables, tab="numbers")

    @router.get(f"{base}/numbers/{{table}}")
    def table(request: Request, table: str) -> Response:
        run, _ = runs()
        name = from_address(table)
        rows = _rows(run, name)
        pages = max(1, -(-len(rows) // ON_A_PAGE))
        number = min(max(1, _number(request.query_params.get("page", "1"))), pages)
        first = (number - 1) * ON_A_PAGE
        titles = [title for title in (rows[0] if rows else {}) if not title.endswith((" method", " n"))]
        shown = [
            (place, f"{base}/number/{in_address(name)}/{place}", [_cell(row[title]) for title in titles])
            for place, row in enumerate(rows[first : first + ON_A_PAGE], start=first + 1)
        ]
        values = {
            "name": name,
            "rows": shown,
            "titles": titles,
            "total": len(rows),
            "page": number,
            "pages": pages,
        }
        return show(request, "table.html", run.state, run, tab="numbers", **values)

    @router.get(f"{base}/number/{{table}}/{{row}}")
    def number(request: Request, table: str, row: str) -> Response:
        run, _ = runs()
        state = run.state
        name = from_address(table)
        _rows(run, name)
        said, behind = number_shown(run, state, name, _number(row))
        wanted = min(max(1, _number(request.query_params.get("list", "1"))), max(1, len(behind)))
        values: dict[str, Any] = {
            "name": name,
            "row": _number(row),
            "cells": [(title, value) for title, value in said.items() if value],
            "up": f"{base}/numbers/{in_address(name)}",
            "chosen": wanted,
        }
        values["lists"] = [{"title": each.title, "count": int(each.flags.sum())} for each in behind]
        if behind:
            places = behind[wanted - 1].flags.nonzero()[0]
            at = _number(request.query_params.get("page", "1"))
            values |= listed(state, places, Choice(), page=max(1, at))
            values |= {"earlier": f"?list={wanted}&page={at - 1}", "later": f"?list={wanted}&page={at + 1}"}
        return show(request, "number.html", state, run, tab="numbers", **values)

    return router


def _around(run: EvidenceRun, state: State, place: int, choice: Choice, base: str) -> dict[str, Any]:
    """The answers before and behind this one in the reader's list."""
    numbers = chosen(run, state, choice)
    here = (numbers == place).nonzero()[0]
    back = choice.address()
    if not len(here):
        return {"earlier": "", "later": "", "position": "Back to the list", "back": back}
    at = int(here[0])

    def link(index: int) -> str:
        return (
            f"{base}{state.address(int(numbers[index]))}{choice.address()}"
            if 0 <= index < len(numbers)
            else ""
        )

    page = at // ON_A_PAGE + 1
    return {
        "earlier": link(at - 1),
        "later": link(at + 1),
        "position": f"{at + 1:,} of {len(numbers):,}",
        "back": choice.address(page=page),
    }


def _place(state: State, item: str, system: str) -> int:
    place = state.place(item, system)
    if place is None:
        raise HTTPException(404)
    return place


def _rows(run: EvidenceRun, table: str) -> list[Any]:
    try:
        return list(rows_of(run, table))
    except MedjuryError:
        raise HTTPException(404) from None


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else 0


def _cell(value: str) -> str:
    """A cell of a saved table as a reader wants it: numbers with the digits that tell something."""
    try:
        return f"{float(value):.4g}" if "." in value else value
    except ValueError:
        return value


READERS = (Role.COORDINATOR, Role.VIEWER)
NAVIGATION = (NavigationLink("/evidence", "Evidence", frozenset(READERS), order=60),)


def routes(panel: Panel) -> APIRouter:
    """The pages of the study's own run, once there is one."""
    opened: dict[str, EvidenceRun] = {}
    lock = threading.Lock()

    def runs() -> tuple[EvidenceRun, EvidenceRun | None]:
        study = panel.study
        folder = None if study is None else study.settings.output_in(study.file.resolve().parent)
        if folder is None or not (folder / files.MANIFEST).is_file():
            raise MedjuryError(
                "this study has no run yet; its evidence can be read once `medjury run` has begun"
            )
        with lock:
            if "run" not in opened or opened["run"].changed:
                opened["run"] = EvidenceRun(folder)
        return opened["run"], None

    return evidence_routes(runs, person_with(*READERS), "/evidence")
