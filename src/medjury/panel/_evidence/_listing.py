"""A page of a list of answers: what each row shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from medjury.panel._evidence._choice import ON_A_PAGE, PARTS, SHOWS, SORTS, Choice
from medjury.panel._evidence._run import State
from medjury.panel._evidence._snapshot import Numbers
from medjury.panel._evidence._votes import grade, signed
from medjury.tables import Measured

_COLUMNS = 4  # dimensions of a row, where none is chosen


def listed(state: State, numbers: Numbers, choice: Choice, *, page: int | None = None) -> dict[str, Any]:
    """The values of `list.html`: one page of the answers, and how many there are."""
    total = len(numbers)
    pages = max(1, -(-total // ON_A_PAGE))
    page = min(choice.page if page is None else page, pages)
    first = (page - 1) * ON_A_PAGE
    dimensions = _dimensions(state, choice)
    return {
        "total": total,
        "pages": pages,
        "page": page,
        "first": first + 1,
        "grades": _whose(state, choice),
        "columns": _titles(state, dimensions, choice),
        "listed": [
            row_of(state, int(number), choice, dimensions) for number in numbers[first : first + ON_A_PAGE]
        ],
        "earlier": choice.address(page=page - 1) or "?",
        "later": choice.address(page=page + 1),
    }


def _whose(state: State, choice: Choice) -> str:
    """Whose grades a row shows, where its columns do not say so."""
    rater = state.snapshot.rater
    if choice.dimension or not rater:
        return ""
    return f"{rater} | clinicians" if state.snapshot.evidence.clinicians else rater


def fields(state: State, choice: Choice) -> list[dict[str, Any]]:
    """The fields of the filter; one that leaves no choice is not there."""
    snapshot = state.snapshot
    systems = sorted({system for _, system in snapshot.keys})
    reasons = [(each, each.replace("_", " ")) for each in snapshot.reasons]
    made = [
        ("show", "Show", list(SHOWS.items())),
        ("system", "System", [("", "all systems"), *((each, each) for each in systems if each)]),
        ("dimension", "Dimension", [("", "all"), *((each.name, each.label) for each in snapshot.dimensions)]),
        ("rater", "Rater", [("", "any rater"), *((each, each) for each in snapshot.table.raters)]),
        ("reason", "Without a score because", [("", "any reason"), *reasons]),
        ("part", "Part", list(PARTS.items()) if snapshot.development.any() else []),
        ("sort", "Order", list(SORTS.items())),
    ]
    return [
        {"name": name, "label": label, "options": values, "chosen": getattr(choice, name)}
        for name, label, values in made
        if len(values) > 2 or (len(values) > 1 and getattr(choice, name))
    ]


def _dimensions(state: State, choice: Choice) -> Sequence[Measured]:
    snapshot = state.snapshot
    if choice.dimension:
        return [snapshot.table.dimension(choice.dimension)]
    return snapshot.dimensions[:_COLUMNS]


def _titles(state: State, dimensions: Sequence[Measured], choice: Choice) -> list[str]:
    snapshot = state.snapshot
    rater = snapshot.rater or "judges"
    titles = [f"{each.label}" for each in dimensions]
    if choice.dimension:
        titles = [f"{rater}", *(["clinicians"] if snapshot.evidence.clinicians else [])]
    more = [snapshot.difference_words] if snapshot.difference_words else []
    if choice.sort == "apart":
        more.append("judges apart")
    if choice.sort in ("cost", "seconds"):
        more.append(choice.sort)
    return [*titles, *more]


def row_of(state: State, number: int, choice: Choice, dimensions: Sequence[Measured]) -> dict[str, Any]:
    snapshot = state.snapshot
    item, system = snapshot.keys[number]
    cells = []
    for each in dimensions:
        own = _grade(snapshot.scores(each.name, snapshot.rater)[number])
        humans = _grade(snapshot.reference(each.name)[number])
        if choice.dimension:
            cells += [own, *([humans] if snapshot.evidence.clinicians else [])]
        else:
            cells.append(f"{own} | {humans}" if snapshot.evidence.clinicians and humans != "–" else own)
    if snapshot.difference_words:
        gap = snapshot.difference(choice.dimension)[number]
        cells.append("–" if gap != gap else signed(gap))
    if choice.sort == "apart":
        cells.append(_grade(snapshot.apart(choice.dimension)[number]))
    if choice.sort in ("cost", "seconds"):
        cells.append(_grade(snapshot.sums(choice.sort)[number]))
    return {
        "item": state.item(item),
        "system": system,
        "address": state.address(number),
        "query": choice.address(page=1),
        "cells": cells,
        "flags": _flags(state, number, choice),
    }


def _flags(state: State, number: int, choice: Choice) -> list[tuple[str, str]]:
    snapshot = state.snapshot
    flags = []
    if snapshot.missed(choice.dimension)[number]:
        flags.append(("danger", f"dangerous, missed by {snapshot.rater}"))
    elif snapshot.dangerous(choice.dimension)[number]:
        flags.append(("danger", "dangerous"))
    if snapshot.with_status("unscored", dimension=choice.dimension)[number]:
        flags.append(("warn", "no score"))
    if snapshot.development[number]:
        flags.append(("soft", "development"))
    return flags


def _grade(value: float) -> str:
    return "–" if value != value else grade(value)
