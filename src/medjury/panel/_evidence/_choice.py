"""Which answers a reader wants to see, in which order, and what each row of the list shows. A choice is read from
an address, and written into one. The first page: what the run holds, and the ways into it that are worth a
reader's first ten minutes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import urlencode

import numpy as np

from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.panel._evidence._run import EvidenceRun, State
from medjury.panel._evidence._snapshot import Flags, Floats, Numbers
from medjury.panel._evidence._votes import grade, signed
from medjury.statistics import counted
from medjury.tables import JURY, Measured

ON_A_PAGE = 50
SHOWS = {
    "": "every answer",
    "dangerous": "dangerous to clinicians",
    "missed": "dangerous, and missed",
    "lost": "dangerous, without a score",
    "unscored": "without a score",
    "not_applicable": "not applicable",
    "queue": "triage queue",
}
SORTS = {
    "": "case",
    "difference": "largest difference",
    "apart": "judges furthest apart",
    "lowest": "lowest score",
    "cost": "highest cost",
    "seconds": "longest time",
}
PARTS = {"": "all cases", "held_out": "held out", "development": "development"}


@dataclass(frozen=True)
class Choice:
    """What was asked for. The fields are the names in the address; empty is what nobody asked for."""

    system: str = ""
    dimension: str = ""
    rater: str = ""
    show: str = ""
    reason: str = ""
    part: str = ""
    q: str = ""
    sort: str = ""
    page: int = 1

    @classmethod
    def read(cls, query: Mapping[str, str], state: State) -> Choice:
        """From an address. What the run does not have is refused, with what it has."""
        snapshot = state.snapshot
        given = {name: query.get(name, "").strip() for name in asdict(cls()) if name != "page"}
        known: dict[str, Any] = {
            "system": sorted({system for _, system in snapshot.keys}),
            "dimension": [each.name for each in snapshot.dimensions],
            "rater": [*snapshot.table.raters, *([snapshot.rater] if snapshot.rater else [])],
            "show": list(SHOWS),
            "part": list(PARTS),
            "sort": list(SORTS),
        }
        for name, names in known.items():
            if given[name] and given[name] not in names:
                raise MedjuryError(f"there is no {name} {given[name][:80]!r}; {nearest(given[name], names)}")
        page = query.get("page", "1")
        return cls(
            **{**given, "q": given["q"][:200]},
            page=int(page) if page.isdecimal() and 0 < len(page) < 7 else 1,
        )

    def address(self, **changes: Any) -> str:
        """The part of an address behind the question mark; another choice begins on its first page."""
        made = replace(self, **{"page": 1, **changes})
        values = {
            name: value for name, value in asdict(made).items() if value and (name, value) != ("page", 1)
        }
        return f"?{urlencode(values, errors='replace')}" if values else ""

    @property
    def narrowed(self) -> bool:
        """Whether anything was asked for but an order."""
        return any((self.system, self.dimension, self.rater, self.show, self.reason, self.part, self.q))

    def words(self, state: State) -> str:
        """The choice in words, for the head of a page."""
        label = {each.name: each.label for each in state.snapshot.dimensions}
        show = SHOWS[self.show] if self.show else ""
        if self.show == "missed":
            show = f"dangerous, and missed by {self.rater or state.snapshot.rater}"
        if self.show == "lost" or (self.show == "dangerous" and self.rater):
            how = "without a score of" if self.show == "lost" else "scored by"
            show = f"dangerous to clinicians, {how} {self.rater or state.snapshot.rater}"
        reason = f"because of {self.reason.replace('_', ' ')}" if self.reason else ""
        parts = (
            show,
            reason,
            label.get(self.dimension, ""),
            self.system,
            PARTS[self.part] if self.part else "",
        )
        searched = f"“{self.q}”" if self.q else ""
        return " · ".join(filter(None, (*parts, searched)))


def chosen(run: EvidenceRun, state: State, choice: Choice) -> Numbers:
    """The numbers of the answers, in their order."""
    snapshot, count = state.snapshot, len(state.snapshot.keys)
    kept = np.ones(count, dtype=bool)
    if choice.system:
        kept &= np.array([system == choice.system for _, system in snapshot.keys], dtype=bool)
    if choice.part:
        kept &= snapshot.development == (choice.part == "development")
    if choice.show or choice.reason:
        kept &= _shown(state, choice)
    if choice.q:
        kept &= run.holding(state, choice.q)
    if choice.show == "queue":
        order = snapshot.queue(queue_dimension(state, choice))
        return np.asarray(order[kept[order]])
    order = np.arange(count) if not choice.sort else _order(state, choice)
    return np.asarray(order[kept[order]])


def queue_dimension(state: State, choice: Choice) -> str:
    """By which dimension the queue is ordered; refused where nothing orders it."""
    queues = state.snapshot.queues
    if not queues:
        raise MedjuryError("there is no triage queue: it needs judges, and a dimension with a scale")
    if choice.dimension and choice.dimension not in queues:
        raise MedjuryError(f"{choice.dimension} has no triage queue; {nearest(choice.dimension, queues)}")
    return choice.dimension or queues[0]


def _shown(state: State, choice: Choice) -> Flags:
    snapshot, named = state.snapshot, {"dimension": choice.dimension, "rater": choice.rater}
    if choice.show == "dangerous" and not choice.rater:
        return snapshot.dangerous(choice.dimension)
    if choice.show in ("dangerous", "lost"):
        return snapshot.dangerous_scored(**named, scored=choice.show == "dangerous")
    if choice.show == "missed":
        return snapshot.missed(**named)
    if choice.show == "not_applicable":
        return snapshot.with_status("not_applicable", **named)
    if choice.show == "unscored" or choice.reason:
        return snapshot.with_status("unscored", **named, reason=choice.reason)
    return np.ones(len(snapshot.keys), dtype=bool)


def _order(state: State, choice: Choice) -> Numbers:
    """The largest first; what is not known comes last."""
    snapshot = state.snapshot
    column: Floats
    if choice.sort == "difference":
        column = np.abs(snapshot.difference(choice.dimension))
    elif choice.sort == "apart":
        column = snapshot.apart(choice.dimension)
    elif choice.sort == "lowest":
        column = -_lowest(state, choice.dimension)
    else:
        column = snapshot.sums(choice.sort)
    return np.argsort(-np.nan_to_num(column, nan=-np.inf), kind="stable")


def _lowest(state: State, dimension: str) -> Floats:
    """The score of the rater on trial with low as the dangerous end; without a dimension the lowest share of its
    scale."""
    snapshot = state.snapshot
    named = [each for each in snapshot.dimensions if dimension in ("", each.name) and each.grades is not None]
    found = [np.full(len(snapshot.keys), np.nan)]
    for each in named:
        assert each.grades is not None
        scores = each.oriented(snapshot.scores(each.name, snapshot.rater))
        found.append((scores - each.grades.lowest) / (each.grades.highest - each.grades.lowest))
    return np.asarray(np.fmin.reduce(found))


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


def overview(run: EvidenceRun, state: State) -> dict[str, Any]:
    """The values of `overview.html`."""
    snapshot = state.snapshot
    choice = Choice()
    systems = Counter(system for _, system in snapshot.keys)
    return {
        "facts": _facts(state),
        "ways": [each for each in _ways(state) if each["count"] or each["title"] == "Every answer"],
        "severe": _severe(state),
        "whose_danger": snapshot.table.whose_danger(snapshot.evidence.clinicians),
        "reasons": [
            (reason, count, choice.address(show="unscored", reason=reason))
            for reason, count in snapshot.reasons.items()
        ],
        "systems": [(name, count, choice.address(system=name)) for name, count in sorted(systems.items())],
        "memory": _memory(state),
    }


def the(rater: str) -> str:
    """`the jury`, or a rater by name."""
    return "the jury" if rater == JURY else rater


def standing(state: State) -> str:
    """The run in a few words, for the head of every page."""
    manifest = state.snapshot.manifest
    when = manifest.finished_at[:16].replace("T", " ")
    return f"{manifest.status}{f', {when} UTC' if when else ''}"


def so_far(state: State) -> str:
    """How far a run that goes on has come."""
    snapshot = state.snapshot
    return f"{snapshot.judged:,} of {snapshot.manifest.cases:,} answers judged so far"


def _facts(state: State) -> str:
    snapshot = state.snapshot
    table = snapshot.table
    parts = [
        f"{counted(len(snapshot.keys), 'answer')} to {counted(len(snapshot.items), 'case')}",
        counted(len(table.judges), "judge"),
        counted(len(snapshot.evidence.clinicians), "clinician"),
        f"instrument {snapshot.manifest.instrument.name or 'not known'}",
        counted(snapshot.rows.height, "rating"),
    ]
    if served := int(snapshot.development.sum()):
        parts.append(f"{counted(served, 'answer')} served development and count in no number")
    return " · ".join(parts)


def _ways(state: State) -> list[dict[str, Any]]:
    snapshot = state.snapshot
    choice = Choice()
    differs = snapshot.difference()
    queue = next(iter(snapshot.queues), "")
    label = {each.name: each.label for each in snapshot.dimensions}
    ways: list[tuple[str, str, int, str]] = [
        (
            "Dangerous, and missed",
            f"clinicians saw danger and {the(snapshot.rater)} did not",
            int(snapshot.missed().sum()),
            choice.address(show="missed"),
        ),
        (
            "Largest differences",
            f"{snapshot.difference_words}, the largest first",
            int((np.nan_to_num(np.abs(differs)) > 0).sum()),
            choice.address(sort="difference"),
        ),
        (
            "Triage queue",
            f"what a clinician should read first, by {label.get(queue, '')}",
            int((~snapshot.development).sum()) if queue else 0,
            choice.address(show="queue", dimension=queue),
        ),
        (
            "Without a score",
            "a failure is missing data, never a number",
            int(snapshot.with_status("unscored").sum()),
            choice.address(show="unscored"),
        ),
        (
            "Judges furthest apart",
            "where the jury agrees least",
            int((np.nan_to_num(snapshot.apart()) > 0).sum()),
            choice.address(sort="apart"),
        ),
        ("Every answer", "in the order of their names", len(snapshot.keys), choice.address()),
    ]
    return [
        {"title": title, "words": words, "count": f"{count:,}" if count else "", "address": address}
        for title, words, count, address in ways
    ]


def _severe(state: State) -> list[dict[str, Any]]:
    """The report's table of severe errors, each count with its list."""
    snapshot = state.snapshot
    choice = Choice()
    return [
        {
            "label": dimension.label,
            "rater": rater,
            "found": found,
            "missed": choice.address(show="missed", dimension=dimension.name, rater=rater),
            "danger": choice.address(show="dangerous", dimension=dimension.name, rater=rater),
            "lost": choice.address(show="lost", dimension=dimension.name, rater=rater),
        }
        for dimension in snapshot.table.counted
        for rater in snapshot.evidence.raters
        if (found := snapshot.severe(dimension.name, rater)) is not None
    ]


def _memory(state: State) -> str:
    if not len(state.texts):
        return ""
    size = state.texts.size / 1e6
    return (
        f"The texts of {len(state.texts):,} answers are held in memory ({size:,.1f} MB, compressed), "
        "and written to no file."
    )
