"""What a look found: for a reader, for a program, and as a page in the watch's folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path

from medjury.files import write_whole
from medjury.records import dataclass
from medjury.watching._quantities import Quantity, Watching
from medjury.watching._settings import WatchStudy
from medjury.watching._state import Alarm, State

PAGE = "status.html"
_STATUSES = {"complete": 0, "failed": 1, "incomplete": 3, "void": 6}
ALARM_STATUS = 7
_SHARES = ("coverage", "case_mix")  # of cases; all else is in grades


@dataclass(frozen=True, slots=True)
class QuantityFound:
    """Where a quantity stands, in grades or shares: its mean, and an interval that holds whenever one looks."""

    name: str
    state: str
    limit: float
    mean: float | None
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True)
class Watched:
    """The state of a watch after a look."""

    study: str
    folder: Path
    status: str
    why: str
    alpha: float
    counts: Mapping[str, int]
    quantities: Sequence[QuantityFound]
    alarms: Sequence[Alarm]

    @classmethod
    def of(
        cls,
        study: WatchStudy,
        state: State,
        quantities: Sequence[Quantity],
        scale: Watching,
        status: str,
        why: str,
    ) -> Watched:
        found = [_found(each, study, scale) for each in quantities]
        return cls(
            study.name, study.folder, status, why, study.settings.alpha, state.counts(), found, state.alarms()
        )

    @property
    def exit_status(self) -> int:
        """7 while a quantity is in alarm; else 0, 1 failed, 3 incomplete, 6 refused."""
        own = _STATUSES[self.status]
        alarmed = any(each.state == "alarm" for each in self.quantities)
        return own if own not in (0, 1) else ALARM_STATUS if alarmed else own

    def text(self) -> str:
        counts = self.counts
        lines = [f"{self.status.upper()}: {self.why}" if self.why else self.status.upper()]
        lines += [
            f"{each.state.upper()}: {each.name}, limit {_in_units(each, each.limit)}: {_shown(each)}"
            for each in self.quantities
        ]
        lines += [
            f"(a false alarm in the whole stream, of any limit: at most {100 * self.alpha:g} %)",
            f"{counts['cases']:,} cases, {counts['scored']:,} scored, {counts['outside']:,} outside what was "
            f"validated; {counts['drawn']:,} drawn for clinicians, {counts['rated']:,} rated",
            *(
                f"{each.at}  {each.event}: {each.quantity} (at case {each.found['case']:,})"
                for each in self.alarms
            ),
            f"Status page: {self.folder / PAGE}",
        ]
        return "\n".join(lines)

    def to_json(self) -> str:
        said = {
            "study": self.study,
            "status": self.status,
            "why": self.why,
            "exit_status": self.exit_status,
            "alpha": self.alpha,
            **self.counts,
            "quantities": [asdict(each) for each in self.quantities],
            "alarms": [asdict(each) for each in self.alarms],
        }
        return json.dumps(said, indent=1)


def write_status(study: WatchStudy, found: Watched) -> None:
    """A page that needs nothing else: `status.html`."""
    rows = "".join(
        f"<tr class='{each.state}'><th>{escape(each.name)}<td>{each.state}<td>{escape(_in_units(each, each.limit))}"
        f"<td>{escape(_shown(each))}"
        for each in found.quantities
    )
    alarms = "".join(
        f"<li>{escape(each.at)}: {escape(each.event)}, {escape(each.quantity)}" for each in found.alarms
    )
    head = (
        "body{font:16px sans-serif;margin:2em}td,th{padding:.3em 1em;text-align:left}.alarm{background:#fdd}"
    )
    write_whole(
        study.folder / PAGE,
        f"<!doctype html><meta charset='utf-8'><title>{escape(study.name)}</title><style>{head}</style>"
        f"<h1>{escape(study.name)}</h1><pre>{escape(found.text())}</pre>"
        f"<table><tr><th>watched<th>state<th>limit<th>mean{rows}</table><ul>{alarms}</ul>",
    )


def _found(quantity: Quantity, study: WatchStudy, scale: Watching) -> QuantityFound:
    name, mean = quantity.name, quantity.sequence.mean
    low, high = sorted(scale.told(name, end) for end in quantity.sequence.interval)
    return QuantityFound(
        name=name,
        state="alarm" if quantity.alarmed else "quiet",
        limit=study.settings.limits.stated[name],
        mean=None if mean is None else scale.told(name, mean),
        low=low,
        high=high,
        n=quantity.sequence.n,
    )


def _shown(each: QuantityFound) -> str:
    if each.mean is None:
        return "nothing yet"
    if each.name in _SHARES:
        ends = f"{100 * each.low:.3g} to {100 * each.high:.3g}"
    else:
        ends = f"{each.low:.3g} to {each.high:.3g}"
    return f"mean {_in_units(each, each.mean)} ({ends}) of {each.n:,} cases"


def _in_units(each: QuantityFound, value: float) -> str:
    return f"{100 * value:.3g} %" if each.name in _SHARES else f"{value:.3g} grades"
