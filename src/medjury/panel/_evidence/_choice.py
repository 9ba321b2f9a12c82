"""Which answers a reader wants to see, and in which order: read from an address, and written into one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import urlencode

import numpy as np

from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.panel._evidence._run import EvidenceRun, State
from medjury.panel._evidence._snapshot import Flags, Floats, Numbers

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
            **{**given, "q": given["q"][:200]}, page=int(page) if page.isdigit() and 0 < len(page) < 7 else 1
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
